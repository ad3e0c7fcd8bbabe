import Catalog
import Events
import Glibc
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

@Suite("Time") struct TimeTests {
  private func season(length: String, bought: Int64) throws -> Int64? {
    let products = """
      "pass": {"kind": "non-renewing", "displayPrice": "1", "entitlements": ["season"],
        "length": "\(length)"}
      """
    let state = lineage("1", [transaction("1", "pass", "Non-Renewing Subscription", on: 0)]) {
      $0.transactions[0].purchaseDate = bought
    }
    return Entitlements.compute([state], try sampleRules(products: products), at: bought)
      .entitlements.first?.expiresAt
  }

  /// UTC milliseconds of days, from `date -u -d`.
  private static let table: [(length: String, bought: Int64, ends: Int64)] = [
    // 2024-01-31 12:00 and a month: the leap day.
    ("P1M", 1_706_702_400_000, 1_709_208_000_000),
    // 2023-01-31 12:00 and a month: 28 February.
    ("P1M", 1_675_166_400_000, 1_677_585_600_000),
    // 2024-02-29 00:00 and a year: 28 February 2025.
    ("P1Y", 1_709_164_800_000, 1_740_700_800_000),
    // 2026-03-29 00:30, an hour before Europe's clocks change, and a day: 24 hours.
    ("P1D", 1_774_744_200_000, 1_774_830_600_000),
    // 2024-12-31 23:59:59 and three months: 31 March.
    ("P3M", 1_735_689_599_000, 1_743_465_599_000),
  ]

  @Test(arguments: table)
  func `months end where the calendar says`(length: String, bought: Int64, ends: Int64) throws {
    #expect(try season(length: length, bought: bought) == ends)
  }

  @Test func `the zone of the process changes nothing`() throws {
    let before = unsafe getenv("TZ").map { unsafe String(cString: $0) }
    defer {
      if let before { _ = unsafe setenv("TZ", before, 1) } else { _ = unsafe unsetenv("TZ") }
      tzset()
    }
    for zone in ["America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Apia"] {
      _ = unsafe setenv("TZ", zone, 1)
      tzset()
      for row in Self.table {
        #expect(try season(length: row.length, bought: row.bought) == row.ends, "\(zone)")
      }
    }
  }

  private func period(_ number: Int64, revision: Int64) -> LineageState {
    let periods = (0...number).map { index in
      monthly(
        "\(index)", from: index * 30, to: (index + 1) * 30,
        reason: index == 0 ? "PURCHASE" : "RENEWAL")
    }
    return lineage("1", periods, revision: revision) { $0.decidedAt = day(number * 30) }
  }

  @Test func `a clock stepped back ends nothing twice and brings nothing back`() async throws {
    let service = try TestService()
    try await service.read(period(0, revision: 1))
    service.clock.set(day(31))
    try await service.fire()
    service.clock.set(day(10))
    try await service.fire()
    try await service.read(
      lineage("2", [transaction("2", "themes.all", "Non-Consumable", on: 9)]))
    #expect(
      try await service.told() == [
        "alice activated pro", "alice deactivated pro", "alice activated themes",
      ])
  }

  @Test func `after two hours of downtime no renewal that waits in the log is a false end`()
    async throws
  {
    let service = try TestService()
    for number in 0..<50 {
      var state = period(0, revision: 1)
      state.customer = "c\(number)"
      try await service.read(state)
    }
    service.clock.set(day(30) + 7_200_000)
    // The timer waits until the log is read (`PastReading`); the records come first.
    for number in 0..<50 {
      var state = period(1, revision: 2)
      state.customer = "c\(number)"
      try await service.read(state)
    }
    try await service.fire()
    #expect(try await service.rights().allSatisfy(\.entitlement.isActive))
    #expect(try await service.nextDue() == day(60) + 5_000)
  }

  @Test func `all who are due at once are done in batches, each once`() async throws {
    let service = try TestService()
    for number in 0..<600 {
      var state = period(0, revision: 1)
      state.customer = "c\(number)"
      try await service.read(state)
    }
    service.clock.set(day(31))
    var batches: [Int] = []
    while let due = try await service.nextDue(), due <= service.clock.now() {
      batches.append(try await service.fire(limit: 250))
    }
    #expect(batches == [250, 250, 100])
    #expect(try await service.rights().count == 1200)
  }
}
