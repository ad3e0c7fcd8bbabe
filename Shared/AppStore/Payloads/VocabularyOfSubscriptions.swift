/// State of an auto-renewable subscription; 1 and 4 entitle.
public struct SubscriptionStatus: OpenVocabulary {
  /// The value as received.
  public let rawValue: Int32

  /// Wraps a value, known or not.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// `1`.
  public static let active = SubscriptionStatus(rawValue: 1)
  /// `2`.
  public static let expired = SubscriptionStatus(rawValue: 2)
  /// `3`.
  public static let billingRetry = SubscriptionStatus(rawValue: 3)
  /// `4`.
  public static let gracePeriod = SubscriptionStatus(rawValue: 4)
  /// `5`.
  public static let revoked = SubscriptionStatus(rawValue: 5)
}

/// Whether a subscription will renew.
public struct AutoRenewStatus: OpenVocabulary {
  /// The value as received.
  public let rawValue: Int32

  /// Wraps a value, known or not.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// `0`.
  public static let off = AutoRenewStatus(rawValue: 0)
  /// `1`.
  public static let on = AutoRenewStatus(rawValue: 1)
}

/// Why a subscription expired.
public struct ExpirationIntent: OpenVocabulary {
  /// The value as received.
  public let rawValue: Int32

  /// Wraps a value, known or not.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// `1`.
  public static let customerCancelled = ExpirationIntent(rawValue: 1)
  /// `2`.
  public static let billingError = ExpirationIntent(rawValue: 2)
  /// 3: no consent to a price increase.
  public static let priceIncrease = ExpirationIntent(rawValue: 3)
  /// `4`.
  public static let productNotAvailable = ExpirationIntent(rawValue: 4)
  /// `5`.
  public static let other = ExpirationIntent(rawValue: 5)
}

/// Whether the customer consented to a price increase.
public struct PriceIncreaseStatus: OpenVocabulary {
  /// The value as received.
  public let rawValue: Int32

  /// Wraps a value, known or not.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// `0`.
  public static let notAnswered = PriceIncreaseStatus(rawValue: 0)
  /// 1: consented, or notified where no consent is needed.
  public static let consented = PriceIncreaseStatus(rawValue: 1)
}
