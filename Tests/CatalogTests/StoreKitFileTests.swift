import Catalog
import Testing

/// What the README of the public files says that a file holds.
struct Expected: Sendable, CustomTestStringConvertible {
  let file: String
  let version: Int
  let kinds: [Int]
  let groups: Int
  let offers: [Int]

  var testDescription: String { file }

  static let all = [
    Expected(
      file: "v1-flutter-iap", version: 1, kinds: [1, 1, 0, 2], groups: 1, offers: [0, 0, 0, 0]),
    Expected(
      file: "v2-storekit2-demo", version: 2, kinds: [0, 1, 0, 2], groups: 1, offers: [0, 0, 0, 0]),
    Expected(
      file: "v2-openiap-consumables", version: 2, kinds: [2, 0, 0, 1], groups: 1,
      offers: [0, 0, 0, 0]),
    Expected(
      file: "v3-apple-backyard-birds", version: 3, kinds: [6, 0, 0, 3], groups: 1,
      offers: [3, 0, 0, 0]),
    Expected(
      file: "v3-purchase-tester-offers", version: 3, kinds: [1, 1, 1, 13], groups: 6,
      offers: [4, 5, 8, 0]),
    Expected(
      file: "v4-flutter-winback", version: 4, kinds: [2, 1, 0, 3], groups: 3, offers: [1, 1, 0, 1]),
    Expected(
      file: "v4-paywalls-locales", version: 4, kinds: [0, 2, 0, 3], groups: 1, offers: [1, 3, 0, 0]),
    Expected(file: "v4-empty", version: 4, kinds: [0, 0, 0, 0], groups: 0, offers: [0, 0, 0, 0]),
    Expected(
      file: "v5-unit-tests-billing-plans", version: 5, kinds: [1, 1, 1, 4], groups: 2,
      offers: [2, 2, 0, 0]),
    Expected(
      file: "v5-storekithelper-code-offer", version: 5, kinds: [0, 1, 0, 1], groups: 1,
      offers: [0, 0, 1, 0]),
  ]
}

@Suite("Public .storekit files")
struct StoreKitFileTests {
  private func load(_ name: String) throws -> Catalog {
    try Catalog.load(path: TestFiles.storeKit(name))
  }

  @Test(arguments: Expected.all)
  func `a file holds the products, groups and offers that were counted in it`(expected: Expected)
    throws
  {
    let catalog = try load(expected.file)
    let products = catalog.orderedProducts
    let subscriptions = products.compactMap(\.subscription)
    let order: [ProductKind] = [.consumable, .nonConsumable, .nonRenewing, .autoRenewable]
    let kinds = order.map { kind in products.count { $0.kind == kind } }
    #expect(kinds == expected.kinds)
    #expect(subscriptions.count == expected.kinds[3])
    #expect(Set(subscriptions.map(\.groupID)).count == expected.groups)
    let introductory = subscriptions.count { !$0.introductoryOffers.isEmpty }
    let promotional = subscriptions.flatMap(\.promotionalOffers).count
    let codes = subscriptions.flatMap(\.offerCodes).count
    let winBack = subscriptions.flatMap(\.winBackOffers).count
    #expect([introductory, promotional, codes, winBack] == expected.offers)
    #expect(catalog.settings?.majorVersion == expected.version)
    #expect(catalog.products.count == products.count)
    #expect(products.allSatisfy { catalog.product($0.id) == $0 })
  }

  @Test(arguments: Expected.all)
  func `every product gives something by default`(expected: Expected) throws {
    for product in try load(expected.file).orderedProducts {
      if product.kind == .consumable {
        #expect(product.entitlements.isEmpty)
        #expect(product.credits == [Credit(unit: product.id.lowercased(), amount: 1)])
      } else {
        #expect(product.entitlements.count == 1)
        #expect(product.credits.isEmpty)
      }
    }
  }

