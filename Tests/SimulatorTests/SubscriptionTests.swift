import AppStore
import Testing

@testable import app_store_simulator

@Suite("Subscriptions")
struct SubscriptionTests {
  @Test func `a first purchase says all about its period and the next`() throws {
    var ledger = try TestStore.ledger()
    let token = "7b2fc3f6-7c0e-4c41-9f0d-2f1a0b6f8d11"
    let happening = try ledger.buy("pro.yearly", token: token)
    let transaction = try #require(happening.transaction)
    let info = try #require(happening.renewalInfo)
    #expect(happening.word == "SUBSCRIBED/INITIAL_BUY")
    #expect(happening.status == .active)
    #expect(transaction.type == .autoRenewable)
    #expect(transaction.subscriptionGroupIdentifier == "PRO")
    #expect(transaction.expiresDate == january31 + 365 * day)
    #expect(transaction.webOrderLineItemId != nil)
    #expect(transaction.isUpgraded == nil)
    #expect(transaction.offerType == nil)
    #expect(info.originalTransactionId == transaction.transactionId)
    #expect(info.autoRenewProductId == "pro.yearly")
    #expect(info.autoRenewStatus == .on)
    #expect(info.renewalDate == transaction.expiresDate)
    #expect(info.renewalPrice == 59_990)
    #expect(info.currency == "USD")
    #expect(info.appAccountToken == token)
    #expect(info.recentSubscriptionStartDate == january31)
    #expect(info.expirationIntent == nil)
    #expect(info.appTransactionId == transaction.appTransactionId)
  }

