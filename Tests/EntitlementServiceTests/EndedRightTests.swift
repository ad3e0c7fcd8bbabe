import Events
import HTTPServer
import ServiceRuntime
import Testing

@testable import entitlement_service

@Suite("Rights that ended") struct EndedRightTests {
  private let period = monthly("1", from: 0, to: 30, reason: "PURCHASE")

  private func text(_ response: Response) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  /// What a person of support looks for: why the right is gone, as Apple says it now.
  @Test func `a right that ended shows what became known later`() async throws {
    let service = try TestService()
    func told(_ revision: Int64, _ transactions: [LineageTransaction], status: Int64, on: Int64)
      async throws
    {
      try await service.read(
        lineage("1", transactions, revision: revision) {
          $0.renewal = renewal {
            $0.signedDate = day(on)
            $0.isInBillingRetryPeriod = status == 3
            $0.autoRenewStatus = status == 2 ? 0 : 1
          }
          $0.status = status
          $0.statusDate = day(on)
          $0.decidedAt = day(on)
        })
      service.clock.set(day(on))
    }
    func shown() async throws -> Entitlement? {
      try await service.rights().last?.entitlement
    }
    try await told(1, [period], status: 1, on: 0)
    service.clock.set(day(30))
    try await told(2, [period], status: 3, on: 30)
    #expect(try await shown()?.status == "billing-retry")
    service.clock.set(day(90))
    try await told(3, [period], status: 2, on: 90)
    let expired = try #require(try await service.rights().last)
    #expect(expired.entitlement.status == "expired" && expired.entitlement.willRenew == false)
    #expect(expired.previous?.status == "billing-retry" && expired.previous?.isActive == false)
    var refunded = period
    refunded.revocationDate = day(95)
    refunded.signedDate = day(95)
    service.clock.set(day(95))
    try await told(4, [refunded], status: 2, on: 95)
    #expect(try await shown()?.status == "refunded")
    #expect(try await shown()?.refundedAt == day(95))
    #expect(
      try await service.told()
        == ["alice activated pro"] + Array(repeating: "alice deactivated pro", count: 3))
    let answer = try await service.request(.get, "/v1/customers/alice/entitlements")
    #expect(text(answer).contains(#""status":"refunded""#) && answer.header("ETag") == "\"4\"")
  }
}
