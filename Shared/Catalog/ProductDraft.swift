/// A product while its sources are read; nil where a source says nothing.
struct ProductDraft {
  let id: String
  let place: Place
  let kind: ProductKind
  var referenceName: String?
  var price: (text: String, milliunits: Int64)
  var familyShareable: Bool
  var localizations: [Localization]
  var subscription: Subscription?
  var entitlements: [Right]?
  var credits: [Credit]?
  var length: Period?
  var prices: [StorefrontPrice] = []
  var metadata: [String: String] = [:]
  var isSold = true
  var appVersions = AppVersions.all

  /// The product, with the default of its kind where nothing is said.
  func finished(names: inout DefaultNames) -> Product {
    var gives = (entitlements: entitlements ?? [], credits: credits ?? [])
    switch kind {
    case .consumable where credits == nil:
      gives.credits = [Credit(unit: names.unit(of: self), amount: 1)]
    // Without its subscription the product is faulty already and its group unknown.
    case .autoRenewable where entitlements == nil && subscription != nil,
      .nonConsumable where entitlements == nil, .nonRenewing where entitlements == nil:
      gives.entitlements = [Right(name: names.entitlement(of: self))]
    default: break
    }
    return Product(
      id: id, kind: kind, referenceName: referenceName, displayPrice: price.text,
      priceMilliunits: price.milliunits, familyShareable: familyShareable,
      localizations: localizations, subscription: subscription,
      rights: gives.entitlements, credits: gives.credits, length: length,
      prices: prices, metadata: metadata, isSold: isSold, appVersions: appVersions)
  }
}
