package import Glibc
package import ServiceRuntime
import Synchronization

/// A process that we started: its place, its log file, its end.
///
/// It ends with us, however we end: `setpriv` asks the kernel for SIGTERM at the death of the parent.
/// To the kernel the parent is the thread that started it, so a thread of its own starts it and
/// lives as long as it does. (A child may hear that SIGTERM more than once, as other threads of ours
/// become its parent and die too.) It has a process group of its own, so that Ctrl-C reaches only us and
/// the order of stopping is ours.
package final class ChildProcess: Sendable {
  /// How a process ended.
  package enum Ending: Sendable, Equatable, CustomStringConvertible {
    case exit(Int32)
    case signal(Int32)

    package var description: String {
      switch self {
      case .exit(let code): "exit code \(code)"
      case .signal(let number): "signal \(number) (\(unsafe String(cString: strsignal(number))))"
      }
    }
  }

  /// What is to be started.
  package struct Program: Sendable {
    /// The name for people, such as `order-service`.
    package var name: String
    /// The file to execute.
    package var executable: String
    /// Words behind the program's name.
    package var arguments: [String] = []
    /// The whole environment.
    package var environment: [String: String] = [:]
    /// Where both of its outputs go, appended.
    package var logFile: String
    /// Whether it gets SIGKILL when we end, in place of SIGTERM: for one that may not hear a SIGTERM.
    package var isKilledWithParent = false

    /// Describes what is to be started.
    package init(
      name: String, executable: String, arguments: [String] = [],
      environment: [String: String] = [:], logFile: String
    ) {
      self.name = name
      self.executable = executable
      self.arguments = arguments
      self.environment = environment
      self.logFile = logFile
    }
  }

  package let program: Program
  /// Completes when the process has ended.
  package var ending: Completion<Ending> { life.ending }
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
  package init(_ program: Program) throws(ChildProcessError) {
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
  package var processID: pid_t? { life.id.withLock { $0 } }

  /// Sends a signal, unless the process has ended.
  package func send(_ signal: Int32) {
    life.id.withLock { id in
      if let id { kill(id, signal) }
    }
  }

  /// Asks it to stop with SIGTERM; kills it when the deadline has passed.
  ///
  /// - Returns: How it ended.
  package func stop(by deadline: Deadline) -> Ending {
    send(SIGTERM)
    if let ending = ending.wait(by: deadline) { return ending }
    send(SIGKILL)
    return ending.wait()
  }
}

/// A process that could not be started.
package struct ChildProcessError: Error, CustomStringConvertible {
  let program: String
  let reason: String

  package var description: String { "\(program) cannot be started: \(reason)" }
}

/// The words for `errno`.
package func lastError() -> String { unsafe String(cString: strerror(errno)) }
