import Catalog
import Events
import TestSupport
import Testing

@testable import entitlement_service

@Suite("Balances") struct BalanceRulesTests {
  private let coins = Credit(unit: "coins", amount: 100)

  @Test func `a purchase brings its amount times its quantity`() {
    let bought = transaction("1", "coins.100", "Consumable", on: 0) { $0.quantity = 3 }
    #expect(RefundShare.full(bought, coins) == 300)
  }

  @Test func `a full refund leaves nothing and a prorated one takes its share rounded up`() {
    func wanted(_ type: String?, _ percentage: Int64?) -> Int64 {
      RefundShare.left(
        of: 100,
        transaction("1", "coins.100", "Consumable", on: 0) {
          $0.revocationDate = day(1)
          $0.revocationType = type
          $0.revocationPercentage = percentage
        })
    }
    #expect(wanted("REFUND_FULL", nil) == 0)
    #expect(wanted(nil, nil) == 0)
    #expect(wanted("REFUND_PRORATED", 50_000) == 50)
    #expect(wanted("REFUND_PRORATED", 33_333) == 66)
    #expect(wanted("REFUND_PRORATED", 100_000) == 0)
    #expect(wanted("REFUND_PRORATED", 0) == 100)
  }

  private func step(
    _ difference: Int64, balance: Int64, owed: Int64 = 0, taken: Int64 = 0, expired: Int64 = 0,
    _ policy: Policies.RefundBalance = .floor
  ) -> RefundShare.Step {
    RefundShare.step(
      difference, balance: balance, owed: owed, taken: taken, expired: expired, policy)
  }

  @Test func `under floor a refund stops at zero and records what was missing`() {
    #expect(step(-100, balance: 30) == RefundShare.Step(amount: -30, shortfall: 70))
    #expect(step(-100, balance: 100) == RefundShare.Step(amount: -100, shortfall: 0))
    #expect(step(-100, balance: -5) == RefundShare.Step(amount: 0, shortfall: 100))
  }

  @Test func `under debt a refund goes below zero`() {
    #expect(step(-100, balance: 30, .debt) == RefundShare.Step(amount: -100, shortfall: 0))
  }

  @Test func `a reversal gives back what was taken and no more`() {
    #expect(
      step(100, balance: 0, owed: 70, taken: 30) == RefundShare.Step(amount: 30, shortfall: -70))
    #expect(
      step(50, balance: 0, owed: 70, taken: 30) == RefundShare.Step(amount: 0, shortfall: -50))
    #expect(step(100, balance: 0, taken: 60) == RefundShare.Step(amount: 60, shortfall: 0))
  }

  @Test func `what has expired is not taken again by a refund`() {
    #expect(
      step(-100, balance: 500, expired: 40) == RefundShare.Step(amount: -60, shortfall: 0))
    #expect(step(-100, balance: 10, expired: 40) == RefundShare.Step(amount: -10, shortfall: 50))
    #expect(
      step(-100, balance: 10, expired: 40, .debt) == RefundShare.Step(amount: -60, shortfall: 0))
  }
}

@Suite("Differences become events") struct DifferenceTests {
  private func right(_ name: String, _ expires: Int64) -> Entitlement {
    var right = Entitlement(name: name, environment: "Sandbox", isActive: true)
    right.expiresAt = expires
    right.willRenew = true
    return right
  }

  @Test func `what came, changed and went is told once each, and what stayed is not told`() {
    let differences = Difference.between(
      [right("a", 1), right("b", 1), right("c", 1)], [right("b", 2), right("c", 1), right("d", 1)])
    #expect(
      differences.map(\.type) == [
        .entitlementDeactivated, .entitlementUpdated, .entitlementActivated,
      ])
    #expect(differences.map(\.after.name) == ["a", "b", "d"])
    #expect(differences.first?.after.isActive == false)
    #expect(differences.first?.after.willRenew == false)
  }

  @Test func `rights of two environments do not touch each other`() {
    var production = right("a", 1)
    production.environment = "Production"
    let differences = Difference.between([right("a", 1)], [right("a", 1), production])
    #expect(differences.map(\.after.environment) == ["Production"])
  }
}
