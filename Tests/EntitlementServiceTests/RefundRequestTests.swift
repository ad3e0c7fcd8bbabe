import Events
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

@Suite("Apple's refund requests") struct RefundRequestTests {
  private func asked(
    _ bought: LineageTransaction, revision: Int64, fact: String, on start: Int64 = 1
  ) -> LineageState {
    lineage("8", [bought], revision: revision) {
      $0.cause = LineageCause(
        kind: "notification", notificationType: "CONSUMPTION_REQUEST", fact: fact,
        transactionId: bought.transactionId)
      $0.decidedAt = day(start)
    }
  }

  private let coins = transaction("8", "coins.100", "Consumable", on: 0)

  private func reports(_ service: TestService) async throws -> [ConsumptionReported] {
    try await service.published().filter { $0.type == "consumption.reported" }.compactMap {
      try $0.value.map { try EventJSON.decode(ConsumptionReported.self, from: $0) }
    }
  }

  private func put(_ service: TestService, _ body: String) async throws -> Response {
    try await service.request(.put, "/v1/customers/alice/refund-settings", body)
  }

  @Test func `without consent it is reported that there is none`() async throws {
    let service = try TestService(policies: #"{"refundPreference": "decline"}"#)
    try await service.read(lineage("8", [coins]))
    service.clock.set(day(1))
    try await service.read(asked(coins, revision: 2, fact: "f"))
    let report = try #require(try await reports(service).first)
    #expect(!report.customerConsented)
    #expect(report.request == "f" && report.transactionId == "8" && report.version == 2)
    #expect(report.deliveryStatus == "DELIVERED" && report.requestedAt == day(1))
  }

  @Test func `consent, preference and delivery are the customer's before the app's`() async throws {
    let service = try TestService(
      policies: #"{"refundPreference": "decline", "sampleContent": true}"#)
    try await service.read(lineage("8", [coins]))
    #expect(try await put(service, #"{"customerConsented": true}"#).status == 200)
    service.clock.set(day(1))
    try await service.read(asked(coins, revision: 2, fact: "f"))
    var report = try #require(try await reports(service).last)
    #expect(report.customerConsented && report.refundPreference == "DECLINE")
    #expect(report.sampleContentProvided)

    let own = try await put(
      service,
      #"{"customerConsented": true, "refundPreference": "grant", "deliveryStatus": "UNDELIVERED_SERVER_OUTAGE", "sampleContentProvided": false}"#
    )
    #expect(own.status == 200)
    service.clock.set(day(9))
    try await service.read(asked(coins, revision: 3, fact: "g", on: 9))
    report = try #require(try await reports(service).last)
    #expect(report.refundPreference == "GRANT_FULL" && !report.sampleContentProvided)
    #expect(report.deliveryStatus == "UNDELIVERED_SERVER_OUTAGE")
  }

  @Test func `however often Apple repeats a request, it is reported once`() async throws {
    let service = try TestService()
    try await service.read(lineage("8", [coins]))
    service.clock.set(day(1))
    try await service.read(asked(coins, revision: 2, fact: "f"))
    try await service.read(asked(coins, revision: 3, fact: "f"))
    // Signed anew, within the twelve hours that Apple waits.
    try await service.read(asked(coins, revision: 4, fact: "f2"))
    #expect(try await reports(service).count == 1)
    // A request of another day is another one.
    service.clock.set(day(3))
    try await service.read(asked(coins, revision: 5, fact: "f3", on: 3))
    #expect(try await reports(service).map(\.request) == ["f", "f3"])
    try await expectSameAfterRebuild(service)
  }

  @Test func `what was bought first counts as spent first`() {
    // 100 bought, then 50 more; of 150 there are 120 left.
    #expect(SpentShare.spent(100, later: 50, balance: 120) == 30_000)
    #expect(SpentShare.spent(50, later: 0, balance: 120) == 0)
    #expect(SpentShare.spent(100, later: 50, balance: 10) == 100_000)
    #expect(SpentShare.spent(3, later: 0, balance: 2) == 33_333)
    #expect(SpentShare.spent(100, later: 0, balance: -20) == 100_000)
  }

  @Test func `the share of a consumable is what was spent of it`() async throws {
    let service = try TestService(policies: #"{"refundPreference": "prorate"}"#)
    try await service.read(lineage("8", [coins]))
    _ = try await service.request(
      .post, "/v1/customers/alice/spends", #"{"units": {"coins": 25}, "environment": "Sandbox"}"#,
      key: "k")
    service.clock.set(day(1))
    try await service.read(asked(coins, revision: 2, fact: "f"))
    let report = try #require(try await reports(service).first)
    #expect(report.consumptionPercentage == 25_000)
    #expect(report.refundPreference == "GRANT_PRORATED")
  }

  @Test func `a prorated refund is not asked for where nothing was used`() async throws {
    let service = try TestService(policies: #"{"refundPreference": "prorate"}"#)
    try await service.read(lineage("8", [coins]))
    try await service.read(asked(coins, revision: 2, fact: "f"))
    #expect(try await reports(service).first?.refundPreference == nil)
  }

  @Test func `of a season pass the time that has passed counts, of a subscription nothing`()
    async throws
  {
    let service = try TestService()
    let season = transaction("8", "season.pass", "Non-Renewing Subscription", on: 0)
    service.clock.set(day(45))
    try await service.read(asked(season, revision: 1, fact: "f", on: 45))
    #expect(try await reports(service).last?.consumptionPercentage == 50_000)
    let other = try TestService()
    try await other.read(
      asked(monthly("8", from: 0, to: 30, reason: "PURCHASE"), revision: 1, fact: "g"))
    #expect(try await reports(other).last?.consumptionPercentage == nil)
    #expect(try await reports(other).count == 1)
  }

  @Test(arguments: [
    #"{"customerConsented": true, "refundPreference": "never"}"#,
    #"{"customerConsented": true, "deliveryStatus": "LOST"}"#,
  ])
  func `a word that Apple does not know is refused`(body: String) async throws {
    let service = try TestService()
    #expect(try await put(service, body).status == 422)
  }

  @Test func `settings that nobody put name no author and no time`() async throws {
    let service = try TestService()
    let answer = try await service.request(.get, "/v1/customers/alice/refund-settings")
    #expect(String(decoding: answer.body, as: UTF8.self) == #"{"customerConsented":false}"#)
    _ = try await service.request(
      .put, "/v1/customers/alice/refund-settings", #"{"customerConsented": true, "author": "ann"}"#)
    let put = try await service.request(.get, "/v1/customers/alice/refund-settings")
    let text = String(decoding: put.body, as: UTF8.self)
    #expect(text.contains("ann") && text.contains(#""updatedAt":\#(day(0))"#))
  }
}
