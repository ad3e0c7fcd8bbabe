import Catalog
import Events
import TestSupport
import Testing

@testable import entitlement_service

@Suite("One-time purchases give rights") struct OneTimeRulesTests {
  private func compute(_ lineages: [LineageState], at now: Int64) throws -> Entitlements.Result {
    Entitlements.compute(lineages, try sampleRules(), at: now)
  }

  @Test func `a non-consumable gives its right without end`() throws {
    let bought = lineage("1", [transaction("1", "themes.all", "Non-Consumable", on: 0)])
    let result = try compute([bought], at: day(10_000))
    #expect(result.entitlements.map(\.name) == ["themes"])
    #expect(result.entitlements.first?.expiresAt == nil)
    #expect(result.nextChange == nil)
  }

  @Test func `a refund ends a non-consumable unless it was bought again later`() throws {
    let refunded = transaction("1", "themes.all", "Non-Consumable", on: 0) {
      $0.revocationDate = day(2)
    }
    let again = transaction("2", "themes.all", "Non-Consumable", on: 5)
    #expect(try compute([lineage("1", [refunded])], at: day(3)).entitlements.isEmpty)
    #expect(try compute([lineage("1", [refunded, again])], at: day(6)).entitlements.count == 1)
  }

  @Test func `two purchases of a non-renewing product run one after the other`() throws {
    let first = lineage("1", [transaction("1", "season.pass", "Non-Renewing Subscription", on: 0)])
    let second = lineage(
      "2", [transaction("2", "season.pass", "Non-Renewing Subscription", on: 30)])
    let result = try compute([second, first], at: day(31))
    #expect(result.entitlements.map(\.expiresAt) == [day(180)])
    #expect(result.entitlements.map(\.startedAt) == [day(0)])
    #expect(try compute([first, second], at: day(180)).entitlements.isEmpty)
  }

  @Test func `a non-renewing purchase after a gap starts anew`() throws {
    let first = lineage("1", [transaction("1", "season.pass", "Non-Renewing Subscription", on: 0)])
    let second = lineage(
      "2", [transaction("2", "season.pass", "Non-Renewing Subscription", on: 200)])
    let result = try compute([first, second], at: day(201))
    #expect(result.entitlements.map(\.startedAt) == [day(200)])
    #expect(result.entitlements.map(\.expiresAt) == [day(290)])
  }

  @Test func `a refunded non-renewing purchase shortens what was stacked`() throws {
    let first = lineage(
      "1",
      [
        transaction("1", "season.pass", "Non-Renewing Subscription", on: 0) {
          $0.revocationDate = day(1)
        }
      ])
    let second = lineage(
      "2", [transaction("2", "season.pass", "Non-Renewing Subscription", on: 30)])
    #expect(try compute([first, second], at: day(31)).entitlements.map(\.expiresAt) == [day(120)])
  }

  @Test func `a consumable gives no right`() throws {
    let bought = lineage("1", [transaction("1", "coins.100", "Consumable", on: 0)])
    #expect(try compute([bought], at: day(1)).entitlements.isEmpty)
  }
}
