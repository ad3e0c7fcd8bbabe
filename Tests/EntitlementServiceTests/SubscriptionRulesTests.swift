import Catalog
import Events
import TestSupport
import Testing

@testable import entitlement_service

@Suite("Subscriptions give rights") struct SubscriptionRulesTests {
  private func names(_ lineages: [LineageState], at now: Int64, policies: String = "{}") throws
    -> [String]
  {
    Entitlements.compute(lineages, try sampleRules(policies: policies), at: now)
      .entitlements.map(\.name)
  }

  @Test func `a paid period gives its rights until it expires and the late renewal time is over`()
    throws
  {
    let bought = [lineage("1", [monthly("1", from: 0, to: 30, reason: "PURCHASE")])]
    #expect(try names(bought, at: day(29)) == ["pro"])
    // The sandbox default leaves five seconds for a renewal to arrive.
    #expect(try names(bought, at: day(30) + 4_999) == ["pro"])
    #expect(try names(bought, at: day(30) + 5_000) == [])
  }

  @Test func `the next change is when the right really ends`() throws {
    let bought = [lineage("1", [monthly("1", from: 0, to: 30, reason: "PURCHASE")])]
    let result = Entitlements.compute(bought, try sampleRules(), at: day(1))
    #expect(result.nextChange == day(30) + 5_000)
    #expect(result.entitlements.first?.expiresAt == day(30))
  }

  @Test func `a customer who switched renewal off gets no time for a late renewal`() throws {
    let off = lineage("1", [monthly("1", from: 0, to: 30)]) {
      $0.renewal = renewal { $0.autoRenewStatus = 0 }
    }
    #expect(try names([off], at: day(30) - 1) == ["pro"])
    #expect(try names([off], at: day(30)) == [])
  }

  @Test func `when Apple says expired nothing late is waited for`() throws {
    let expired = lineage("1", [monthly("1", from: 0, to: 30)]) {
      $0.renewal = renewal { _ in }
      $0.status = 2
    }
    #expect(try names([expired], at: day(30)) == [])
  }

  @Test func `grace keeps access until Apple's date and billing retry gives none`() throws {
    let grace = lineage("1", [monthly("1", from: 0, to: 30)]) {
      $0.renewal = renewal {
        $0.isInBillingRetryPeriod = true
        $0.gracePeriodExpiresDate = day(46)
      }
      $0.status = 4
    }
    #expect(try names([grace], at: day(46) - 1) == ["pro"])
    #expect(try names([grace], at: day(46)) == [])
    let retry = lineage("1", [monthly("1", from: 0, to: 30)]) {
      $0.renewal = renewal { $0.isInBillingRetryPeriod = true }
      $0.status = 3
    }
    #expect(try names([retry], at: day(30)) == [])
  }

  @Test func `a refund takes the refunded period and leaves the others`() throws {
    let early = [
      monthly("1", from: 0, to: 30, reason: "PURCHASE"),
      monthly("2", from: 29, to: 60) { $0.revocationDate = day(29) },
    ]
    #expect(try names([lineage("1", early)], at: day(29)) == ["pro"])
    #expect(try names([lineage("1", early)], at: day(31)) == [])
  }

  @Test func `an upgraded period counts no more, seen or not, nor when the upgrade is refunded`()
    throws
  {
    let upgrade = transaction(
      "2", "pro.yearly", "Auto-Renewable Subscription", on: 10, until: 375)
    let upgraded = [monthly("1", from: 0, to: 30, reason: "PURCHASE"), upgrade]
    let result = Entitlements.compute([lineage("1", upgraded)], try sampleRules(), at: day(11))
    #expect(result.entitlements.map(\.name) == ["extra", "pro"])
    #expect(result.entitlements.allSatisfy { $0.productId == "pro.yearly" })
    var refunded = upgraded
    refunded[1].revocationDate = day(12)
    #expect(try names([lineage("1", refunded)], at: day(13)) == [])
  }

  @Test func `a downgrade shows the pending product and changes nothing now`() throws {
    let downgraded = lineage(
      "1", [transaction("1", "pro.yearly", "Auto-Renewable Subscription", on: 0, until: 365)]
    ) {
      $0.renewal = renewal { $0.autoRenewProductId = "pro.monthly" }
    }
    let result = Entitlements.compute([downgraded], try sampleRules(), at: day(5))
    #expect(result.entitlements.map(\.productId) == ["pro.yearly", "pro.yearly"])
    #expect(result.entitlements.map(\.pendingProductId) == ["pro.monthly", "pro.monthly"])
  }

  @Test func `refund policy keep and at-expiry let a period run to its end`() throws {
    let refunded = [
      lineage("1", [monthly("1", from: 0, to: 30) { $0.revocationDate = day(3) }])
    ]
    #expect(try names(refunded, at: day(4)) == [])
    #expect(try names(refunded, at: day(4), policies: #"{"refundAccess": "at-expiry"}"#) == ["pro"])
    #expect(try names(refunded, at: day(4), policies: #"{"refundAccess": "keep"}"#) == ["pro"])
    let family = [
      lineage(
        "1",
        [
          monthly("1", from: 0, to: 30) {
            $0.revocationDate = day(3)
            $0.revocationType = "FAMILY_REVOKE"
          }
        ])
    ]
    #expect(try names(family, at: day(4), policies: #"{"refundAccess": "keep"}"#) == [])
  }

  @Test func `the best of several grantors shows and losing one takes nothing`() throws {
    let short = lineage("1", [monthly("1", from: 0, to: 30, reason: "PURCHASE")])
    let long = lineage(
      "2", [transaction("2", "pro.yearly", "Auto-Renewable Subscription", on: 0, until: 365)])
    let both = Entitlements.compute([short, long], try sampleRules(), at: day(1)).entitlements
    #expect(both.first { $0.name == "pro" }?.productId == "pro.yearly")
    #expect(try names([short, long], at: day(100)) == ["extra", "pro"])
  }

  @Test(arguments: [
    (1, "FREE_TRIAL", "trial"), (1, "PAY_UP_FRONT", "introductory"),
    (2, "PAY_AS_YOU_GO", "promotional"),
    (3, "FREE_TRIAL", "offer-code"), (4, "FREE_TRIAL", "win-back"),
  ])
  func `the period type names the offer`(type: Int64, mode: String, expected: String) throws {
    let offered = lineage(
      "1",
      [
        monthly("1", from: 0, to: 30) {
          $0.offerType = type
          $0.offerDiscountType = mode
        }
      ])
    let result = Entitlements.compute([offered], try sampleRules(), at: day(1))
    #expect(result.entitlements.map(\.periodType) == [expected])
  }

  @Test func `sandbox purchases give nothing where the policy says none`() throws {
    let bought = [lineage("1", [monthly("1", from: 0, to: 30)])]
    #expect(try names(bought, at: day(1), policies: #"{"sandbox": "none"}"#) == [])
  }

  @Test func `a product that the catalog does not know gives nothing`() throws {
    let unknown = lineage(
      "1", [transaction("1", "gold", "Auto-Renewable Subscription", on: 0, until: 30)])
    #expect(try names([unknown], at: day(1)) == [])
  }
}
