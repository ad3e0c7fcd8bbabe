import Catalog
import Testing

@Suite("Faults of a .storekit file")
struct StoreKitFaultTests {
  private func file(
    version: String = #"{"major": 4, "minor": 0}"#, products: String = "[]",
    subscription: String? = nil, rest: String = ""
  ) -> String {
    let group = #"{"id": "G1", "name": "Pro", "subscriptions": [\#(subscription ?? "")]}"#
    return """
      {"version": \(version), "products": \(products)\(rest),
       "subscriptionGroups": [\(subscription == nil ? "" : group)]}
      """
  }

  private func subscription(_ change: String = "", offers: String = "") -> String {
    """
    {"productID": "pro", "type": "RecurringSubscription", "displayPrice": "1", "groupNumber": 1,
     "recurringSubscriptionPeriod": "P1M"\(offers)\(change)}
    """
  }

  @Test(arguments: ["0", "6", "\"4\""])
  func `a file of an unknown version is refused`(major: String) {
    let found = storeKitFaults(in: file(version: "{\"major\": \(major)}"))
    #expect(found.map(\.path) == ["version.major"])
  }

  @Test(arguments: ["{}", #"{"version": {}}"#, "[]"])
  func `JSON that is no .storekit file is refused`(text: String) {
    #expect(storeKitFaults(in: text).count == 1)
  }

  @Test(arguments: [
    (#"{"version": {"major": 4}, "subscriptionGroups": []}"#, "products"),
    (#"{"version": {"major": 4}, "products": null, "subscriptionGroups": []}"#, "products"),
    (
      #"{"version": {"major": 4}, "Products": [], "subscriptionGroups": []}"#, "products"
    ),
    (#"{"version": {"major": 4}, "products": []}"#, "subscriptionGroups"),
  ])
  func `a file that lacks a list which Xcode always writes is refused`(text: String, path: String) {
    #expect(storeKitFaults(in: text).map(\.path) == [path])
  }

  @Test func `all faults come at once, each with file, line and place`() {
    let text = """
      {"version": {"major": 3}, "subscriptionGroups": [], "products": [
        {"type": "Consumable", "displayPrice": "1"},
        {"productID": "a", "type": "Gift", "displayPrice": "1"},
        {"productID": "b", "type": "Consumable", "displayPrice": "1,99"},
        {"productID": "c", "type": "Consumable"},
        {"productID": "d", "type": "RecurringSubscription", "displayPrice": "1"},
        {"productID": 7, "type": "Consumable", "displayPrice": "1"},
        {"productID": "", "type": "Consumable", "displayPrice": "1"}
      ]}
      """
    let found = storeKitFaults(in: text)
    #expect(
      found.map(\.path) == [
        "products[0].productID", "products[1].type", "products[2].displayPrice",
        "products[3].displayPrice", "products[4].type", "products[5].productID",
        "products[6].productID",
      ])
    #expect(found.map(\.line) == [2, 3, 4, 5, 6, 7, 8])
    #expect(found.allSatisfy { $0.file == "S.storekit" && !$0.remedy.isEmpty })
    #expect(found[2].description.hasPrefix("S.storekit:4: products[2].displayPrice: is \"1,99\""))
  }

  @Test func `an id that stands twice is a fault that names both places`() {
    let product = #"{"productID": "pro", "type": "NonConsumable", "displayPrice": "1"}"#
    let found = storeKitFaults(in: file(products: "[\(product)]", subscription: subscription()))
    #expect(found.map(\.path) == ["subscriptionGroups[0].subscriptions[0]"])
    #expect(found.first?.problem.contains("products[0]") == true)
  }

  @Test(arguments: [
    (#", "recurringSubscriptionPeriod": null"#, "recurringSubscriptionPeriod"),
    (#", "recurringSubscriptionPeriod": "P1H""#, "recurringSubscriptionPeriod"),
    (#", "groupNumber": null"#, "groupNumber"),
    (#", "groupNumber": 0"#, "groupNumber"),
    (#", "familyShareable": "yes""#, "familyShareable"),
    (#", "adHocOffers": {}"#, "adHocOffers"),
    (#", "adHocOffers": [3]"#, "adHocOffers[0]"),
    (
      #", "adHocOffers": [{"offerID": "o", "subscriptionPeriod": "P1M"}]"#,
      "adHocOffers[0].paymentMode"
    ),
    (
      #", "adHocOffers": [{"paymentMode": "free", "subscriptionPeriod": "P1M"}]"#,
      "adHocOffers[0].offerID"
    ),
    (
      #", "winbackOffers": [{"offerID": "", "paymentMode": "free", "subscriptionPeriod": "P1M"}]"#,
      "winbackOffers[0].offerID"
    ),
    (
      #", "adHocOffers": [{"offerID": "o", "paymentMode": "free", "subscriptionPeriod": "P1M"},"#
        + #" {"offerID": "o", "paymentMode": "free", "subscriptionPeriod": "P1M"}]"#,
      "adHocOffers[1].offerID"
    ),
    (#", "codeOffers": [null]"#, "codeOffers[0]"),
    (#", "subscriptionGroupID": "G2""#, "subscriptionGroupID"),
    (#", "familyShareable": true, "familyShareable": false"#, "familyShareable"),
    (#", "localizations": [{"displayName": "Pro"}]"#, "localizations[0].locale"),
    (#", "localizations": [{"locale": "", "displayName": "Pro"}]"#, "localizations[0].locale"),
    (#", "localizations": [{"locale": "!!", "displayName": "Pro"}]"#, "localizations[0].locale"),
    (
      #", "localizations": [{"locale": "de"}, {"locale": "de"}]"#, "localizations[1].locale"
    ),
    (
      #", "codeOffers": [{"paymentMode": "gift", "subscriptionPeriod": "P1M"}]"#,
      "codeOffers[0].paymentMode"
    ),
    (#", "codeOffers": [{"paymentMode": "free"}]"#, "codeOffers[0].subscriptionPeriod"),
    (
      #", "winbackOffers": [{"offerID": "w", "paymentMode": "payUpFront","#
        + #" "subscriptionPeriod": "P1M"}]"#,
      "winbackOffers[0].displayPrice"
    ),
    (
      #", "introductoryOffer": {"paymentMode": "free", "subscriptionPeriod": "P1M","#
        + #" "numberOfPeriods": 1.5}"#, "introductoryOffer.numberOfPeriods"
    ),
    (#", "billingPlans": [{"billingPlanType": "MONTHLY"}]"#, "billingPlans[0].displayPrice"),
  ])
  func `a faulty key of a subscription is named, and nothing else`(change: String, key: String) {
    let found = storeKitFaults(in: file(subscription: subscription(change)))
    // A key that the subscription has already stands twice then, which is a fault of the same place.
    #expect(Set(found.map(\.path)) == ["subscriptionGroups[0].subscriptions[0].\(key)"])
  }

  @Test func `null and missing lists are empty, unknown keys are passed over`() throws {
    let offers = """
      , "adHocOffers": null, "codeOffers": [], "introductoryOffer": null,
      "introductoryOffers": null, "winbackOffers": null, "news": {"deep": [1]}
      """
    let text = file(
      subscription: subscription(offers: offers), rest: #", "nonRenewingSubscriptions": null"#)
    let catalog = try Catalog(storeKit: Array(text.utf8))
    let subscription = try #require(catalog.product("pro")?.subscription)
    #expect(subscription.introductoryOffers.isEmpty)
    #expect(subscription.offerCodes.isEmpty)
    #expect(subscription.promotionalOffers.isEmpty && subscription.winBackOffers.isEmpty)
  }

  @Test func `a group without an id, or with another's, is named`() {
    let one = #"{"name": "Pro", "subscriptions": [\#(subscription())]}"#
    let found = storeKitFaults(
      in: #"{"version": {"major": 4}, "products": [], "subscriptionGroups": [\#(one)]}"#)
    #expect(found.map(\.path) == ["subscriptionGroups[0].id"])
    let empty = #"{"id": "G1", "name": "Pro", "subscriptions": []}"#
    let twice = storeKitFaults(
      in:
        #"{"version": {"major": 4}, "products": [], "subscriptionGroups": [\#(empty), \#(empty)]}"#)
    #expect(twice.map(\.path) == ["subscriptionGroups[1].id"])
    #expect(twice.first?.problem.contains("subscriptionGroups[0]") == true)
  }

  @Test func `a member that stands twice is named wherever it stands, but for the signing key`() {
    let text = """
      {"version": {"major": 4}, "products": [], "products": [], "subscriptionGroups": [],
       "settings": {"_locale": "en_US",
        "_locale": "de_DE"},
       "subscriptionOffersKeyPair": {"id": "SECRET", "id": "SECRET"}}
      """
    let found = storeKitFaults(in: text)
    #expect(found.map(\.path) == ["products", "settings._locale"])
    #expect(found.map(\.line) == [1, 3])
  }

  @Test func `introductory offers of the list count before the single one, each id once`() throws {
    func offer(_ id: String, _ period: String) -> String {
      #"{"internalID": "\#(id)", "paymentMode": "free", "subscriptionPeriod": "\#(period)"}"#
    }
    let offers = """
      , "introductoryOffer": \(offer("A", "P3D")),
      "introductoryOffers": [\(offer("A", "P1W")), \(offer("A", "P1W")), \(offer("B", "P2W"))]
      """
    let text = file(subscription: subscription(offers: offers))
    let found = try Catalog(storeKit: Array(text.utf8)).product("pro")?.subscription
    #expect(found?.introductoryOffers.map(\.period.description) == ["P1W", "P2W"])
  }

  @Test func `a price that stayed in a free offer is passed over`() throws {
    let offers = """
      , "introductoryOffer": {"internalID": "A", "paymentMode": "free", "displayPrice": "9.99",
      "subscriptionPeriod": "P1W"}
      """
    let text = file(subscription: subscription(offers: offers))
    let subscription = try Catalog(storeKit: Array(text.utf8)).product("pro")?.subscription
    let offer = try #require(subscription?.introductoryOffers.first)
    #expect(offer.displayPrice == nil)
    #expect(offer.priceMilliunits == 0)
  }

  @Test func `the local signing key is neither read nor shown`() throws {
    let secret = "MIGHAgEAMBMG-not-to-be-shown"
    let key = #", "subscriptionOffersKeyPair": {"id": "1", "privateKey": "\#(secret)"}"#
    let whole = try Catalog(storeKit: Array(file(rest: key).utf8))
    #expect(!String(describing: whole).contains(secret))
    let wrongKey = #", "subscriptionOffersKeyPair": ["\#(secret)"]"#
    _ = try Catalog(storeKit: Array(file(rest: wrongKey).utf8))
    let broken = file(rest: key + " \"\(secret)\"")
    let error = #expect(throws: CatalogError.self) {
      try Catalog(storeKit: Array(broken.utf8))
    }
    #expect(error.map { "\($0)".contains(secret) } == false)
  }
}
