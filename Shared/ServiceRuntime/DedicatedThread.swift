import CPlatform
import Dispatch
import Glibc

/// A named operating-system thread of ours, for C calls that block.
///
/// Blocking calls never run on Swift's cooperative pool: with two cores, two blocked calls stop the
/// process. The thread starts at once and ends when its body returns.
public final class DedicatedThread: Sendable {
  /// The name that `top -H`, gdb and `docs/architecture.md` show; at most 15 bytes are kept.
  public let name: String
  private let finished = Completion<Void>()

  /// Starts a thread with a name.
  ///
  /// - Parameters:
  ///   - name: At most 15 bytes, as the kernel keeps no more.
  ///   - body: The whole life of the thread.
  public init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    let box = ThreadBody(name: name, body: body, finished: finished)
    var thread = pthread_t()
    let opaque = unsafe Unmanaged.passRetained(box).toOpaque()
    let result = unsafe pthread_create(
      &thread, nil,
      { opaque in
        guard let opaque = unsafe opaque else { return nil }
        let box = unsafe Unmanaged<ThreadBody>.fromOpaque(opaque).takeRetainedValue()
        unsafe purser_set_thread_name(box.name)
        box.body()
        box.finished.complete(with: ())
        return nil
      }, opaque)
    // pthread_create fails only when the process is out of threads or memory: nothing can go on.
    precondition(result == 0, "no thread \(name): \(unsafe String(cString: strerror(result)))")
    pthread_detach(thread)
  }

  /// Runs a body on a thread of its own and returns, or throws, when the body does.
  public static func run(named name: String, _ body: @escaping @Sendable () throws -> Void)
    async throws
  {
    let failure = Completion<(any Error)?>()
    let thread = DedicatedThread(name: name) {
      do {
        try body()
        failure.complete(with: nil)
      } catch {
        failure.complete(with: error)
      }
    }
    await thread.joined()
    if let error = await failure.value() { throw error }
  }

  /// Waits until the thread's body has returned.
  public func joined() async {
    await finished.value()
  }

  /// Blocks the calling thread until the body has returned.
  ///
  /// Only for threads of ours.
  public func join() {
    finished.wait()
  }

  /// Blocks until the body has returned or the deadline has passed; true when it has returned.
  public func join(by deadline: Deadline) -> Bool {
    finished.wait(by: deadline) != nil
  }
}

private final class ThreadBody: Sendable {
  let name: String
  let body: @Sendable () -> Void
  let finished: Completion<Void>

  init(name: String, body: @escaping @Sendable () -> Void, finished: Completion<Void>) {
    self.name = name
    self.body = body
    self.finished = finished
  }
}
