import Glibc
import ServiceRuntime
import Synchronization

/// A program in a process that the test owns and that dies with it.
final class ChildProcess: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  private let pid: Mutex<pid_t?>
  private let ended: Completion<Void>
  private let reaper: DedicatedThread

  /// Starts a program with nothing but these variables in its environment.
  init(_ program: [String], environment: [String: String] = [:], log: String) throws {
    let variables = environment.map { "\($0.key)=\($0.value)" }
    let command = ["setpriv", "--pdeathsig", "KILL", "--", "env", "-i"] + variables + program
    let started = Completion<pid_t?>()
    let ended = Completion<Void>()
    // pdeathsig speaks of the thread that spawns, so that thread stays until the child has ended.
    reaper = DedicatedThread(name: "child-reaper") {
      let child = Self.spawn(command, log: log)
      started.complete(with: child)
      guard let child else { return }
      var info = unsafe siginfo_t()
      while unsafe waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
      ended.complete(with: ())
    }
    let child: pid_t? = started.wait()
    guard let child else { throw Failure(description: "setpriv could not be started") }
    pid = Mutex(child)
    self.ended = ended
  }

  deinit { _ = reap(after: SIGKILL) }

  var isRunning: Bool { ended.current == nil }

  func signal(_ number: Int32) {
    pid.withLock { pid in
      if let pid { _ = Glibc.kill(pid, number) }
    }
  }

  /// Waits for the end, at most 30 s, and gives the exit code; negative for a signal.
  func exitCode() async -> Int32 {
    let timer = Task {
      try? await Task.sleep(for: .seconds(30))
      if !Task.isCancelled { signal(SIGKILL) }
    }
    await ended.value()
    timer.cancel()
    return reap(after: 0)
  }

  private func reap(after number: Int32) -> Int32 {
    if number != 0 { signal(number) }
    return pid.withLock { child in
      guard let pid = child else { return 0 }
      var status: Int32 = 0
      _ = unsafe waitpid(pid, &status, 0)
      child = nil
      return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }
  }

  /// The simulator: products of a build lie in one folder, and so do the tests.
  static func simulator() throws -> String {
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(
      decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let near = own.split(separator: "/").dropLast().joined(separator: "/")
    for folder in ["/" + near, "/" + folderOfTests()] {
      let path = folder + "/app-store-simulator"
      if unsafe access(path, X_OK) == 0 { return path }
    }
    throw Failure(description: "no app-store-simulator beside the tests; run swift build")
  }

  private static func folderOfTests() -> String {
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? ""
    return bundle.split(separator: "/").dropLast().joined(separator: "/")
  }

  private static func spawn(_ arguments: [String], log: String) -> pid_t? {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(
      &actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var child: pid_t = 0
    guard unsafe posix_spawnp(&child, "setpriv", &actions, nil, pointers, environ) == 0 else {
      return nil
    }
    return child
  }
}
