import Glibc
import ServiceRuntime

/// The system calls around a child process.
enum Spawn {
  /// Part of util-linux, which every Debian has.
  private static let setpriv = "/usr/bin/setpriv"

  /// Starts a program; blocks until it is executed.
  static func start(_ program: ChildProcess.Program) -> Result<pid_t, ChildProcessError> {
    let signal = program.isKilledWithParent ? "KILL" : "TERM"
    let words =
      [setpriv, "--pdeathsig", signal, "--", program.executable] + program.arguments
    let environment = program.environment.map { "\($0.key)=\($0.value)" }.sorted()

    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(
      &actions, STDOUT_FILENO, program.logFile, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    unsafe posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    // Not all of ours close themselves at exec: C libraries open some. A child that has a listening socket
    // of ours keeps its port busy, and clients wait there for an answer.
    unsafe closeDescriptors(from: STDERR_FILENO + 1, in: &actions)

    // Ignored and blocked signals are inherited; we may ignore those that the child must hear.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD] {
      unsafe sigaddset(&signals, signal)
    }
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

    var id = pid_t()
    let code = unsafe withCStrings(words) { words in
      unsafe withCStrings(environment) { environment in
        unsafe posix_spawn(&id, setpriv, &actions, &attributes, words, environment)
      }
    }
    guard code == 0 else {
      let reason = unsafe "\(setpriv): \(String(cString: strerror(code)))"
      return .failure(ChildProcessError(program: program.name, reason: reason))
    }
    return .success(id)
  }

  /// Blocks until a child has ended, and leaves it to be reaped.
  static func awaitEnd(of id: pid_t) {
    var info = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
  }

  /// Takes the ending of a child that has ended; its id is free from then on.
  static func reap(_ id: pid_t) -> ChildProcess.Ending {
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) < 0 && errno == EINTR {}
    // WIFEXITED, WEXITSTATUS and WTERMSIG are macros that Swift does not see.
    let signal = status & 0x7f
    return signal == 0 ? .exit((status >> 8) & 0xff) : .signal(signal)
  }

  private static func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("never empty") }
      return unsafe body(base)
    }
  }
}
