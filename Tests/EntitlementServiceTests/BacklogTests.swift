import Events
import FoundationEssentials
import Kafka
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

/// What the service published, read from its outbox: no relay runs in these tests.
@Suite("Records and timers tell the time apart") struct BacklogTests {
  private let clock = ManualClock(day(0))
  private let store: Store
  private let apply: ApplyTransaction
  private let timer: ExpiryTimer

  init() throws {
    let folder = URL.temporaryDirectory.appending(path: "purser-backlog-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    store = try Store(
      path: folder + "/entitlement.sqlite", migrations: EntitlementStore.migrations,
      source: "/test", topics: TopicNames(), clock: clock, log: .silent, metrics: Metrics())
    let rules = try sampleRules()
    let recompute = Recompute(rules: rules, metrics: Metrics())
    apply = ApplyTransaction(
      recompute: recompute, balances: Balances(rules: rules), log: .silent, metrics: Metrics())
    timer = ExpiryTimer(recompute: recompute)
  }

  /// Reads a lineage state as the processor would.
  private func read(_ state: LineageState) async throws {
    let record = ReceivedRecord(
      topic: "iap.transactions", partition: 0, offset: 0, timestamp: 0,
      key: Array(state.customer.utf8), value: try EventJSON.encode(state),
      headers: [Header(name: "ce_type", text: EventType.lineageChanged.rawValue)])
    let work = try #require(try apply.prepare(record))
    try await store.change { change in try work(change) }
  }

  private func events() async throws -> [EntitlementChanged] {
    try await store.readers.read { reader in
      try reader.query("SELECT value FROM outbox WHERE topic = 'iap.entitlements' ORDER BY id") {
        try EventJSON.decode(EntitlementChanged.self, from: $0.blob(0))
      }
    }
  }

  private func period(_ number: Int64, revision: Int64, decided: Int64) -> LineageState {
    let periods = (0...number).map { index in
      monthly(
        "\(index)", from: index * 30, to: (index + 1) * 30,
        reason: index == 0 ? "PURCHASE" : "RENEWAL")
    }
    return lineage("1", periods, revision: revision) { $0.decidedAt = day(decided) }
  }

  @Test func `reading a backlog ends no right before the renewal behind it is read`() async throws {
    clock.set(day(100))
    try await read(period(0, revision: 1, decided: 0))
    try await read(period(1, revision: 2, decided: 30))
    try await read(period(3, revision: 3, decided: 90))
    #expect(try await events().map(\.entitlement.isActive) == [true, true, true])
    #expect(try await events().map(\.entitlement.expiresAt) == [day(30), day(60), day(120)])
  }

  @Test func `a right that ran out within a backlog comes and is ended by the timer`() async throws
  {
    clock.set(day(100))
    try await read(period(0, revision: 1, decided: 0))
    #expect(try await events().map(\.entitlement.isActive) == [true])
    let (timer, now) = (timer, clock.now())
    let fired = try await store.change { change in try timer.fire(change, dueBy: now, limit: 10) }
    #expect(fired == 1)
    #expect(try await events().map(\.entitlement.isActive) == [true, false])
    #expect(try await events().map(\.version) == [1, 2])
    let due = try await store.readers.read { reader in try timer.nextDue(reader) }
    #expect(due == nil)
  }

  @Test func `time never runs back for a customer, so what ended does not come again`() async throws
  {
    try await read(period(0, revision: 1, decided: 0))
    clock.set(day(31))
    let (timer, now) = (timer, clock.now())
    _ = try await store.change { change in try timer.fire(change, dueBy: now, limit: 10) }
    // Decided before the timer spoke, read after it: it brings nothing new.
    try await read(
      lineage("2", [transaction("2", "themes.all", "Non-Consumable", on: 29)]) {
        $0.decidedAt = day(29)
      })
    #expect(try await events().map(\.entitlement.name) == ["pro", "pro", "themes"])
    #expect(try await events().map(\.entitlement.isActive) == [true, false, true])
  }

  @Test func `a ledger whose clock is ahead ends nothing early`() async throws {
    try await read(period(0, revision: 1, decided: 0))
    try await read(
      lineage("2", [transaction("2", "themes.all", "Non-Consumable", on: 0)]) {
        $0.decidedAt = day(365)
      })
    #expect(try await events().map(\.entitlement.isActive) == [true, true])
  }

  @Test func `the same state read twice is told once`() async throws {
    try await read(period(0, revision: 1, decided: 0))
    try await read(period(0, revision: 1, decided: 0))
    #expect(try await events().count == 1)
  }
}
