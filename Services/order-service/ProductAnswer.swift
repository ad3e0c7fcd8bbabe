import Catalog

/// A product as the app sees it.
struct ProductAnswer: Encodable {
  let id: String
  /// Apple's word for the kind of product.
  let type: String
  let displayName: String?
  let description: String?
  let displayPrice: String
  let priceMilliunits: Int64
  /// Nil for the price of the catalog's own storefront.
  let currency: String?
  let storefront: String?
  let familyShareable: Bool
  let subscriptionGroup: String?
  let subscriptionGroupName: String?
  let level: Int?
  let period: String?
  let offers: [OfferAnswer]
  let entitlements: [String]
  let credits: [String: Int64]
  let metadata: [String: String]

  /// Notes the language of the first text that is shown.
  init(
    _ product: Product, _ view: ShopWindow.View, _ settings: StoreKitSettings?,
    _ language: inout String?
  ) {
    let text = product.localization(for: view.languages, otherwise: settings?.locale)
    if language == nil { language = text?.locale }
    let price = view.storefront.flatMap { product.price(in: $0) }
    id = product.id
    type = product.kind.appStoreType
    displayName = text?.displayName
    description = text?.description
    displayPrice = price?.displayPrice ?? product.displayPrice
    priceMilliunits = price?.priceMilliunits ?? product.priceMilliunits
    currency = price?.currency
    storefront = price?.storefront
    familyShareable = product.familyShareable
    subscriptionGroup = product.subscription?.groupID
    subscriptionGroupName = product.subscription?.groupName
    level = product.subscription?.level
    period = (product.subscription?.period ?? product.length)?.description
    offers = product.subscription.map(OfferAnswer.all) ?? []
    entitlements = product.entitlements
    credits = Dictionary(
      product.credits.map { ($0.unit, $0.amount) }, uniquingKeysWith: { first, _ in first })
    metadata = product.metadata
  }
}

/// A reduced price of a subscription as the app sees it.
struct OfferAnswer: Encodable {
  /// `introductory`, `promotional`, `code` or `win-back`.
  let kind: String
  let id: String?
  /// Apple's word, such as `FREE_TRIAL`.
  let paymentMode: String
  let period: String
  let periods: Int
  let displayPrice: String?

  private init(_ kind: String, _ offer: Offer) {
    self.kind = kind
    id = offer.identifier
    paymentMode = offer.paymentMode.appStoreDiscountType
    period = offer.period.description
    periods = offer.periodCount
    displayPrice = offer.displayPrice
  }

  static func all(_ subscription: Subscription) -> [OfferAnswer] {
    subscription.introductoryOffers.map { OfferAnswer("introductory", $0) }
      + subscription.promotionalOffers.map { OfferAnswer("promotional", $0) }
      + subscription.offerCodes.map { OfferAnswer("code", $0) }
      + subscription.winBackOffers.map { OfferAnswer("win-back", $0) }
  }
}
