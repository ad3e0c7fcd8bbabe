import Dispatch
import Synchronization

/// A value that is set once and that tasks may await and threads of ours may wait for.
///
/// The first `complete(with:)` wins; later ones are ignored and return false.
public final class Completion<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var tasks: [CheckedContinuation<Value, Never>] = []
    var threads: [DispatchSemaphore] = []
    var actions: [@Sendable (Value) -> Void] = []
  }

  private let state = Mutex(State())

  /// Makes a completion that has no value yet.
  public init() {}

  /// Sets the value and wakes everyone who waits; false when a value was there already.
  @discardableResult
  public func complete(with value: Value) -> Bool {
    let waiting: State? = state.withLock { state in
      guard state.value == nil else { return nil }
      state.value = value
      defer {
        state.tasks = []
        state.threads = []
        state.actions = []
      }
      return state
    }
    guard let waiting else { return false }
    for task in waiting.tasks { task.resume(returning: value) }
    for thread in waiting.threads { thread.signal() }
    for action in waiting.actions { action(value) }
    return true
  }

  /// Hands the value to an action as soon as it is there: now, or on the thread that completes it.
  ///
  /// Keep it short: whoever completes waits for it.
  public func whenDone(_ action: @escaping @Sendable (Value) -> Void) {
    let ready: Value? = state.withLock { state in
      if state.value == nil { state.actions.append(action) }
      return state.value
    }
    if let ready { action(ready) }
  }

  /// The value, if it is there.
  public var current: Value? { state.withLock { $0.value } }

  /// Suspends the task until the value is there.
  public func value() async -> Value {
    await withCheckedContinuation { continuation in
      let ready: Value? = state.withLock { state in
        if let value = state.value { return value }
        state.tasks.append(continuation)
        return nil
      }
      if let ready { continuation.resume(returning: ready) }
    }
  }

  /// Blocks the calling thread until the value is there.
  ///
  /// Only for threads of ours.
  @discardableResult
  public func wait() -> Value {
    while true {
      if let value = wait(by: .after(.seconds(3600))) { return value }
    }
  }

  /// Blocks the calling thread until the value is there or the deadline has passed (nil).
  public func wait(by deadline: Deadline) -> Value? {
    let semaphore = DispatchSemaphore(value: 0)
    let ready: Value? = state.withLock { state in
      if let value = state.value { return value }
      state.threads.append(semaphore)
      return nil
    }
    if let ready { return ready }
    _ = semaphore.wait(timeout: deadline.dispatchTime)
    return state.withLock { state in
      state.threads.removeAll { $0 === semaphore }
      return state.value
    }
  }
}