  @Test func `version 1 reads without the keys that came later`() throws {
    let catalog = try load("v1-flutter-iap")
    #expect(catalog.settings?.identifier == nil)
    #expect(catalog.settings?.storefront == nil)
    #expect(catalog.product("subscription_gold")?.subscription?.level == 2)
    #expect(catalog.product("upgrade")?.priceMilliunits == 10_990)
    #expect(catalog.product("subscription_silver")?.entitlements == ["example-subscriptions"])
    #expect(
      catalog.orderedProducts.map(\.id) == [
        "consumable", "upgrade", "subscription_silver", "subscription_gold",
      ])
  }

  @Test func `ranks of a group are read as levels`() throws {
    let catalog = try load("v2-storekit2-demo")
    #expect(catalog.product("pro_yearly")?.subscription?.level == 1)
    #expect(catalog.product("pro_monthly")?.subscription?.level == 2)
    #expect(catalog.settings?.storefront == nil)
  }

  @Test func `Apple's sample has three levels, each with a free month`() throws {
    let catalog = try load("v3-apple-backyard-birds")
    for (id, level, price) in [
      ("pass.premium", 1, "11.99"), ("pass.family", 2, "7.99"), ("pass.individual", 3, "4.99"),
    ] {
      let product = try #require(catalog.product(id))
      let subscription = try #require(product.subscription)
      #expect(subscription.groupID == "6F3A93AB")
      #expect(subscription.level == level)
      #expect(product.displayPrice == price)
      let offer = try #require(subscription.introductoryOffers.first)
      #expect(offer.paymentMode == .free)
      #expect(offer.period == Period("P1M"))
      #expect(offer.displayPrice == nil)
      #expect(product.familyShareable == (id != "pass.individual"))
    }
  }

  @Test func `a file synchronized with App Store Connect keeps its offers and ids`() throws {
    let catalog = try load("v3-purchase-tester-offers")
    #expect(catalog.settings?.developerTeamID == "8SXR2327BM")
    #expect(catalog.settings?.applicationID == "1552944963")
    let codes = try #require(catalog.product("test_product1")?.subscription?.offerCodes)
    #expect(codes.map(\.referenceName) == ["my_offer_code", "my_test_code", "test2"])
    #expect(codes.map(\.eligibility) == [["expired", "new", "existing"], ["existing"], ["new"]])
    #expect(codes.map(\.isStackable) == [true, false, true])
    #expect(codes.map(\.priceMilliunits) == [0, 0, 990])
    #expect(catalog.product("test_refname2")?.subscription?.period == Period("P2M"))
    let upFront = try #require(catalog.product("P2")?.subscription?.introductoryOffers.first)
    #expect(upFront.paymentMode == .payUpFront)
    #expect(upFront.displayPrice == "2.99")
    let promotion = try #require(catalog.product("P1")?.subscription?.promotionalOffers.last)
    #expect(promotion.identifier == "deema_promo2_offer_id")
    #expect(promotion.periodCount == 3)
    #expect(catalog.product("greenie_annual")?.localizations.first?.locale == "en_GB")
    #expect(catalog.product("P1")?.entitlements == ["michail_testing"])
    let modes = Set(
      catalog.orderedProducts.compactMap(\.subscription).flatMap(\.introductoryOffers)
        .map(\.paymentMode))
    #expect(modes == [.free, .payUpFront])
  }

  @Test func `a win-back offer and the chosen errors are read`() throws {
    let catalog = try load("v4-flutter-winback")
    let silver = try #require(catalog.product("subscription_silver")?.subscription)
    let offer = try #require(silver.winBackOffers.first)
    #expect(offer.identifier == "subscription_silver_winback_offer")
    #expect(offer.priceMilliunits == 990)
    #expect(offer.paymentMode == .payAsYouGo)
    #expect(offer.period == Period("P1W"))
    #expect(offer.isEligible == true)
    #expect(silver.period == Period("P1W"))
    let discounted = try #require(catalog.product("subscription_discounted")?.subscription)
    #expect(discounted.introductoryOffers.map(\.periodCount) == [1])
    let errors = try #require(catalog.settings?.errors)
    #expect(errors.count == 9)
    #expect(errors[1].name == "Purchase")
    #expect(errors[1].type == "purchase")
    #expect(errors[1].index == 1)
    #expect(errors[3].type == nil)
  }

  @Test func `texts in other scripts arrive whole`() throws {
    let paywalls = try load("v4-paywalls-locales")
    let locales = Set(paywalls.orderedProducts.flatMap(\.localizations).map(\.locale))
    #expect(locales == ["ar", "en_US", "es_ES"])
    let promotions = paywalls.orderedProducts.compactMap(\.subscription)
      .flatMap(\.promotionalOffers).compactMap(\.identifier)
    #expect(Set(promotions).count < promotions.count)
    let helper = try load("v5-storekithelper-code-offer")
    let chinese = helper.product("test.monthly")?.localizations.first { $0.locale == "zh_Hans" }
    #expect(chinese?.displayName == "全功能包月")
    #expect(helper.product("test.monthly")?.subscription?.introductoryOffers == [])
  }

  @Test func `an introductory offer that stands in both keys counts once`() throws {
    let catalog = try load("v5-unit-tests-billing-plans")
    let offers = catalog.orderedProducts.compactMap(\.subscription).map(\.introductoryOffers)
    #expect(offers.map(\.count) == [1, 1, 0, 0])
    #expect(offers[0][0].billingPlanType == "BILLED_UPFRONT")
  }

  @Test func `a monthly plan with a commitment has both prices`() throws {
    let catalog = try load("v5-unit-tests-billing-plans")
    let annual = try #require(catalog.product("com.revenuecat.annual_with_commitment"))
    let plans = try #require(annual.subscription?.billingPlans)
    #expect(plans.map(\.type) == ["BILLED_UPFRONT", "MONTHLY"])
    #expect(plans[1].priceMilliunits == 500)
    #expect(plans[1].commitmentDisplayPrice == "6.00")
    #expect(plans[1].commitmentPriceMilliunits == 6_000)
  }
}
