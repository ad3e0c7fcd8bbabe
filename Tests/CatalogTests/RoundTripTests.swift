import Testing

@testable import Catalog

@Suite("Export and import")
struct RoundTripTests {
  static let files = [
    "v1-flutter-iap", "v2-storekit2-demo", "v2-openiap-consumables", "v3-apple-backyard-birds",
    "v3-purchase-tester-offers", "v4-flutter-winback", "v4-paywalls-locales", "v4-empty",
    "v5-unit-tests-billing-plans", "v5-storekithelper-code-offer",
  ]

  /// Settings but for the version of the file, which is written as 4 or 5 whatever it was.
  private func words(_ settings: StoreKitSettings?) -> [String] {
    guard let settings else { return [] }
    return [
      "\(String(describing: settings.storefront)) \(String(describing: settings.locale))",
      "\(String(describing: settings.timeRate)) \(String(describing: settings.askToBuyEnabled))",
      "\(String(describing: settings.failTransactionsEnabled)) \(settings.errors)",
      "\(String(describing: settings.applicationID)) \(String(describing: settings.developerTeamID))",
      "\(String(describing: settings.billingGracePeriodEnabled))",
    ]
  }

  @Test(arguments: files)
  func `a public file that is written and read again is the same catalog`(name: String) throws {
    let path = TestFiles.storeKit(name)
    let original = try Catalog(storeKit: TestFiles.bytes(path), file: path)
    let text = original.storeKitText
    let read = try Catalog(storeKit: Array(text.utf8), file: "written")
    #expect(read.products == original.products)
    #expect(read.orderedProducts.map(\.id) == original.orderedProducts.map(\.id))
    #expect(words(read.settings) == words(original.settings))
    #expect((4...5).contains(try #require(read.settings).majorVersion))
    #expect(read.storeKitText == text, "writing again writes the same")
    #expect(!text.contains("privateKey"))
    // Xcode tells things apart by these.
    let ids = text.split(separator: "\"internalID\"").dropFirst().compactMap {
      $0.split(separator: "\"").dropFirst().first
    }
    #expect(Set(ids).count == ids.count)
  }

  @Test func `a catalog with all that there is comes back from its two files`() throws {
    let json = """
      {"products": {
        "pro": {"kind": "auto-renewable", "displayPrice": "9.99", "referenceName": "Pro \\"1\\"\\n",
          "familyShareable": true, "entitlements": ["pro", "extra"], "credits": {"coins": 5},
          "localizations": [{"locale": "en_US", "displayName": "Pro", "description": "All"}],
          "subscription": {"group": "Pro Plan", "groupID": "21", "level": 2, "period": "P1M", "offers": {
            "introductory": [{"paymentMode": "free", "period": "P1W"},
              {"paymentMode": "payUpFront", "period": "P6M", "displayPrice": "20"}],
            "promotional": [{"id": "back", "paymentMode": "payAsYouGo", "period": "P1M", "periods": 3, "displayPrice": "4.99"}],
            "codes": [{"referenceName": "spring", "paymentMode": "free", "period": "P1M", "eligibility": ["new", "expired"], "stackable": true}],
            "winBack": [{"id": "again", "paymentMode": "payUpFront", "period": "P1Y", "displayPrice": "30"}]}}},
        "pass": {"kind": "non-renewing", "displayPrice": "14.99", "entitlements": ["season"], "length": "P90D"},
        "theme": {"kind": "non-consumable", "displayPrice": "4.99", "entitlements": [], "sold": false,
          "appVersions": {"from": "1.2", "to": "3.0"}, "metadata": {"b": "2", "a": "ü\\u0001"}},
        "coins": {"kind": "consumable", "displayPrice": "0.99", "credits": {"coins": 100, "gems": 1},
          "prices": {"DEU": {"displayPrice": "1.19", "currency": "EUR"}, "JPN": {"displayPrice": "160", "currency": "JPY"}}}
       },
       "offerings": [
        {"id": "main", "default": true, "description": "The usual", "metadata": {"title": "Go"},
         "packages": [{"id": "monthly", "product": "pro"}, {"id": "coins", "product": "coins"}]},
        {"id": "new", "placements": ["start", "menu"], "appVersions": {"from": "2"},
         "packages": [{"id": "monthly", "product": "pro"}]}]}
      """
    let original = try makeCatalog(json)
    let read = try makeCatalog(
      original.catalogText(storeKit: "S.storekit"), storeKit: original.storeKitText)
    #expect(read.products == original.products)
    #expect(read.offerings == original.offerings)
    #expect(original.products.count == 4 && original.offerings.count == 2)
    #expect(
      read.catalogText(storeKit: "S")
        == (try makeCatalog(read.catalogText(storeKit: "S"), storeKit: read.storeKitText))
        .catalogText(storeKit: "S"))
  }
}
