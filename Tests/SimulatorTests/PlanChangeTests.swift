import AppStore
import Testing

@testable import app_store_simulator

@Suite("Plan changes")
struct PlanChangeTests {
  @Test func `an upgrade starts at once and marks the old period`() throws {
    var ledger = try TestStore.ledger()
    let old = try ledger.buy("pro.weekly")
    let upgrade = try ledger.buy("pro.yearly", at: january31 + day)
    #expect(upgrade.word == "DID_CHANGE_RENEWAL_PREF/UPGRADE")
    #expect(upgrade.original == old.original)
    #expect(upgrade.transaction?.productId == "pro.yearly")
    #expect(upgrade.transaction?.transactionReason == .purchase)
    #expect(upgrade.transaction?.expiresDate == january31 + 366 * day)
    #expect(ledger.payload(of: try ledger.charge(old.id)).isUpgraded == true)
    #expect(try ledger.pass(until: january31 + 10 * day).isEmpty)
  }

  @Test func `a change to the same level and period is at once too`() throws {
    var ledger = try TestStore.ledger()
    _ = try ledger.buy("pro.other")
    let change = try ledger.buy("pro.monthly", at: january31 + day)
    #expect(change.word == "DID_CHANGE_RENEWAL_PREF/UPGRADE")
    #expect(change.transaction?.price == 9_990)
  }

  @Test func `a downgrade waits for the renewal, which has its reason`() throws {
    var ledger = try TestStore.ledger()
    let old = try ledger.buy("pro.other")
    let change = try ledger.buy("pro.weekly", at: january31 + day)
    #expect(change.word == "DID_CHANGE_RENEWAL_PREF/DOWNGRADE")
    #expect(change.id == old.id)
    #expect(change.renewalInfo?.productId == "pro.other")
    #expect(change.renewalInfo?.autoRenewProductId == "pro.weekly")
    #expect(change.renewalInfo?.renewalPrice == 2_990)
    let renewal = try #require(try ledger.pass(until: tenOClock(2, 28)).first)
    #expect(renewal.word == "DID_RENEW")
    #expect(renewal.transaction?.productId == "pro.weekly")
    #expect(renewal.transaction?.transactionReason == .renewal)
    #expect(renewal.transaction?.expiresDate == tenOClock(3, 7))
  }

  @Test func `a downgrade can be taken back`() throws {
    var ledger = try TestStore.ledger()
    _ = try ledger.buy("pro.other")
    _ = try ledger.buy("pro.weekly", at: january31 + day)
    let undone = try ledger.buy("pro.other", at: january31 + 2 * day)
    #expect(undone.word == "DID_CHANGE_RENEWAL_PREF")
    #expect(undone.renewalInfo?.autoRenewProductId == "pro.other")
    let again = #expect(throws: Refusal.self) {
      try ledger.buy("pro.other", at: january31 + 3 * day)
    }
    #expect(again?.code == .alreadySubscribed)
  }
}
