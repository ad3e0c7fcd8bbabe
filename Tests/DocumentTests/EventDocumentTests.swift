import Events
import Testing

@Suite("The page for subscribers") struct EventDocumentTests {
  private static let page = Document("docs/events/README.md")
  private static let spans = Set(page.spans.map(\.text))

  @Test(arguments: [
    "entitlement.updated", "balance.changed", "grant.removed", "entitlements.customer-merged",
    "entitlements.customer-erased", "consumption.reported", "customer.state",
  ])
  func `it explains every field of the events`(event: String) {
    let golden = Repository.text("Tests/Fixtures/events/\(event).v1.json")
    let keys = Repository.quoted(in: golden).enumerated().compactMap { index, text in
      golden.contains("\"\(text)\":") ? text : nil
    }
    #expect(Set(keys).count > 5)
    let missing = Set(keys).subtracting(Self.spans)
    #expect(missing.sorted() == [])
  }

  @Test(arguments: [
    EventType.entitlementActivated, .entitlementUpdated, .entitlementDeactivated, .balanceChanged,
    .grantCreated, .grantRemoved, .entitlementsMerged, .entitlementsErased, .consumptionReported,
    .customerState,
  ])
  func `it names every type of event`(type: EventType) {
    #expect(Self.spans.contains(type.rawValue))
  }

  @Test func `it names no type that is not published`() {
    let known = Set(Repository.literals(after: "EventType(rawValue: "))
      .union(Repository.literals(after: "EventType(\n    rawValue: "))
    let named = Self.spans.filter { $0.hasPrefix("purser.") && $0.hasSuffix(".v1") }
    #expect(named.isSubset(of: known))
    #expect(!named.isEmpty)
  }
}
