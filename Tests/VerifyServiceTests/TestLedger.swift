import Catalog
import Events
import FoundationEssentials
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import Kafka
@testable import Pipeline
@testable import verify_service

/// A ledger over a store of its own, and all that it published.
final class TestLedger: Sendable {
  static let start: Int64 = 1_700_000_000_000

  let store: Store
  let ledger: Ledger
  let clock = ManualClock(start)
  private let folder: String
  var path: String { folder + "/verify.sqlite" }

  init(transfer: Policies.Transfer = .transfer, linkWait: Int64 = 0) throws {
    folder = TestFolder.path("ledger")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let metrics = Metrics()
    var policies = Policies(environment: "Sandbox")
    policies.transfer = transfer
    ledger = Ledger(
      policies: { [policies] _, _ in policies }, linkWait: linkWait, metrics: metrics)
    store = try Store(
      path: "\(folder)/verify.sqlite", migrations: LineageStore.migrations,
      source: "/purser/verify-service", topics: TopicNames(), clock: clock,
      log: Log(program: "test", minimumLevel: .error) { _ in }, metrics: metrics)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func change(_ body: @escaping @Sendable (Change) throws -> Void) async throws {
    try await store.change(body)
  }

  func tell(_ facts: FactContents...) async throws {
    for fact in facts {
      try await change { [ledger] change in
        if let proof = fact.proof,
          try ProofOutcomes.isDecided(change.transaction, proof.id, part: proof.part)
        {
          return
        }
        try ledger.record(fact, change)
      }
    }
  }

  func token(_ token: String, of customer: String, at date: Int64 = start) async throws {
    try await change { [ledger] change in
      try ledger.tokenKnown(
        TokenIssued(
          token: token, customer: customer, bundleId: "com.example.app", orderId: token,
          issuedAt: date), change)
    }
  }

  func merge(_ customer: String, into other: String, at date: Int64 = start) async throws {
    try await change { [ledger] change in
      try ledger.merged(
        CustomerMerged(
          id: "\(customer)-\(other)", customer: customer, into: other, author: "support",
          reason: "asked", decidedAt: date), change)
    }
  }

  func transfer(to customer: String, id: String = "t1", at date: Int64 = start) async throws {
    try await change { [ledger] change in
      try ledger.transferred(
        LineageTransferred(
          id: id, lineage: sampleLineage.description, customer: customer, author: "support",
          reason: "asked", decidedAt: date), sampleLineage, change)
    }
  }

  func erase(_ customer: String, at date: Int64 = start) async throws {
    try await change { [ledger] change in
      try ledger.erased(
        CustomerErased(
          id: "e-\(customer)", customer: customer, author: "support", reason: "asked",
          decidedAt: date), change)
    }
  }

  /// Lets the facts that waited long enough wait no longer, as the timer does.
  func stopWaiting() async throws {
    try await change { [ledger] change in
      _ = try StopWaiting(ledger: ledger).fire(change, dueBy: change.now, limit: 100)
    }
  }

  private func published<Event: Decodable & Sendable>(_ type: Event.Type, _ name: EventType)
    async throws -> [Event]
  {
    try await store.readers.read { reader in
      try reader.query("SELECT headers, value FROM outbox ORDER BY id") { row in
        let headers = HeaderBytes.decode(row.blob(0)) ?? []
        let found = headers.first { $0.name == "ce_type" }?.text ?? ""
        PublishedEvents.note(found, row.optionalBlob(1))
        return found == name.rawValue ? try EventJSON.decode(Event.self, from: row.blob(1)) : nil
      }
    }.compactMap { $0 }
  }

  func states() async throws -> [LineageState] {
    try await published(LineageState.self, .lineageChanged)
  }

  func outcomes() async throws -> [ProofOutcome] {
    try await published(ProofOutcome.self, .proofDecided)
  }

  func facts() async throws -> [AppStoreFact] {
    try await published(AppStoreFact.self, .appStoreFact)
  }

  /// The newest state of each customer, as a reader folds them.
  func folded(_ lineage: LineageID = sampleLineage) async throws -> [String: LineageState] {
    try await states().filter { $0.lineage == lineage }.reduce(into: [:]) { folded, state in
      if let known = folded[state.customer], known.revision >= state.revision { return }
      folded[state.customer] = state
    }
  }

  /// Who has the lineage by the newest states, sorted.
  func holders(_ lineage: LineageID = sampleLineage) async throws -> [String] {
    try await folded(lineage).values.filter { $0.holding == .held }.map(\.customer).sorted()
  }
}
