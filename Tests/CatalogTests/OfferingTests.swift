import Testing

@testable import Catalog

@Suite("Offerings, versions and languages")
struct OfferingTests {
  private static let products = """
    "products": {
      "pro.monthly": {"kind": "auto-renewable", "displayPrice": "9.99",
        "subscription": {"group": "Pro", "level": 1, "period": "P1M"}},
      "pro.new": {"kind": "auto-renewable", "displayPrice": "5.99", "appVersions": {"from": "2.10"},
        "subscription": {"group": "Pro", "level": 1, "period": "P1M"}},
      "coins.old": {"kind": "consumable", "displayPrice": "0.99", "sold": false,
        "localizations": [{"locale": "en_US", "displayName": "Coins"}, {"locale": "de", "displayName": "Münzen"},
          {"locale": "zh_Hans", "displayName": "金币"}],
        "prices": {"DEU": {"displayPrice": "1.19", "currency": "EUR"}}, "metadata": {"badge": "old"}}
    }
    """

  private func catalog(_ offerings: String) throws -> Catalog {
    try makeCatalog("{\(Self.products), \"offerings\": \(offerings)}")
  }

  @Test(
    arguments: [
      ("2.0", "2", 0), ("2.10", "2.9", 1), ("1.9.9", "2", -1), ("0", "0.0.0", 0), ("10", "9.99", 1),
    ])
  func `versions compare number by number`(one: String, other: String, order: Int) throws {
    let (one, other) = (try #require(AppVersion(one)), try #require(AppVersion(other)))
    #expect(
      (one < other) == (order < 0) && (one > other) == (order > 0) && (one == other) == (order == 0)
    )
  }

  @Test(arguments: [
    "", ".", "1.", "v2", "1.2-beta", "1..2", "1.2.3.4.5.6.7", "1234567890", "-1", "１",
  ])
  func `what is no version is none`(text: String) { #expect(AppVersion(text) == nil) }

  @Test func `an app sees what its version may sell, and an unknown version what all may`() throws {
    let catalog = try catalog("[]")
    #expect(catalog.products(for: AppVersion("2.9")).map(\.id) == ["pro.monthly"])
    #expect(catalog.products(for: AppVersion("2.10")).map(\.id) == ["pro.monthly", "pro.new"])
    #expect(catalog.products(for: nil).map(\.id) == ["pro.monthly"])
    #expect(catalog.product("coins.old") != nil, "its buyers keep what it gave")
  }

  @Test func `the offering is that of the placement, or the default, that the version may show`()
    throws
  {
    let catalog = try catalog(
      """
      [{"id": "new", "placements": ["onboarding"], "packages": [{"id": "monthly", "product": "pro.new"}]},
       {"id": "old", "placements": ["onboarding", "settings"],
        "packages": [{"id": "monthly", "product": "pro.monthly"}]},
       {"id": "gone", "placements": ["coins"], "packages": [{"id": "c", "product": "coins.old"}]},
       {"id": "main", "default": true, "packages": [{"id": "monthly", "product": "pro.monthly"}]}]
      """)
    let (old, new) = (AppVersion("2.9"), AppVersion("2.10"))
    #expect(catalog.offering(placement: "onboarding", for: new)?.id == "new")
    #expect(catalog.offering(placement: "onboarding", for: old)?.id == "old")
    #expect(catalog.offering(placement: "settings", for: old)?.id == "old")
    #expect(catalog.offering(placement: "elsewhere", for: old)?.id == "main")
    #expect(catalog.offering(placement: nil, for: old)?.id == "main")
    #expect(
      catalog.offering(placement: "coins", for: old)?.id == "main", "it sells what is not sold")
    #expect(catalog.offerings(for: old).map(\.id) == ["old", "main"])
  }

  @Test(
    arguments: [
      (["de-at", "en"], "de"), (["en"], "en_US"), (["zh-hans-cn"], "zh_Hans"), (["fr"], "en_US"),
      (["fr", "*"], "en_US"), ([], "en_US"), (["fr", "de"], "de"),
    ] as [([String], String)])
  func `the language is the first that is wanted and there`(wanted: [String], locale: String) throws
  {
    let product = try #require(try catalog("[]").product("coins.old"))
    #expect(product.localization(for: wanted, otherwise: nil)?.locale == locale)
    #expect(product.localization(for: ["fr"], otherwise: "de")?.locale == "de")
  }

