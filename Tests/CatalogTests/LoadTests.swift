import Catalog
import Testing

@Suite("Loading a catalog")
struct LoadTests {
  @Test func `the demo catalog gives coins, themes, a season and pro`() throws {
    let catalog = try Catalog.load(path: TestFiles.demo("catalog.json"))
    #expect(
      catalog.orderedProducts.map(\.id) == [
        "coins.100", "themes.all", "season.pass", "pro.monthly", "pro.yearly",
      ])
    #expect(catalog.orderedProducts.map(\.priceMilliunits) == [990, 4_990, 14_990, 9_990, 59_990])
    #expect(catalog.product("coins.100")?.credits == [Credit(unit: "coins", amount: 100)])
    #expect(catalog.product("themes.all")?.entitlements == ["themes"])
    #expect(catalog.product("season.pass")?.entitlements == ["season"])
    #expect(catalog.product("season.pass")?.length == Period("P90D"))
    let monthly = try #require(catalog.product("pro.monthly"))
    let yearly = try #require(catalog.product("pro.yearly"))
    #expect(monthly.entitlements == ["pro"] && yearly.entitlements == ["pro"])
    #expect(monthly.subscription?.level == 2 && yearly.subscription?.level == 1)
    #expect(monthly.subscription?.groupID == yearly.subscription?.groupID)
    #expect(monthly.subscription?.groupName == "Pro")
    #expect(monthly.subscription?.period == Period("P1M"))
    #expect(yearly.subscription?.period == Period("P1Y"))
    let trial = try #require(monthly.subscription?.introductoryOffers.first)
    #expect(trial.paymentMode == .free && trial.period == Period("P1W"))
    #expect(yearly.subscription?.introductoryOffers == [])
    #expect(catalog.settings?.storefront == "USA")
  }

  @Test func `the demo's .storekit file loads alone`() throws {
    let catalog = try Catalog.load(path: TestFiles.demo("Store.storekit"))
    #expect(catalog.product("pro.yearly")?.entitlements == ["pro"])
    #expect(catalog.product("themes.all")?.entitlements == ["themes.all"])
  }

  @Test func `the same bytes give equal catalogs`() throws {
    let bytes = try TestFiles.bytes(TestFiles.storeKit("v3-purchase-tester-offers"))
    #expect(try Catalog(storeKit: bytes) == Catalog(storeKit: bytes, file: "another name"))
  }

  @Test func `the .storekit file is found beside the catalog`() throws {
    try TestFiles.withFolder { folder in
      let path = "\(folder)/catalog.json"
      try TestFiles.write(#"{"storekit": "My Store.storekit"}"#, to: path)
      #expect(throws: CatalogError.self) { try Catalog.load(path: path) }
      try TestFiles.write(
        #"{"version": {"major": 5}, "products": [], "subscriptionGroups": []}"#,
        to: "\(folder)/My Store.storekit")
      #expect(try Catalog.load(path: path).settings?.majorVersion == 5)
    }
  }

  @Test func `a file that is not there is named`() throws {
    try TestFiles.withFolder { folder in
      let path = "\(folder)/none.json"
      #expect(throws: CatalogError.unreadable(path: path, reason: "there is no such file")) {
        try Catalog.load(path: path)
      }
      try TestFiles.write(#"{"storekit": "gone.storekit"}"#, to: path)
      let gone = "\(folder)/gone.storekit"
      #expect(throws: CatalogError.unreadable(path: gone, reason: "there is no such file")) {
        try Catalog.load(path: path)
      }
      #expect(throws: CatalogError.unreadable(path: folder, reason: "it cannot be read")) {
        try Catalog.load(path: folder)
      }
    }
  }

  @Test func `every error says what to do`() {
    let errors: [CatalogError] = [
      .unreadable(path: "a", reason: "b"), .tooLarge(path: "a"),
      .invalidJSON(file: "a", line: 2, column: 3, problem: "c"),
      .faults([
        Fault(file: "f", line: 4, path: "p", problem: "is x", remedy: "write y"),
        Fault(path: "q", problem: "is z", remedy: "remove it"),
      ]),
    ]
    #expect(
      errors.map(\.description) == [
        "cannot read the file a: b; check the path and its permissions",
        "the file a has more than 8388608 bytes; name the right file",
        "a:2:3: not valid JSON: c; correct the file there",
        "f:4: p: is x; write y\nq: is z; remove it",
      ])
  }
}
