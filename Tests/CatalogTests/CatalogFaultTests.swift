import Catalog
import Testing

@Suite("Faults of catalog.json")
struct CatalogFaultTests {
  private let store = """
    {"version": {"major": 4, "minor": 0}, "subscriptionGroups": [], "products": [
       {"productID": "coins", "type": "Consumable", "displayPrice": "0.99"},
       {"productID": "themes", "type": "NonConsumable", "displayPrice": "4.99"},
       {"productID": "odd", "type": "Gift", "displayPrice": "4.99"}]}
    """

  @Test(arguments: [
    (#""credits": {"coins": 0}"#, "credits.coins"),
    (#""credits": {"coins": -1}"#, "credits.coins"),
    (#""credits": {"coins": 1.5}"#, "credits.coins"),
    (#""credits": {"coins": 1000000000001}"#, "credits.coins"),
    (#""credits": {"coins": 99999999999999999999}"#, "credits.coins"),
    (#""credits": {"coins": "100"}"#, "credits.coins"),
    (#""credits": {"coins": null}"#, "credits.coins"),
    (#""credits": {"Coins": 1}"#, "credits.Coins"),
    (#""credits": {"": 1}"#, "credits."),
    (#""credits": {"coins": 1, "coins": 2}"#, "credits.coins"),
    (#""credits": ["coins"]"#, "credits"),
    (#""entitlements": ["pro"]"#, "entitlements"),
    (#""length": "P1M""#, "length"),
    (#""credit": {"coins": 1}"#, "credit"),
    (#""subscription": {"group": "a", "level": 1, "period": "P1M"}"#, "subscription"),
    (#""displayPrice": "1,5""#, "displayPrice"),
    (#""displayPrice": 1.5"#, "displayPrice"),
    (#""displayPrice": "1.2345""#, "displayPrice"),
    (#""displayPrice": "-1""#, "displayPrice"),
    (#""displayPrice": "1.""#, "displayPrice"),
    (#""displayPrice": """#, "displayPrice"),
    (
      #""localizations": [{"locale": "en", "displayName": "C", "title": "x"}]"#,
      "localizations[0].title"
    ),
    (#""localizations": [{"locale": "", "displayName": "C"}]"#, "localizations[0].locale"),
    (#""localizations": [{"locale": "!!", "displayName": "C"}]"#, "localizations[0].locale"),
    (#""localizations": [{"displayName": "C"}]"#, "localizations[0].locale"),
    (#""localizations": [null]"#, "localizations[0]"),
  ])
  func `a faulty key of a consumable is named, and nothing else`(key: String, path: String) {
    let price = key.contains("displayPrice") ? "" : #", "displayPrice": "1""#
    let found = faults(in: #"{"products": {"c": {"kind": "consumable"\#(price), \#(key)}}}"#)
    #expect(found.map(\.path) == ["products.c.\(path)"])
    #expect(found.allSatisfy { !$0.problem.isEmpty && !$0.remedy.isEmpty })
  }

  @Test(arguments: [
    (#""entitlements": ["Pro"]"#, "entitlements[0]"),
    (#""entitlements": ["pro", "-pro"]"#, "entitlements[1]"),
    (#""entitlements": ["pro pro"]"#, "entitlements[0]"),
    (#""entitlements": [""]"#, "entitlements[0]"),
    (#""entitlements": ["pró"]"#, "entitlements[0]"),
    (#""entitlements": ["a", "a"]"#, "entitlements[1]"),
    (#""entitlements": [1]"#, "entitlements[0]"),
    (#""entitlements": "pro""#, "entitlements"),
    (#""credits": {"coins": 1}"#, "credits"),
    (#""kind": "gift""#, "kind"),
    (#""kind": "auto-renewable""#, "subscription"),
  ])
  func `a faulty key of a non-consumable is named, and nothing else`(key: String, path: String) {
    let kind = key.contains("kind") ? "" : #""kind": "non-consumable", "#
    let found = faults(in: #"{"products": {"n": {\#(kind)"displayPrice": "1", \#(key)}}}"#)
    #expect(found.map(\.path) == ["products.n.\(path)"])
  }

  @Test(arguments: [
    (#""level": 1, "period": "P1M""#, "group"),
    (#""group": "a", "period": "P1M""#, "level"),
    (#""group": "a", "level": 0, "period": "P1M""#, "level"),
    (#""group": "a", "level": 1"#, "period"),
    (#""group": "a", "level": 1, "period": "1M""#, "period"),
    (#""group": "a", "level": 1, "period": "P1M", "rank": 2"#, "rank"),
  ])
  func `a faulty key of a subscription is named, and nothing else`(keys: String, path: String) {
    let found = faults(
      in: """
        {"products": {"s": {"kind": "auto-renewable", "displayPrice": "1",
         "subscription": {\(keys)}}}}
        """)
    #expect(found.map(\.path) == ["products.s.subscription.\(path)"])
  }

  @Test func `a name of 64 characters is the longest`() throws {
    let longest = String(repeating: "a", count: 64)
    func text(_ name: String) -> String {
      #"""
      {"products": {"n": {"kind": "non-consumable", "displayPrice": "1",
       "entitlements": ["\#(name)"]}}}
      """#
    }
    #expect(try catalog(text(longest)).product("n")?.entitlements == [longest])
    #expect(faults(in: text(longest + "a")).count == 1)
  }

  @Test(arguments: [
    (#"{}"#, ""), ("[]", ""), (#"{"product": {}, "products": {}}"#, "product"),
    (#"{"products": []}"#, "products"), (#"{"storekit": 5}"#, "storekit"),
    (#"{"storekit": ""}"#, "storekit"), (#"{"products": {}, "products": {}}"#, "products"),
    (#"{"products": {"": {}}}"#, "products."), (#"{"products": {"a": 1}}"#, "products.a"),
  ])
  func `a faulty frame is named`(text: String, path: String) {
    #expect(faults(in: text).map(\.path) == [path])
  }

  @Test func `an id that stands twice is a fault at the second place`() {
    let found = faults(
      in: """
        {"products": {
          "a": {"kind": "consumable", "displayPrice": "1"},
          "a": {"kind": "consumable", "displayPrice": "2"}}}
        """)
    #expect(found.map(\.path) == ["products.a"])
    #expect(found.map(\.line) == [3])
  }

  @Test func `an id that no file defines is a fault, a faulty one there is told once`() {
    let text = #"{"storekit": "S.storekit", "products": {"coin": {}, "odd": {}}}"#
    let found = faults(in: text, storeKit: store)
    #expect(found.map(\.path) == ["products[2].type", "products.coin"])
    #expect(found.map(\.file) == ["S.storekit", "catalog.json"])
  }

  @Test func `what the .storekit file says cannot be said again`() {
    let plain = store.replacing(#""Gift""#, with: #""Consumable""#)
    let text = """
      {"storekit": "S.storekit", "products": {
       "coins": {"kind": "consumable", "displayPrice": "2"},
       "themes": {"credits": {"coins": 2}, "length": "P1D"}}}
      """
    #expect(
      faults(in: text, storeKit: plain).map(\.path) == [
        "products.coins.kind", "products.coins.displayPrice", "products.themes.credits",
        "products.themes.length",
      ])
  }

  @Test func `groups or products whose default names are equal are a fault`() {
    func product(_ group: String) -> String {
      """
      {"kind": "auto-renewable", "displayPrice": "1",
       "subscription": {"group": "\(group)", "level": 1, "period": "P1M"}}
      """
    }
    let groups = faults(in: #"{"products": {"a": \#(product("Pro")), "b": \#(product("Pro+"))}}"#)
    #expect(groups.map(\.path) == ["products.b"])
    #expect(groups.first?.remedy == "set products.b.entitlements in catalog.json")
    let consumable = #"{"kind": "consumable", "displayPrice": "1"}"#
    let units = faults(in: #"{"products": {"coin": \#(consumable), "Coin": \#(consumable)}}"#)
    #expect(units.first?.remedy == "set products.Coin.credits in catalog.json")
  }

  @Test func `a group has one id`() {
    func product(_ id: String) -> String {
      """
      {"kind": "auto-renewable", "displayPrice": "1",
       "subscription": {"group": "Pro", "groupID": "\(id)", "level": 1, "period": "P1M"}}
      """
    }
    let found = faults(in: #"{"products": {"a": \#(product("1")), "b": \#(product("2"))}}"#)
    #expect(found.map(\.path) == ["products.b.subscription.groupID"])
  }

  @Test func `a file full of faults gives a list that ends`() {
    let keys = (0..<5_000).map { "\"k\($0)\": 1" }.joined(separator: ",")
    #expect(faults(in: #"{"products": {}, \#(keys)}"#).count == 200)
  }

  @Test func `a product id too long for a name needs a name`() throws {
    let id = String(repeating: "a", count: 65)
    let plain = #"{"products": {"\#(id)": {"kind": "consumable", "displayPrice": "1"}}}"#
    #expect(faults(in: plain).count == 1)
    let named = plain.replacing(#""1""#, with: #""1", "credits": {"coins": 1}"#)
    #expect(try catalog(named).product(id)?.credits == [Credit(unit: "coins", amount: 1)])
  }
}
