import FoundationEssentials
import Pipeline
import SQLite
import TestSupport
import Testing

@testable import verify_service

/// What docs/operations/recover.md tells the operator to ask a store for.
@Suite struct `The statement for a lost cluster` {
  private func statement() throws -> String {
    let page = try String(
      decoding: Data(
        contentsOf: URL(filePath: "\(TestData.packageRoot)/docs/operations/recover.md")),
      as: UTF8.self)
    let line = try #require(
      page.split(separator: "\n").first { $0.contains("sqlite3 ") && $0.contains("SELECT") })
    return String(try #require(line.split(separator: "\"").first { $0.hasPrefix("SELECT") }))
  }

  @Test func `gives the original transaction ids of an app in Production, a line each`()
    async throws
  {
    let ledger = try TestLedger()
    try await ledger.change { change in
      for lineage in [
        "com.example.app/Production/2000000123456789", "com.example.app/Sandbox/2000000000000001",
        "com.example.app/Production/70", "com.example.b/Production/71",
      ] {
        try change.transaction.run(
          "INSERT INTO lineages (lineage, owner, revision, state) VALUES (?, 'alice', 1, x'00')",
          lineage)
      }
    }
    let statement = try self.statement()
    let ids = try await ledger.store.readers.read { reader in
      try reader.query(statement) { $0.text(0) }
    }
    #expect(Set(ids) == ["2000000123456789", "70"])
  }
}