  @Test func `renewals keep the day of the month and never drift`() throws {
    var ledger = try TestStore.ledger()
    _ = try ledger.buy("pro.other")
    let renewals = try ledger.pass(until: tenOClock(6, 15))
    #expect(renewals.map(\.word) == Array(repeating: "DID_RENEW", count: 4))
    #expect(
      renewals.map { $0.transaction?.expiresDate } == [
        tenOClock(3, 31), tenOClock(4, 30), tenOClock(5, 31), tenOClock(6, 30),
      ])
    #expect(renewals.first?.at == tenOClock(2, 28) - 60 * second)
  }

  @Test func `a renewal is a new transaction of the same lineage`() throws {
    var ledger = try TestStore.ledger()
    let first = try ledger.buy("pro.weekly", token: "7b2fc3f6-7c0e-4c41-9f0d-2f1a0b6f8d11")
    let renewal = try ledger.renew(first.original, at: january31 + day)
    let transaction = try #require(renewal.transaction)
    #expect(renewal.id != first.id)
    #expect(renewal.original == first.original)
    #expect(transaction.transactionReason == .renewal)
    #expect(transaction.webOrderLineItemId != first.transaction?.webOrderLineItemId)
    #expect(transaction.purchaseDate == january31 + day)
    #expect(transaction.originalPurchaseDate == january31)
    #expect(transaction.expiresDate == january31 + 14 * day)
    #expect(transaction.appAccountToken == first.transaction?.appAccountToken)
    #expect(transaction.price == 2_990)
  }

  @Test func `a free trial is given once for each account and group`() throws {
    var ledger = try TestStore.ledger()
    let trial = try #require(try ledger.buy("pro.monthly").transaction)
    #expect(trial.price == 0)
    #expect(trial.offerType == .introductory)
    #expect(trial.offerDiscountType == .freeTrial)
    #expect(trial.offerPeriod == "P3D")
    #expect(trial.offerIdentifier == nil)
    #expect(trial.expiresDate == january31 + 3 * day)
    let paid = try #require(try ledger.pass(until: january31 + 3 * day).first?.transaction)
    #expect(paid.price == 9_990)
    #expect(paid.offerType == nil)
    #expect(paid.expiresDate == tenOClock(3, 3))
    _ = try ledger.expire(trial.originalTransactionId ?? "", at: january31 + 5 * day)
    let again = try #require(try ledger.buy("pro.monthly", at: january31 + 6 * day).transaction)
    #expect(again.price == 9_990)
    #expect(again.offerType == nil)
    #expect(try ledger.buy("pro.monthly", account: "john").transaction?.price == 0)
  }

  @Test func `an offer paid in each period lasts for its number of periods`() throws {
    var ledger = try TestStore.ledger()
    let first = try ledger.buy("news")
    #expect(first.renewalInfo?.renewalPrice == 1_000)
    #expect(first.renewalInfo?.offerDiscountType == .payAsYouGo)
    let later = try ledger.pass(until: tenOClock(4, 1))
    let prices = ([first] + later).map { $0.transaction?.price }
    #expect(prices == [1_000, 1_000, 5_000])
    #expect(later.map { $0.transaction?.offerPeriod } == ["P2M", nil])
    #expect(later.first?.renewalInfo?.renewalPrice == 5_000)
  }

  @Test func `a promotional offer paid up front is one long period`() throws {
    var ledger = try TestStore.ledger()
    let transaction = try #require(try ledger.buy("news", offer: "half").transaction)
    #expect(transaction.offerType == .promotional)
    #expect(transaction.offerIdentifier == "half")
    #expect(transaction.offerDiscountType == .payUpFront)
    #expect(transaction.price == 15_000)
    #expect(transaction.expiresDate == tenOClock(7, 31))
  }

  @Test func `a cancelled subscription runs to its end and expires there`() throws {
    var ledger = try TestStore.ledger()
    let first = try ledger.buy("pro.weekly")
    let cancel = try ledger.setAutoRenew(false, of: first.original, at: january31 + day)
    #expect(cancel.word == "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED")
    #expect(cancel.status == .active)
    #expect(cancel.renewalInfo?.autoRenewStatus == .off)
    #expect(cancel.renewalInfo?.renewalPrice == nil)
    #expect(cancel.id == first.id)
    #expect(try ledger.pass(until: january31 + 7 * day - 1).isEmpty)
    let ends = try ledger.pass(until: january31 + 30 * day)
    #expect(ends.map(\.word) == ["EXPIRED/VOLUNTARY"])
    #expect(ends.first?.at == january31 + 7 * day)
    #expect(ends.first?.status == .expired)
    #expect(ends.first?.renewalInfo?.expirationIntent == .customerCancelled)
  }

  @Test func `a resumed subscription renews again`() throws {
    var ledger = try TestStore.ledger()
    let first = try ledger.buy("pro.weekly")
    _ = try ledger.setAutoRenew(false, of: first.original, at: january31 + day)
    let resume = try ledger.setAutoRenew(true, of: first.original, at: january31 + 2 * day)
    #expect(resume.word == "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED")
    #expect(try ledger.pass(until: january31 + 7 * day).map(\.word) == ["DID_RENEW"])
    let same = #expect(throws: Refusal.self) {
      try ledger.setAutoRenew(true, of: first.original, at: january31 + 8 * day)
    }
    #expect(same?.code == .autoRenewUnchanged)
  }

  @Test func `expiring at once moves the end of the current period`() throws {
    var ledger = try TestStore.ledger()
    let first = try ledger.buy("pro.yearly")
    let end = try ledger.expire(first.original, at: january31 + day)
    #expect(end.word == "EXPIRED/VOLUNTARY")
    #expect(end.transaction?.expiresDate == january31 + day)
    #expect(end.id == first.id)
    #expect(ledger.nextDue == nil)
  }

  @Test func `an ended subscription neither renews nor changes, but can be bought again`() throws {
    var ledger = try TestStore.ledger()
    let first = try ledger.buy("pro.weekly")
    _ = try ledger.expire(first.original, at: january31 + day)
    for command in [
      { (ledger: inout Ledger) in try ledger.renew(first.original, at: january31 + 2 * day) },
      { try $0.setAutoRenew(false, of: first.original, at: january31 + 2 * day) },
      { try $0.expire(first.original, at: january31 + 2 * day) },
    ] {
      let refusal = #expect(throws: Refusal.self) { try command(&ledger) }
      #expect(refusal?.code == .subscriptionEnded)
    }
    let again = try ledger.buy("pro.weekly", at: january31 + 9 * day)
    #expect(again.word == "SUBSCRIBED/RESUBSCRIBE")
    #expect(again.original == first.original)
    #expect(again.id != first.id)
    #expect(again.transaction?.transactionReason == .purchase)
    #expect(again.transaction?.originalPurchaseDate == january31)
    #expect(again.renewalInfo?.recentSubscriptionStartDate == january31 + 9 * day)
  }

  @Test func `a subscription that is off does not renew on demand`() throws {
    var ledger = try TestStore.ledger()
    let first = try ledger.buy("pro.weekly")
    _ = try ledger.setAutoRenew(false, of: first.original, at: january31 + 1)
    let refusal = #expect(throws: Refusal.self) {
      try ledger.renew(first.original, at: january31 + 2)
    }
    #expect(refusal?.code == .autoRenewOff)
    let unknown = #expect(throws: Refusal.self) { try ledger.renew("77", at: january31) }
    #expect(unknown?.code == .unknownSubscription)
  }

  @Test func `what falls due happens in the order of its time`() throws {
    var ledger = try TestStore.ledger()
    _ = try ledger.buy("pro.weekly", account: "a", at: january31 + 5 * second)
    _ = try ledger.buy("news.short", account: "b", at: january31)
    let stopped = try ledger.buy("pro.weekly", account: "c", at: january31 + 2 * second)
    _ = try ledger.setAutoRenew(false, of: stopped.original, at: january31 + 3 * second)
    let happenings = try ledger.pass(until: january31 + 20 * day)
    #expect(happenings.map(\.at) == happenings.map(\.at).sorted())
    #expect(
      happenings.map(\.word) == [
        "DID_RENEW", "DID_RENEW", "EXPIRED/VOLUNTARY", "DID_RENEW", "DID_RENEW",
      ])
  }
}