  @Test(
    arguments: [
      (#"[{"packages": []}]"#, "offerings[0].id"),
      (#"[{"id": "a"}]"#, "offerings[0].packages"),
      (#"[{"id": "a", "packages": []}]"#, "offerings[0].packages"),
      (#"[{"id": "A b", "packages": [{"id": "m", "product": "pro.new"}]}]"#, "offerings[0].id"),
      (
        #"[{"id": "a", "packages": [{"id": "m", "product": "none"}]}]"#,
        "offerings[0].packages[0].product"
      ),
      (#"[{"id": "a", "packages": [{"product": "pro.new"}]}]"#, "offerings[0].packages[0].id"),
      (
        #"[{"id": "a", "pakages": 1, "packages": [{"id": "m", "product": "pro.new"}]}]"#,
        "offerings[0].pakages"
      ),
      (
        #"[{"id": "a", "packages": [{"id": "m", "product": "pro.new"}, {"id": "m", "product": "pro.new"}]}]"#,
        "offerings[0].packages[1].id"
      ),
      (
        #"[{"id": "a", "packages": [{"id": "m", "product": "pro.new"}]}, {"id": "a", "packages": [{"id": "m", "product": "pro.new"}]}]"#,
        "offerings[1].id"
      ),
      (
        #"[{"id": "a", "default": true, "packages": [{"id": "m", "product": "pro.new"}]}, {"id": "b", "default": true, "packages": [{"id": "m", "product": "pro.new"}]}]"#,
        "offerings[1].default"
      ),
      (
        #"[{"id": "a", "appVersions": {"from": "3", "to": "2"}, "packages": [{"id": "m", "product": "pro.new"}]}]"#,
        "offerings[0].appVersions"
      ),
      (
        #"[{"id": "a", "placements": ["x", "x"], "packages": [{"id": "m", "product": "pro.new"}]}]"#,
        "offerings[0].placements[1]"
      ),
      (
        #"[{"id": "a", "metadata": {"k": 1}, "packages": [{"id": "m", "product": "pro.new"}]}]"#,
        "offerings[0].metadata.k"
      ),
    ])
  func `a malformed offering is refused with its place`(offerings: String, path: String) throws {
    let found = faults(in: "{\(Self.products), \"offerings\": \(offerings)}")
    #expect(found.map(\.path) == [path])
    #expect(found.allSatisfy { $0.line != nil && !$0.remedy.isEmpty })
  }

  @Test(
    arguments: [
      (#""sold": "no""#, "sold"), (#""appVersions": {"from": "two"}"#, "appVersions.from"),
      (#""appVersions": {"since": "2"}"#, "appVersions.since"),
      (#""prices": {"de": {"displayPrice": "1", "currency": "EUR"}}"#, "prices.de"),
      (#""prices": {"DEU": {"displayPrice": "1"}}"#, "prices.DEU.currency"),
      (
        #""prices": {"DEU": {"displayPrice": "1,19", "currency": "EUR"}}"#,
        "prices.DEU.displayPrice"
      ),
      (#""prices": {"DEU": {"displayPrice": "1", "currency": "€"}}"#, "prices.DEU.currency"),
      (#""metadata": []"#, "metadata"), (#""metadata": {"a": null}"#, "metadata.a"),
      (#""localizations": [{"locale": "de"}]"#, "localizations[0].displayName"),
      (
        #""localizations": [{"locale": "de", "displayName": "a"}, {"locale": "de", "displayName": "b"}]"#,
        "localizations[1].locale"
      ),
      (
        #""localizations": [{"locale": "en_US", "displayName": "a"}, {"locale": "en-us", "displayName": "b"}]"#,
        "localizations[1].locale"
      ),
    ])
  func `how a product is shown and sold is checked`(entry: String, path: String) {
    let found = faults(
      in: #"{"products": {"a": {"kind": "consumable", "displayPrice": "1", \#(entry)}}}"#)
    #expect(found.map(\.path) == ["products.a.\(path)"])
  }

  @Test(
    arguments: [
      (#"{"promotional": [{"paymentMode": "free", "period": "P1W"}]}"#, "promotional[0].id"),
      (
        #"{"introductory": [{"paymentMode": "gift", "period": "P1W"}]}"#,
        "introductory[0].paymentMode"
      ),
      (#"{"introductory": [{"paymentMode": "free"}]}"#, "introductory[0].period"),
      (
        #"{"introductory": [{"paymentMode": "payUpFront", "period": "P1W"}]}"#,
        "introductory[0].displayPrice"
      ),
      (
        #"{"introductory": [{"paymentMode": "free", "period": "P1W", "displayPrice": "1"}]}"#,
        "introductory[0].displayPrice"
      ),
      (
        #"{"introductory": [{"paymentMode": "free", "period": "P1W", "stackable": true}]}"#,
        "introductory[0].stackable"
      ),
      (
        #"{"codes": [{"paymentMode": "free", "period": "P1W", "eligibility": ["old"]}]}"#,
        "codes[0].eligibility"
      ),
      (#"{"winback": []}"#, "winback"),
    ])
  func `an offer is checked`(offers: String, path: String) {
    let found = faults(
      in: """
        {"products": {"a": {"kind": "auto-renewable", "displayPrice": "1",
          "subscription": {"group": "G", "level": 1, "period": "P1M", "offers": \(offers)}}}}
        """)
    #expect(found.map(\.path) == ["products.a.subscription.offers.\(path)"])
  }
}
