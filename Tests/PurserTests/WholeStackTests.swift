import Access
import FoundationEssentials
import Glibc
import Processes
import ServiceRuntime
import Testing

@testable import purser

/// The executable itself, as a person runs it.
@Suite("purser demo and purser up", .timeLimit(.minutes(3)))
struct WholeStackTests {
  private func withFolder(_ body: @Sendable (StackFolder) async throws -> Void) async throws {
    let folder = try StackFolder.temporary(in: "/tmp")
    defer { try? folder.remove() }
    try await body(folder)
  }

  private func purser(_ words: [String], in folder: StackFolder) throws -> ChildProcess {
    try ChildProcess(
      ChildProcess.Program(
        name: "purser", executable: "\(try Places.around().executables)/purser",
        arguments: words, environment: ["TMPDIR": folder.path, "PATH": "/usr/bin:/bin"],
        logFile: "\(folder.path)/output"))
  }

  @Test func `the demo plays its story, ends with 0, and leaves nothing behind`() async throws {
    try await withFolder { folder in
      let demo = try purser(["demo"], in: folder)
      #expect(await demo.ending.value() == .exit(0), "\(demo.lastLogLines(40))")
      let output = demo.lastLogLines(1000).joined(separator: "\n")
      for words in [
        "alice may use pro", "without a gap", "will not renew", "alice may not use pro any more",
        "alice has 300 coins", "themes are gone", "every one as expected",
      ] {
        #expect(output.contains(words), "'\(words)' is told")
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left.filter { $0.hasPrefix("purser-demo") }.isEmpty)
    }
  }

  @Test func `up says what is there and stops everything on Ctrl-C with 0`() async throws {
    try await withFolder { folder in
      let up = try purser(
        ["up", "--ports", "free", "--directory", "\(folder.path)/up"], in: folder)
      let children = try await startedChildren(of: up)
      #expect(children.count == 5, "broker, simulator and three services")
      // What 'purser keys' changes there, the services see.
      let keys = try KeyFile(path: "\(folder.path)/up/keys").read()
      #expect(keys.lines.map(\.name) == ["purser"])
      up.send(SIGINT)
      #expect(await up.ending.value() == .exit(0), "\(up.lastLogLines(40))")
      #expect(children.filter(isRunning).isEmpty)
    }
  }

  @Test func `what up started ends when purser is killed`() async throws {
    try await withFolder { folder in
      let up = try purser(
        ["up", "--ports", "free", "--directory", "\(folder.path)/up"], in: folder)
      let children = try await startedChildren(of: up)
      up.send(SIGKILL)
      #expect(await up.ending.value() == .signal(SIGKILL))
      let deadline = Deadline.after(.seconds(20))
      while children.contains(where: isRunning) && !deadline.hasPassed {
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(children.filter(isRunning).isEmpty)
    }
  }

  /// The processes that purser has started, once it says that everything is ready.
  private func startedChildren(of up: ChildProcess) async throws -> [pid_t] {
    let deadline = Deadline.after(.seconds(90))
    while !up.lastLogLines(60).contains(where: { $0.contains("Ctrl-C stops everything") }) {
      guard !deadline.hasPassed && up.ending.current == nil else {
        Issue.record("up is not ready: \(up.lastLogLines(40))")
        return []
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    // proc(5): the list of children is "not necessarily reliable" while threads come and go.
    let end = Deadline.after(.seconds(10))
    var children = try children(of: up.processID ?? 0)
    while children.count < 5 && !end.hasPassed {
      try await Task.sleep(for: .milliseconds(20))
      children = try self.children(of: up.processID ?? 0)
    }
    return children
  }

  private func children(of id: pid_t) throws -> [pid_t] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task").flatMap { task in
      let children = try? Data(contentsOf: URL(filePath: "/proc/\(id)/task/\(task)/children"))
      return String(decoding: children ?? Data(), as: UTF8.self).split(separator: " ")
        .compactMap { pid_t($0) }
    }
  }

  private func isRunning(_ id: pid_t) -> Bool {
    // A zombie that nobody has reaped has ended too.
    guard let stat = try? Data(contentsOf: URL(filePath: "/proc/\(id)/stat")) else { return false }
    let text = String(decoding: stat, as: UTF8.self)
    return text.split(separator: ")").last?.first { $0 != " " } != "Z"
  }
}
