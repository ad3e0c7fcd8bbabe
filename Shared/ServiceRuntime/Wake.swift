import Dispatch
import Synchronization

/// Wakes one thread of ours; signals that come while it is awake are folded into one.
public final class Wake: Sendable {
  private let isSignaled = Atomic<Bool>(false)
  private let semaphore = DispatchSemaphore(value: 0)

  /// Makes a wake-up that nobody has asked for.
  public init() {}

  /// Wakes the waiting thread, or lets its next wait return at once.
  public func signal() {
    if !isSignaled.exchange(true, ordering: .acquiringAndReleasing) { semaphore.signal() }
  }

  /// Blocks the calling thread until signaled, at most for the given time.
  ///
  /// Only for threads of ours, and only one of them.
  public func wait(atMost duration: Duration) {
    let timeout = DispatchTime.now() + .nanoseconds(Int(duration.wholeNanoseconds))
    if semaphore.wait(timeout: timeout) == .success {
      _ = isSignaled.exchange(false, ordering: .acquiringAndReleasing)
    }
  }
}
