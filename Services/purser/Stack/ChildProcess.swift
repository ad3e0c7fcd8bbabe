import Glibc
import ServiceRuntime
import Synchronization

/// A process that we started: its place, its log file, its end.
///
/// It ends with us, however we end: `setpriv` asks the kernel for SIGTERM at the death of the parent.
/// To the kernel the parent is the thread that started it, so a thread of its own starts it and
/// lives as long as it does. (A child may hear that SIGTERM more than once, as other threads of ours
/// become its parent and die too.) It has a process group of its own, so that Ctrl-C reaches only us and
/// the order of stopping is ours.
final class ChildProcess: Sendable {
  /// How a process ended.
  enum Ending: Sendable, Equatable, CustomStringConvertible {
    case exit(Int32)
    case signal(Int32)

    var description: String {
      switch self {
      case .exit(let code): "exit code \(code)"
      case .signal(let number): "signal \(number) (\(unsafe String(cString: strsignal(number))))"
      }
    }
  }

  /// What is to be started.
  struct Program: Sendable {
    /// The name for people, such as `order-service`.
    var name: String
    /// The file to execute.
    var executable: String
    /// Words behind the program's name.
    var arguments: [String] = []
    /// The whole environment.
    var environment: [String: String] = [:]
    /// Where both of its outputs go, appended.
    var logFile: String
  }

  let program: Program
  /// Completes when the process has ended.
  var ending: Completion<Ending> { life.ending }
  private let life = Life()

  /// What the thread of the process and those who ask about it share.
  private final class Life: Sendable {
    /// The process id while it is ours: after the reaping it may be a stranger's.
    let id = Mutex<pid_t?>(nil)
    let ending = Completion<Ending>()
  }

  /// Starts a process.
  ///
  /// - Throws: `ChildProcessError` when the kernel refuses.
  init(_ program: Program) throws(ChildProcessError) {
    guard unsafe access(program.executable, X_OK) == 0 else {
      throw ChildProcessError(
        program: program.name,
        reason: "\(program.executable): \(lastError()); 'make build' makes it")
    }
    self.program = program
    let started = Completion<Result<pid_t, ChildProcessError>>()
    let life = life
    _ = DedicatedThread(name: "child-\(program.name.prefix(9))") {
      let result = Spawn.start(program)
      if case .success(let id) = result { life.id.withLock { $0 = id } }
      started.complete(with: result)
      guard case .success(let id) = result else { return }
      Spawn.awaitEnd(of: id)
      // The id is given back under the lock, so that no signal can go to a stranger.
      let ending = life.id.withLock { present in
        present = nil
        return Spawn.reap(id)
      }
      life.ending.complete(with: ending)
    }
    _ = try started.wait().get()
  }

  /// The process id; nil after its end.
  var processID: pid_t? { life.id.withLock { $0 } }

  /// Sends a signal, unless the process has ended.
  func send(_ signal: Int32) {
    life.id.withLock { id in
      if let id { kill(id, signal) }
    }
  }

  /// Asks it to stop with SIGTERM; kills it when the deadline has passed.
  ///
  /// - Returns: How it ended.
  func stop(by deadline: Deadline) -> Ending {
    send(SIGTERM)
    if let ending = ending.wait(by: deadline) { return ending }
    send(SIGKILL)
    return ending.wait()
  }

  /// The last lines of its log, for a person who asks why.
  func lastLogLines(_ count: Int = 12) -> [String] { LogTail.lines(of: program.logFile, count) }
}

/// A process that could not be started.
struct ChildProcessError: Error, CustomStringConvertible {
  let program: String
  let reason: String

  var description: String { "\(program) cannot be started: \(reason)" }
}

/// The words for `errno`.
func lastError() -> String { unsafe String(cString: strerror(errno)) }
