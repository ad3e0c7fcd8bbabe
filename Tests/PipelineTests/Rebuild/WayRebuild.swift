import FoundationEssentials
import Glibc
import Kafka
import Processes
import ServiceRuntime
import Synchronization
import Testing

@testable import purser

extension Way {
  /// The file of a service's store.
  func store(of service: String) -> String { layout.withLock { $0.store(of: service, plan) } }

  /// Runs `<service> rebuild` to its end; the exit code.
  func rebuild(_ service: String, backup: String? = nil) async throws -> ChildProcess.Ending {
    try await command(service, ["rebuild"] + (backup.map { ["--backup", $0] } ?? []))
  }

  /// Runs a command of a service to its end, with more settings; the exit code.
  func command(_ service: String, _ arguments: [String], _ settings: [String: String] = [:])
    async throws -> ChildProcess.Ending
  {
    var rebuild = try program(service)
    rebuild.arguments = arguments
    rebuild.environment.merge(settings) { _, new in new }
    rebuild.logFile = plan.file("\(service)-rebuild.log")
    let program = rebuild
    let child = try await offPool { try ChildProcess(program) }
    return await child.ending.value()
  }

  /// Removes a store as a lost disk does.
  func lose(_ service: String) throws {
    for file in ["", "-wal", "-shm", ".lock"] {
      try? FileManager.default.removeItem(atPath: store(of: service) + file)
    }
  }

  /// Loses a stopped service's store, rebuilds it and compares it with what it was.
  func loseAndRebuild(_ service: String) async throws {
    let path = store(of: service)
    let before = try await offPool { try CanonicalStore(path) }
    let ends = try await journal.ends()
    try lose(service)
    let ending = try await rebuild(service)
    #expect(ending == .exit(0), "\(service): \(lastLines(of: "\(service)-rebuild"))")
    let after = try await offPool { try CanonicalStore(path) }
    let others = try await othersLines(service)
    // A shard knows of its own outcomes, and once it is rebuilt of all. And a re-shard gives the hashes of
    // the erased to all; once it is rebuilt a shard has its own.
    let differences = before.differences(from: after).filter { line in
      guard shardCount > 1 else { return true }
      let isOthers = ["erased_customers", "credited_before"].contains { table in
        line.hasPrefix("only before: \(table)")
          && others.contains(String(line.dropFirst("only before: ".count)))
      }
      return !isOthers && !line.hasPrefix("only rebuilt: proof_outcomes")
    }
    #expect(differences.isEmpty, "\(service)")
    for line in differences { Issue.record("\(service) \(line)") }
    #expect(!after.lines.isEmpty)
    #expect(try await journal.ends() == ends, "a rebuild publishes nothing by itself")
    let left = try FileManager.default.contentsOfDirectory(atPath: plan.folder)
      .filter { $0.contains(".rebuilding") }
    #expect(left.isEmpty)
  }

  /// What stands in the stores of a shard's siblings.
  private func othersLines(_ name: String) async throws -> Set<String> {
    guard shardCount > 1 else { return [] }
    let service = ShardLayout.split(name).service
    let stores = layout.withLock { $0.processes(of: service) }.filter { $0 != name }.map(store)
    return try await offPool {
      try stores.reduce(into: Set<String>()) { $0.formUnion(try CanonicalStore($1).lines) }
    }
  }

  /// Each store in turn is lost and must come back the same, and nothing may be told because of it.
  func loseEachStore() async throws {
    for service in Self.services {
      try await end(service, by: SIGTERM)
      try await loseAndRebuild(service)
      try await launch(service)
      try await ready(service)
    }
    let ends = try await journal.ends()
    _ = try await quiet()
    guard try await journal.ends() == ends else {
      throw NotInTime(description: "something was published after the stores were rebuilt")
    }
  }
}
