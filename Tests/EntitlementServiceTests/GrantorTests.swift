import Catalog
import Events
import TestSupport
import Testing

@testable import entitlement_service

@Suite("Every grantor counts, the best one shows") struct GrantorTests {
  private func grant(_ id: String, until expires: Int64?, from start: Int64 = 0) -> Grant {
    Grant(
      id: id, entitlement: "pro", environment: "Sandbox", startsAt: day(start),
      expiresAt: expires.map { day($0) }, author: "support", reason: "sorry", createdAt: day(0))
  }

  private func compute(_ lineages: [LineageState], _ grants: [Grant], at now: Int64) throws
    -> Entitlements.Result
  {
    Entitlements.compute(
      Holdings(customer: "alice", lineages: lineages.map { HeldLineage($0) }, grants: grants),
      try sampleRules(), at: now)
  }

  private let own = lineage("1", [monthly("1", from: 0, to: 30, reason: "PURCHASE")])
  private let shared = lineage(
    "2",
    [
      transaction("2", "pro.yearly", "Auto-Renewable Subscription", on: 0, until: 365) {
        $0.inAppOwnershipType = "FAMILY_SHARED"
      }
    ])

  @Test func `purchase, family sharing and grant together show what lasts longest`() throws {
    let result = try compute([own, shared], [grant("g", until: 60)], at: day(1))
    let pro = result.entitlements.first { $0.name == "pro" }
    #expect(pro?.ownershipType == "FAMILY_SHARED")
    #expect(pro?.expiresAt == day(365))
  }

  @Test func `losing one takes nothing that another still gives`() throws {
    #expect(
      try compute([own], [grant("g", until: 60)], at: day(45)).entitlements.map(\.name) == ["pro"])
    var revoked = shared
    revoked.transactions[0].revocationDate = day(5)
    let result = try compute([own, revoked], [], at: day(6))
    #expect(result.entitlements.map(\.name) == ["pro"])
    #expect(result.entitlements.first?.grantor?.lineage?.hasSuffix("/1") == true)
  }

  @Test func `a grant begins and ends at its times, and names itself`() throws {
    let later = grant("g", until: 60, from: 50)
    #expect(try compute([], [later], at: day(49)).entitlements.isEmpty)
    #expect(try compute([], [later], at: day(49)).nextChange == day(50))
    let result = try compute([], [later], at: day(50))
    #expect(result.entitlements.first?.grantor == Grantor(kind: "grant", grantId: "g"))
    #expect(result.nextChange == day(60))
    #expect(try compute([], [later], at: day(60)).entitlements.isEmpty)
  }

  @Test func `a grant that was taken back gives nothing`() throws {
    var removed = grant("g", until: nil)
    removed.removedAt = day(1)
    #expect(try compute([], [removed], at: day(2)).entitlements.isEmpty)
  }

  @Test func `of equal grantors a purchase shows before what was shared or given`() throws {
    var family = own
    family.lineage = LineageID(
      bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: "0")
    family.transactions[0].inAppOwnershipType = "FAMILY_SHARED"
    let result = try compute([family, own], [], at: day(1))
    #expect(result.entitlements.first?.ownershipType == nil)
  }
}

@Suite("One level of a group is active") struct LevelTests {
  private func compute(_ state: LineageState, at now: Int64) throws -> Entitlements.Result {
    Entitlements.compute([state], try sampleRules(), at: now)
  }

  @Test func `a downgrade that was billed early takes effect at its own time, not before`() throws {
    let state = lineage(
      "1",
      [
        transaction("1", "pro.yearly", "Auto-Renewable Subscription", on: 0, until: 365),
        monthly("2", from: 365, to: 395) { $0.signedDate = day(364) },
      ])
    let before = try compute(state, at: day(364))
    #expect(before.entitlements.map(\.name) == ["extra", "pro"])
    #expect(before.entitlements.allSatisfy { $0.productId == "pro.yearly" })
    #expect(before.entitlements.allSatisfy { $0.pendingProductId == "pro.monthly" })
    #expect(before.nextChange == day(365))
    let after = try compute(state, at: day(365))
    #expect(after.entitlements.map(\.name) == ["pro"])
    #expect(after.entitlements.first?.productId == "pro.monthly")
  }

  @Test func `a renewal of the same product that was billed early shows its new end at once`()
    throws
  {
    let state = lineage(
      "1",
      [
        monthly("1", from: 0, to: 30, reason: "PURCHASE"),
        monthly("2", from: 30, to: 60) { $0.signedDate = day(29) },
      ])
    #expect(try compute(state, at: day(29)).entitlements.first?.expiresAt == day(60))
  }

  @Test func `a clock behind Apple's does not delay a purchase`() throws {
    let state = lineage("1", [monthly("1", from: 1, to: 31, reason: "PURCHASE")])
    #expect(try compute(state, at: day(1) - 5000).entitlements.map(\.name) == ["pro"])
  }

  @Test func `grace of a former period gives nothing back after the next one was refunded`() throws
  {
    let state = lineage(
      "1",
      [
        monthly("1", from: 0, to: 7, reason: "PURCHASE"),
        monthly("2", from: 7, to: 14) { $0.revocationDate = day(8) },
      ]
    ) {
      $0.renewal = renewal {
        $0.signedDate = day(6)
        $0.gracePeriodExpiresDate = day(13)
      }
      $0.status = 5
      $0.statusDate = day(8)
    }
    #expect(try compute(state, at: day(9)).entitlements.isEmpty)
  }

