import Catalog
import Testing

@Suite("catalog.json")
struct CatalogFileTests {
  private let store = """
    {"version": {"major": 4, "minor": 0},
     "products": [
       {"productID": "Coins.100", "type": "Consumable", "displayPrice": "0.99"},
       {"productID": "themes", "type": "NonConsumable", "displayPrice": "4.99"}],
     "nonRenewingSubscriptions": [
       {"productID": "season", "type": "NonRenewingSubscription", "displayPrice": "14.99"}],
     "subscriptionGroups": [{"id": "G1", "name": "Pro Plan!", "subscriptions": [
       {"productID": "pro", "type": "RecurringSubscription", "displayPrice": "9.99",
        "groupNumber": 1, "recurringSubscriptionPeriod": "P1M"}]}]}
    """

  @Test func `what a product does not say is the default of its kind`() throws {
    let catalog = try catalog(#"{"storekit": "S.storekit"}"#, storeKit: store)
    #expect(catalog.product("Coins.100")?.credits == [Credit(unit: "coins.100", amount: 1)])
    #expect(catalog.product("Coins.100")?.entitlements == [])
    #expect(catalog.product("themes")?.entitlements == ["themes"])
    #expect(catalog.product("season")?.entitlements == ["season"])
    #expect(catalog.product("season")?.length == nil)
    #expect(catalog.product("pro")?.entitlements == ["pro-plan"])
  }

  @Test func `what it says replaces the default of that key alone`() throws {
    let catalog = try catalog(
      """
      {"storekit": "S.storekit", "products": {
        "Coins.100": {"credits": {"gems": 5, "coins": 100}},
        "themes": {"entitlements": []},
        "season": {"entitlements": ["season", "skins"], "length": "P90D", "credits": {"coins": 7}},
        "pro": {"credits": {"coins": 50}}}}
      """, storeKit: store)
    #expect(
      catalog.product("Coins.100")?.credits == [
        Credit(unit: "gems", amount: 5), Credit(unit: "coins", amount: 100),
      ])
    #expect(catalog.product("themes")?.entitlements == [])
    #expect(catalog.product("season")?.entitlements == ["season", "skins"])
    #expect(catalog.product("season")?.length == Period("P90D"))
    #expect(catalog.product("season")?.credits == [Credit(unit: "coins", amount: 7)])
    #expect(catalog.product("pro")?.entitlements == ["pro-plan"])
    #expect(catalog.product("pro")?.credits == [Credit(unit: "coins", amount: 50)])
    #expect(catalog.product("pro")?.displayPrice == "9.99")
  }

  @Test(arguments: ["en_US", "en-US", "en-us"])
  func `a text for people takes the place of that of its locale, however that is written`(
    locale: String
  ) throws {
    let told = store.replacing(
      #""type": "NonConsumable","#,
      with:
        #""type": "NonConsumable", "localizations": [{"locale": "en_US", "displayName": "Old"}],"#)
    let catalog = try catalog(
      """
      {"storekit": "S.storekit", "products": {
        "themes": {"localizations": [{"locale": "\(locale)", "displayName": "New"}]}}}
      """, storeKit: told)
    let localizations = try #require(catalog.product("themes")).localizations
    #expect(localizations.map(\.displayName) == ["New"])
    #expect(localizations.map(\.locale) == ["en_US"])
  }

  @Test func `products can be defined without a .storekit file, in the order of the text`() throws {
    let catalog = try catalog(
      """
      {"products": {
        "z": {"kind": "auto-renewable", "displayPrice": "9.99", "familyShareable": true,
          "referenceName": "Zett",
          "localizations": [{"locale": "en_US", "displayName": "Z", "description": "All"}],
          "subscription": {"group": "Pro", "level": 2, "period": "P1M"}},
        "y": {"kind": "auto-renewable", "displayPrice": "99",
          "subscription": {"group": "Pro", "level": 1, "period": "P1Y"}},
        "m": {"kind": "non-renewing", "displayPrice": "5.5", "length": "P1M"},
        "b": {"kind": "non-consumable", "displayPrice": "0.001"},
        "a": {"kind": "consumable", "displayPrice": "0"}}}
      """)
    #expect(catalog.orderedProducts.map(\.id) == ["z", "y", "m", "b", "a"])
    #expect(catalog.orderedProducts.map(\.priceMilliunits) == [9_990, 99_000, 5_500, 1, 0])
    #expect(catalog.settings == nil)
    let product = try #require(catalog.product("z"))
    #expect(product.kind == .autoRenewable)
    #expect(product.referenceName == "Zett")
    #expect(product.familyShareable)
    #expect(product.localizations.first?.displayName == "Z")
    #expect(product.entitlements == ["pro"])
    #expect(product.subscription?.groupID == "Pro")
    #expect(product.subscription?.level == 2)
    #expect(catalog.product("m")?.length == Period("P1M"))
    #expect(catalog.product("nobody") == nil)
  }

  @Test func `a product of its own may join a group of the .storekit file`() throws {
    let catalog = try catalog(
      """
      {"storekit": "S.storekit", "products": {"pro.plus": {
        "kind": "auto-renewable", "displayPrice": "1",
        "subscription": {"group": "Pro Plan!", "level": 2, "period": "P1W"}}}}
      """, storeKit: store)
    #expect(catalog.product("pro.plus")?.subscription?.groupID == "G1")
    #expect(catalog.product("pro.plus")?.entitlements == ["pro-plan"])
    #expect(catalog.orderedProducts.last?.id == "pro.plus")
  }

  @Test func `a group whose name has no usable letter is named by its id`() throws {
    let catalog = try catalog(
      """
      {"products": {"p": {"kind": "auto-renewable", "displayPrice": "1", "subscription":
        {"group": "プレミアム", "groupID": "21331777", "level": 1, "period": "P1M"}}}}
      """)
    #expect(catalog.product("p")?.entitlements == ["21331777"])
  }

  @Test(arguments: ProductKind.allCases)
  func `a kind has one word for transactions and one for files`(kind: ProductKind) {
    #expect(ProductKind(appStoreType: kind.appStoreType) == kind)
    #expect(ProductKind(storeKitType: kind.storeKitType) == kind)
    #expect(ProductKind(rawValue: kind.rawValue) == kind)
  }

  @Test func `kinds read Apple's words, and no others`() {
    #expect(ProductKind(appStoreType: "Non-Renewing Subscription") == .nonRenewing)
    #expect(ProductKind(appStoreType: "Auto-Renewable Subscription") == .autoRenewable)
    #expect(ProductKind(appStoreType: "Non-Consumable") == .nonConsumable)
    #expect(ProductKind(appStoreType: "NonConsumable") == nil)
    #expect(Offer.PaymentMode.payAsYouGo.appStoreDiscountType == "PAY_AS_YOU_GO")
  }
}
