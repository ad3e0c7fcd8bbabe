import Catalog
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

/// One policy, what happens under it, and what the customer has on some days.
struct PolicyRow: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let policies: String
  let lineages: [LineageState]
  /// On which day which rights.
  let rights: [Int64: [String]]
}

private func refunded(_ product: String, _ type: String, until expires: Int64? = nil)
  -> LineageState
{
  lineage(
    "1",
    [
      transaction("1", product, type, on: 0, until: expires) {
        $0.revocationDate = day(3)
        $0.revocationType = "REFUND_FULL"
      }
    ])
}

private let subscription = refunded("pro.monthly", "Auto-Renewable Subscription", until: 30)
private let lifetime = refunded("themes.all", "Non-Consumable")
private let season = refunded("season.pass", "Non-Renewing Subscription")
private let lapsed = [
  lineage("1", [monthly("1", from: 0, to: 30, reason: "PURCHASE")])
]

private let rows: [PolicyRow] = [
  PolicyRow(
    testDescription: "refundAccess immediately ends what was refunded, of every kind",
    policies: #"{"refundAccess": "immediately"}"#, lineages: [subscription],
    rights: [3: [], 20: []]),
  PolicyRow(
    testDescription: "immediately, a non-consumable",
    policies: #"{"refundAccess": "immediately"}"#, lineages: [lifetime], rights: [3: []]),
  PolicyRow(
    testDescription: "immediately, a non-renewing purchase",
    policies: #"{"refundAccess": "immediately"}"#, lineages: [season], rights: [3: []]),
  PolicyRow(
    testDescription: "refundAccess at-expiry lets a period run to its end",
    policies: #"{"refundAccess": "at-expiry"}"#, lineages: [subscription],
    rights: [3: ["pro"], 29: ["pro"], 31: []]),
  PolicyRow(
    testDescription: "at-expiry, what has no end ends at once",
    policies: #"{"refundAccess": "at-expiry"}"#, lineages: [lifetime], rights: [3: []]),
  PolicyRow(
    testDescription: "at-expiry, a non-renewing purchase runs to the end of its length",
    policies: #"{"refundAccess": "at-expiry"}"#, lineages: [season],
    rights: [3: ["season"], 89: ["season"], 90: []]),
  PolicyRow(
    testDescription: "refundAccess keep takes nothing, and renews nothing either",
    policies: #"{"refundAccess": "keep"}"#, lineages: [subscription],
    rights: [3: ["pro"], 29: ["pro"], 31: []]),
  PolicyRow(
    testDescription: "keep, a non-consumable stays",
    policies: #"{"refundAccess": "keep"}"#, lineages: [lifetime], rights: [9999: ["themes"]]),
  PolicyRow(
    testDescription: "sandbox grant gives rights of the sandbox",
    policies: #"{"sandbox": "grant"}"#, lineages: lapsed, rights: [1: ["pro"]]),
  PolicyRow(
    testDescription: "sandbox none gives none",
    policies: #"{"sandbox": "none"}"#, lineages: lapsed, rights: [1: []]),
  PolicyRow(
    testDescription: "sandbox listed gives them to who is listed",
    policies: #"{"sandbox": "listed", "sandboxCustomers": ["qa-1", "alice"]}"#, lineages: lapsed,
    rights: [1: ["pro"]]),
  PolicyRow(
    testDescription: "sandbox listed gives none to others",
    policies: #"{"sandbox": "listed", "sandboxCustomers": ["qa-1"]}"#, lineages: lapsed,
    rights: [1: []]),
  PolicyRow(
    testDescription: "lateRenewal keeps a right that may still be renewed, here for two days",
    policies: #"{"lateRenewal": 86400}"#, lineages: lapsed, rights: [30: ["pro"], 31: []]),
  PolicyRow(
    testDescription: "without lateRenewal it ends to the millisecond",
    policies: #"{"lateRenewal": 0}"#, lineages: lapsed, rights: [29: ["pro"], 30: []]),
]

@Suite("Policies, row by row") struct PolicyTableTests {
  @Test(arguments: rows)
  func `a policy decides what its table says`(row: PolicyRow) throws {
    let rules = try sampleRules(policies: row.policies)
    for (number, rights) in row.rights.sorted(by: { $0.key < $1.key }) {
      let result = Entitlements.compute(row.lineages, rules, at: day(number))
      #expect(result.entitlements.map(\.name) == rights, "on day \(number)")
    }
  }

  @Test func `a refund under keep still shows that it was refunded`() throws {
    let result = Entitlements.compute(
      [lifetime], try sampleRules(policies: #"{"refundAccess": "keep"}"#), at: day(5))
    #expect(result.entitlements.first?.refundedAt == day(3))
    #expect(result.entitlements.first?.isActive == true)
  }

  @Test func `the end of family sharing counts at once, whatever the refund policy`() throws {
    let shared = lineage(
      "1",
      [
        monthly("1", from: 0, to: 30) {
          $0.revocationDate = day(3)
          $0.inAppOwnershipType = "FAMILY_SHARED"
        }
      ])
    for word in ["keep", "at-expiry"] {
      let rules = try sampleRules(policies: #"{"refundAccess": "\#(word)"}"#)
      #expect(Entitlements.compute([shared], rules, at: day(4)).entitlements.isEmpty)
    }
  }

  @Test func `production and sandbox stand apart, each under its own policy`() throws {
    var production = lineage("2", [monthly("2", from: 0, to: 30, reason: "PURCHASE")])
    production.lineage = LineageID(
      bundleId: "com.example.app", environment: "Production", originalTransactionId: "2")
    let rules = try sampleRules(policies: #"{"sandbox": "none"}"#)
    let result = Entitlements.compute(lapsed + [production], rules, at: day(1))
    #expect(result.entitlements.map(\.environment) == ["Production"])
    let both = Entitlements.compute(lapsed + [production], try sampleRules(), at: day(1))
    #expect(both.entitlements.map(\.environment) == ["Production", "Sandbox"])
  }

  @Test(arguments: [("floor", 0, 70), ("debt", -70, 0)])
  func `refundBalance takes to zero or into debt`(policy: String, left: Int64, short: Int64)
    async throws
  {
    let service = try TestService(policies: #"{"refundBalance": "\#(policy)"}"#)
    let bought = transaction("8", "coins.100", "Consumable", on: 0)
    try await service.read(lineage("8", [bought]))
    let spent = try await service.request(
      .post, "/v1/customers/alice/spends", #"{"units": {"coins": 70}, "environment": "Sandbox"}"#,
      key: "k")
    #expect(spent.status == 201)
    var refunded = bought
    refunded.revocationDate = day(1)
    try await service.read(lineage("8", [refunded], revision: 2))
    #expect(try await service.state("alice").balances == ["coins": left])
    let suffix = short > 0 ? " short \(short)" : ""
    #expect(
      try await service.told().last == "alice coins -\(short > 0 ? 30 : 100) = \(left)\(suffix)")

    // A reversal gives back what was taken, and the next purchase counts in full.
    try await service.read(lineage("8", [bought], revision: 3))
    #expect(try await service.state("alice").balances == ["coins": 30])
    #expect(try await service.wrongBalances() == [])
  }
}
