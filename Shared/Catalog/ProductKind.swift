/// The four kinds of in-app purchases; the raw value is the word in `catalog.json`.
public enum ProductKind: String, Sendable, Equatable, CaseIterable {
  /// Used up, may be bought again and again.
  case consumable
  /// Bought once, stays.
  case nonConsumable = "non-consumable"
  /// Bought for a time that the developer computes.
  case nonRenewing = "non-renewing"
  /// A subscription that Apple renews.
  case autoRenewable = "auto-renewable"

  /// The kind for the `type` of a signed transaction; nil if unknown.
  public init?(appStoreType: String) {
    guard let kind = Self.allCases.first(where: { $0.appStoreType == appStoreType }) else {
      return nil
    }
    self = kind
  }

  /// The `type` in signed transactions (JWSTransactionDecodedPayload).
  public var appStoreType: String {
    switch self {
    case .consumable: "Consumable"
    case .nonConsumable: "Non-Consumable"
    case .nonRenewing: "Non-Renewing Subscription"
    case .autoRenewable: "Auto-Renewable Subscription"
    }
  }

  /// The kind for the `type` of a product in a `.storekit` file; nil if unknown.
  public init?(storeKitType: String) {
    guard let kind = Self.allCases.first(where: { $0.storeKitType == storeKitType }) else {
      return nil
    }
    self = kind
  }

  /// The `type` in `.storekit` files.
  public var storeKitType: String {
    switch self {
    case .consumable: "Consumable"
    case .nonConsumable: "NonConsumable"
    case .nonRenewing: "NonRenewingSubscription"
    case .autoRenewable: "RecurringSubscription"
    }
  }
}
