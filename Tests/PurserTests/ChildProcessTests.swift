import FoundationEssentials
import Glibc
import Processes
import ServiceRuntime
import Testing

@testable import purser

@Suite("Processes that purser starts")
struct ChildProcessTests {
  /// A shell that runs a script, with its log in a folder of the test.
  private func shell(_ script: String, in folder: StackFolder) throws -> ChildProcess {
    try ChildProcess(
      ChildProcess.Program(
        name: "shell", executable: "/bin/sh", arguments: ["-c", script],
        environment: ["WORD": "given"], logFile: "\(folder.path)/log"))
  }

  private func withFolder(_ body: @Sendable (StackFolder) async throws -> Void) async throws {
    let folder = try StackFolder.temporary(in: "/tmp")
    defer { try? folder.remove() }
    try await body(folder)
  }

  @Test func `it has the given environment alone, and both outputs go to the log`() async throws {
    try await withFolder { folder in
      let child = try shell("echo $WORD-$HOME; echo trouble >&2; exit 3", in: folder)
      #expect(await child.ending.value() == .exit(3))
      #expect(child.lastLogLines() == ["given-", "trouble"])
      #expect(child.processID == nil)
    }
  }

  @Test func `it hears SIGTERM though we ignore it`() async throws {
    _ = ShutdownSignals()
    try await withFolder { folder in
      let child = try shell("sleep 60", in: folder)
      child.send(SIGTERM)
      #expect(await child.ending.value() == .signal(SIGTERM))
    }
  }

  @Test func `it has none of our descriptors, however many there are`() async throws {
    // As C libraries open them: not closed at exec.
    let ours = (0..<400).map { _ in dup(STDERR_FILENO) }
    defer { for descriptor in ours { close(descriptor) } }
    #expect(ours.allSatisfy { $0 > STDERR_FILENO })
    try await withFolder { folder in
      let child = try shell("exec /bin/ls /proc/self/fd", in: folder)
      #expect(await child.ending.value() == .exit(0))
      // The fourth is the folder that `ls` reads.
      #expect(child.lastLogLines() == ["0", "1", "2", "3"])
    }
  }

  @Test func `one that does not stop in time is killed`() async throws {
    try await withFolder { folder in
      let child = try shell(
        "trap '' TERM; echo deaf; while :; do sleep 0.05; done", in: folder)
      let deadline = Deadline.after(.seconds(20))
      while child.lastLogLines().isEmpty && !deadline.hasPassed {
        try await Task.sleep(for: .milliseconds(5))
      }
      let ended = Completion<ChildProcess.Ending>()
      let stopper = DedicatedThread(name: "stopper") {
        ended.complete(with: child.stop(by: .after(.milliseconds(100))))
      }
      #expect(await ended.value() == .signal(SIGKILL))
      await stopper.joined()
    }
  }

  @Test func `a file that cannot be executed is refused with words`() async throws {
    try await withFolder { folder in
      let program = ChildProcess.Program(
        name: "ghost", executable: "\(folder.path)/ghost", logFile: "\(folder.path)/log")
      let error = #expect(throws: ChildProcessError.self) { try ChildProcess(program) }
      #expect(error?.description.contains("ghost cannot be started") == true)
    }
  }

  @Test func `a folder with files of others is never emptied`() async throws {
    try await withFolder { folder in
      let other = "\(folder.path)/theirs"
      try FileManager.default.createDirectory(
        atPath: other, withIntermediateDirectories: false)
      try Data("dear".utf8).write(to: URL(filePath: "\(other)/letter"))
      #expect(throws: FolderError.self) { try StackFolder(at: other) }
      #expect(FileManager.default.fileExists(atPath: "\(other)/letter"))

      try folder.empty()
      #expect(!FileManager.default.fileExists(atPath: other))
      _ = try StackFolder(at: folder.path)
    }
  }
}