  @Test func `renewal info of a former period says nothing of a new purchase`() throws {
    let state = lineage(
      "1",
      [
        monthly("1", from: 0, to: 30, reason: "PURCHASE"),
        monthly("2", from: 90, to: 120, reason: "PURCHASE"),
      ]
    ) {
      $0.renewal = renewal {
        $0.signedDate = day(20)
        $0.autoRenewStatus = 0
      }
      $0.status = 2
      $0.statusDate = day(30)
    }
    let pro = try compute(state, at: day(91)).entitlements.first
    #expect(pro?.willRenew == nil)
    #expect(pro?.unsubscribeDetectedAt == nil)
    // So it may renew late.
    #expect(try compute(state, at: day(120) + 4_999).entitlements.map(\.name) == ["pro"])
  }

  @Test func `within a commitment the next month comes though the customer has cancelled`() throws {
    func month(_ number: Int64) -> LineageState {
      lineage(
        "1",
        [
          monthly("\(number)", from: number * 30, to: number * 30 + 30) {
            $0.billingPlanType = "MONTHLY"
            $0.commitmentInfo = LineageCommitment()
            $0.commitmentInfo?.billingPeriodNumber = number
            $0.commitmentInfo?.totalBillingPeriods = 12
            $0.commitmentInfo?.commitmentExpiresDate = day(390)
          }
        ]
      ) {
        $0.renewal = renewal {
          $0.signedDate = day(number * 30)
          $0.autoRenewStatus = 0
          $0.commitmentInfo = LineageRenewalCommitment()
          $0.commitmentInfo?.commitmentAutoRenewStatus = 0
        }
      }
    }
    let third = try compute(month(3), at: day(91)).entitlements.first
    #expect(third?.willRenew == true)
    #expect(third?.commitment?.period == 3 && third?.commitment?.periods == 12)
    #expect(third?.commitment?.expiresAt == day(390) && third?.commitment?.willRenew == false)
    #expect(try compute(month(3), at: day(120) + 4_999).entitlements.map(\.name) == ["pro"])
    let last = try compute(month(12), at: day(361)).entitlements.first
    #expect(last?.willRenew == false)
    #expect(try compute(month(12), at: day(390)).entitlements.isEmpty)
  }

  @Test func `a restored copy does not survive the refund of what it is a copy of`() throws {
    let bought = transaction("1", "themes.all", "Non-Consumable", on: 0) {
      $0.revocationDate = day(9)
    }
    let restored = transaction("2", "themes.all", "Non-Consumable", on: 5)
    #expect(try compute(lineage("1", [bought, restored]), at: day(10)).entitlements.isEmpty)
  }

  @Test func `a non-renewing product without a length is for life, and refunded at once`() throws {
    let products = """
      "for.life": {"kind": "non-renewing", "displayPrice": "1", "entitlements": ["life"]}
      """
    let state = lineage("1", [transaction("1", "for.life", "Non-Renewing Subscription", on: 0)])
    let rules = try sampleRules(
      policies: #"{"refundAccess": "at-expiry"}"#, products: products)
    #expect(
      Entitlements.compute([state], rules, at: day(9999)).entitlements.map(\.name) == ["life"])
    var refunded = state
    refunded.transactions[0].revocationDate = day(2)
    #expect(Entitlements.compute([refunded], rules, at: day(3)).entitlements.isEmpty)
  }
}

@Suite("The catalog's dates") struct CatalogDateTests {
  /// A right from a day of the samples on; days begin at 22:13:20 of 14 November 2023.
  private func rules(_ dates: String) throws -> Rules {
    try sampleRules(
      products: """
        "pro.monthly": {"kind": "auto-renewable", "displayPrice": "9.99",
          "entitlements": ["pro", {"name": "bonus", \(dates)}],
          "subscription": {"group": "Pro", "level": 2, "period": "P1M"}}
        """)
  }

  private let bought = lineage("1", [monthly("1", from: 0, to: 30, reason: "PURCHASE")])
  private static let day10 = "2023-11-24T22:13:20Z"

  @Test func `a right with a first day comes to earlier buyers on that day`() throws {
    let rules = try rules(#""from": "\#(Self.day10)""#)
    let before = Entitlements.compute([bought], rules, at: day(10) - 1)
    #expect(before.entitlements.map(\.name) == ["pro"])
    #expect(before.nextChange == day(10))
    #expect(
      Entitlements.compute([bought], rules, at: day(10)).entitlements.map(\.name)
        == ["bonus", "pro"])
  }

  @Test func `a right with a last day goes on that day and shows it`() throws {
    let rules = try rules(#""until": "\#(Self.day10)""#)
    let before = Entitlements.compute([bought], rules, at: day(1))
    #expect(before.entitlements.first?.expiresAt == day(10))
    #expect(before.nextChange == day(10))
    #expect(
      Entitlements.compute([bought], rules, at: day(10)).entitlements.map(\.name) == ["pro"])
  }

  @Test func `a right for earlier buyers stays theirs through renewals and goes to no later ones`()
    throws
  {
    let rules = try rules(#""boughtUntil": "\#(Self.day10)""#)
    let renewed = lineage(
      "1",
      [
        monthly("1", from: 0, to: 30, reason: "PURCHASE") { $0.originalPurchaseDate = day(0) },
        monthly("2", from: 30, to: 60) { $0.originalPurchaseDate = day(0) },
      ])
    #expect(
      Entitlements.compute([renewed], rules, at: day(40)).entitlements.map(\.name)
        == ["bonus", "pro"])
    let late = lineage("2", [monthly("3", from: 11, to: 41, reason: "PURCHASE")])
    #expect(Entitlements.compute([late], rules, at: day(40)).entitlements.map(\.name) == ["pro"])
  }
}
