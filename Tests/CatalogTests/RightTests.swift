import Catalog
import Testing

@Suite("Rights and credits with dates") struct RightTests {
  private func product(_ gives: String) throws -> Product? {
    try Catalog(
      json: Array(
        """
        {"products": {"pro": {"kind": "auto-renewable", "displayPrice": "9.99", \(gives),
          "subscription": {"group": "Pro", "level": 1, "period": "P1M"}}}}
        """.utf8)
    ).product("pro")
  }

  private func faults(_ gives: String) -> [String] {
    let error = #expect(throws: CatalogError.self) { try product(gives) }
    guard case .faults(let faults)? = error else { return [] }
    return faults.map { "\($0.path) \($0.problem)" }
  }

  @Test func `a right may have dates, in days or in times of day, at UTC`() throws {
    let product = try product(
      """
      "entitlements": ["pro", {"name": "extra", "from": "2024-02-29", "until": "2024-03-01T12:30:15Z",
        "boughtFrom": "1970-01-01", "boughtUntil": "2027-01-01"}]
      """)
    #expect(product?.entitlements == ["pro", "extra"])
    #expect(product?.rights.first == Right(name: "pro"))
    #expect(
      product?.rights.last
        == Right(
          name: "extra", from: 1_709_164_800_000, until: 1_709_296_215_000, boughtFrom: 0,
          boughtUntil: 1_798_761_600_000))
  }

  @Test func `a right is for those who bought from one time and before another`() {
    let right = Right(name: "old", boughtFrom: 10, boughtUntil: 20)
    #expect([9, 10, 19, 20].map { right.isFor(boughtAt: $0) } == [false, true, true, false])
    #expect(Right(name: "all").isFor(boughtAt: Int64.min))
  }

  @Test func `a credit may expire after a time or with its period`() throws {
    let product = try product(
      """
      "credits": {"coins": 100, "boosts": {"amount": 5, "expiresAfter": "P30D"},
        "lives": {"amount": 3, "expiresAfter": "period", "boughtFrom": "1970-01-02"}}
      """)
    #expect(
      product?.credits == [
        Credit(unit: "coins", amount: 100),
        Credit(unit: "boosts", amount: 5, expiry: Period(30, .day).map(Credit.Expiry.after)),
        Credit(unit: "lives", amount: 3, expiry: .withPeriod, boughtFrom: 86_400_000),
      ])
  }

  @Test func `an exported catalog has the same dates and ends`() throws {
    let gives = """
      "entitlements": ["pro", {"name": "extra", "from": "2024-02-29",
        "until": "2024-03-01T12:30:15Z", "boughtUntil": "2027-01-01"}],
      "credits": {"coins": 100, "boosts": {"amount": 5, "expiresAfter": "P30D"},
        "lives": {"amount": 3, "expiresAfter": "period", "boughtFrom": "1970-01-02"}}
      """
    let catalog = try Catalog(
      json: Array(
        """
        {"products": {"pro": {"kind": "auto-renewable", "displayPrice": "9.99", \(gives),
          "subscription": {"group": "Pro", "level": 1, "period": "P1M"}}}}
        """.utf8))
    let storeKit = Array(catalog.storeKitText.utf8)
    let exported = try Catalog(json: Array(catalog.catalogText(storeKit: "S.storekit").utf8)) {
      (_) throws(CatalogError) in storeKit
    }
    #expect(exported.product("pro")?.rights == catalog.product("pro")?.rights)
    #expect(exported.product("pro")?.credits == catalog.product("pro")?.credits)
  }

  @Test(arguments: [
    (#""entitlements": [{"name": "a", "from": "2026-02-29"}]"#, "from is \"2026-02-29\", no time"),
    (#""entitlements": [{"name": "a", "from": "2026-1-1"}]"#, "from is \"2026-1-1\", no time"),
    (
      #""entitlements": [{"name": "a", "until": "2026-01-01T25:00:00Z"}]"#,
      "until is \"2026-01-01T25:00:00Z\", no time"
    ),
    (
      #""entitlements": [{"name": "a", "from": "2026-01-02", "until": "2026-01-02"}]"#,
      "until is not after from"
    ),
    (#""entitlements": [{"from": "2026-01-02"}]"#, "name is missing"),
    (#""entitlements": [7]"#, "is a number"),
    (#""entitlements": ["a", "a"]"#, "\"a\" stands here twice"),
    (#""credits": {"coins": {"expiresAfter": "P1M"}}"#, "amount is missing"),
    (#""credits": {"coins": {"amount": 0}}"#, "amount is 0"),
    (#""credits": {"coins": {"amount": 1, "expiresAfter": "soon"}}"#, "is \"soon\", no period"),
    (#""credits": {"coins": {"amount": 1, "expires": "P1M"}}"#, "expires is an unknown key"),
  ])
  func `a wrong date or credit is told with its place`(gives: String, fault: String) {
    let found = faults(gives)
    #expect(found.count == 1 && found.allSatisfy { $0.hasSuffix(fault) }, "\(found)")
  }
}
