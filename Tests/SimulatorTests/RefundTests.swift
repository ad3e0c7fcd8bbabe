import AppStore
import Testing

@testable import app_store_simulator

@Suite("Refunds")
struct RefundTests {
  @Test func `a refund says when, why and how much`() throws {
    var ledger = try TestStore.ledger()
    let bought = try ledger.buy("themes")
    let refund = try ledger.refund(bought.id, reason: 1, at: january31 + hour)
    let transaction = try #require(refund.transaction)
    #expect(refund.word == "REFUND")
    #expect(refund.status == nil)
    #expect(transaction.transactionId == bought.id)
    #expect(transaction.revocationDate == january31 + hour)
    #expect(transaction.revocationReason == .issueWithinApp)
    #expect(transaction.revocationType == .refundFull)
    #expect(transaction.revocationPercentage == 100_000)
  }

  @Test func `a part is a prorated refund`() throws {
    var ledger = try TestStore.ledger()
    let bought = try ledger.buy("coins", quantity: 4)
    let refund = try ledger.refund(bought.id, percentage: 25_000, at: january31 + 1)
    #expect(refund.transaction?.revocationType == .refundProrated)
    #expect(refund.transaction?.revocationPercentage == 25_000)
  }

  @Test func `the current period's refund revokes the subscription for good`() throws {
    var ledger = try TestStore.ledger()
    let bought = try ledger.buy("pro.weekly")
    let refund = try ledger.refund(bought.id, at: january31 + day)
    #expect(refund.status == .revoked)
    #expect(refund.renewalInfo?.autoRenewStatus == .off)
    #expect(try ledger.pass(until: january31 + 100 * day).isEmpty)
    let renewal = #expect(throws: Refusal.self) {
      try ledger.renew(bought.original, at: january31 + 2 * day)
    }
    #expect(renewal?.code == .subscriptionEnded)
    let again = try ledger.buy("pro.weekly", at: january31 + 3 * day)
    #expect(again.word == "SUBSCRIBED/RESUBSCRIBE")
    #expect(again.status == .active)
  }

  @Test func `a past period's refund leaves the subscription alone`() throws {
    var ledger = try TestStore.ledger()
    let bought = try ledger.buy("pro.weekly")
    _ = try ledger.renew(bought.original, at: january31 + day)
    let refund = try ledger.refund(bought.id, at: january31 + 2 * day)
    #expect(refund.status == .active)
    #expect(refund.id == bought.id)
    #expect(refund.renewalInfo?.autoRenewStatus == .on)
    #expect(ledger.nextDue != nil)
  }

  @Test func `a refund is given once, and can be reversed`() throws {
    var ledger = try TestStore.ledger()
    let bought = try ledger.buy("pro.weekly")
    let early = #expect(throws: Refusal.self) {
      try ledger.reverseRefund(bought.id, at: january31 + 1)
    }
    #expect(early?.code == .notRefunded)
    _ = try ledger.refund(bought.id, at: january31 + day)
    let twice = #expect(throws: Refusal.self) { try ledger.refund(bought.id, at: january31 + day) }
    #expect(twice?.code == .alreadyRefunded)
    let reversal = try ledger.reverseRefund(bought.id, at: january31 + 2 * day)
    #expect(reversal.word == "REFUND_REVERSED")
    #expect(reversal.status == .active)
    #expect(reversal.transaction?.revocationDate == nil)
    #expect(try ledger.pass(until: january31 + 8 * day).map(\.word) == ["EXPIRED/VOLUNTARY"])
  }

  @Test(arguments: [(2, 100_000), (0, 0), (0, 100_001)] as [(Int32, Int32)])
  func `a refund of no known kind is refused`(reason: Int32, percentage: Int32) throws {
    var ledger = try TestStore.ledger()
    let bought = try ledger.buy("coins")
    let refusal = #expect(throws: Refusal.self) {
      try ledger.refund(bought.id, reason: reason, percentage: percentage, at: january31)
    }
    #expect(refusal?.code == .invalidRefund)
    let unknown = #expect(throws: Refusal.self) { try ledger.refund("x", at: january31) }
    #expect(unknown?.code == .unknownTransaction)
  }
}
