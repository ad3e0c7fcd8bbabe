/// A product, what it costs in the catalog's storefront, and what it gives.
public struct Product: Sendable, Equatable {
  /// The product id, as in App Store Connect and in `productId` of signed transactions.
  public let id: String
  /// What kind of product it is.
  public let kind: ProductKind
  /// The internal name; nil if it has none.
  public let referenceName: String?
  /// The price as a decimal number with a point and no currency: `0.99`.
  public let displayPrice: String
  /// The price in thousandths of the currency unit, as `price` in signed transactions.
  public let priceMilliunits: Int64
  /// Whether the product may be shared with the family.
  public let familyShareable: Bool
  /// What customers read, by locale.
  public let localizations: [Localization]
  /// Group, level, period and offers; exactly auto-renewable products have it.
  public let subscription: Subscription?
  /// The rights it gives, with the dates by which it does.
  public let rights: [Right]
  /// What it adds to balances: for each one of the quantity of a consumable, at each paid period
  /// of a subscription, at each purchase of a non-renewing product.
  public let credits: [Credit]
  /// How long a non-renewing product gives its rights; nil means without end.
  public let length: Period?
  /// What it costs in other storefronts, for display before StoreKit has answered.
  public let prices: [StorefrontPrice]
  /// The app team's own words, handed on to the app.
  public let metadata: [String: String]
  /// Whether it is for sale; one that is not gives its buyers what it gave.
  public let isSold: Bool
  /// The versions of the app that may sell it.
  public let appVersions: AppVersions

  /// The names of the rights it gives, without repetition.
  public var entitlements: [String] {
    rights.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The price in a storefront; nil if the catalog does not say.
  public func price(in storefront: String) -> StorefrontPrice? {
    prices.first { $0.storefront == storefront }
  }
}

/// What a product costs in one storefront.
public struct StorefrontPrice: Sendable, Equatable {
  /// Three letters, such as `DEU`.
  public let storefront: String
  /// The price as a decimal number with a point and no currency: `9.99`.
  public let displayPrice: String
  /// The price in thousandths of the currency unit.
  public let priceMilliunits: Int64
  /// Three letters, such as `EUR`.
  public let currency: String
}

/// What customers read about a product in one locale.
public struct Localization: Sendable, Equatable {
  /// The locale with underscore, as Xcode writes it: `en_US`, `zh_Hans`.
  public let locale: String
  /// The name shown.
  public let displayName: String
  /// The sentence below the name; may be empty.
  public let description: String
}
