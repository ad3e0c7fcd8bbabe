import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

@Suite("Records and timers tell the time apart") struct BacklogTests {
  private let service: TestService
  private var clock: ManualClock { service.clock }

  init() throws { service = try TestService() }

  private func read(_ state: LineageState) async throws { try await service.read(state) }
  private func events() async throws -> [EntitlementChanged] { try await service.rights() }

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
    #expect(try await service.fire() == 1)
    #expect(try await events().map(\.entitlement.isActive) == [true, false])
    #expect(try await events().map(\.version) == [1, 2])
    #expect(try await service.nextDue() == nil)
  }

  @Test func `time never runs back for a customer, so what ended does not come again`() async throws
  {
    try await read(period(0, revision: 1, decided: 0))
    clock.set(day(31))
    _ = try await service.fire()
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
