/// Where a purchase happened; which ones are accepted is decided by configuration only.
public struct AppEnvironment: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `Sandbox`.
  public static let sandbox = AppEnvironment(rawValue: "Sandbox")
  /// `Production`.
  public static let production = AppEnvironment(rawValue: "Production")
  /// `Xcode`.
  public static let xcode = AppEnvironment(rawValue: "Xcode")
  /// `LocalTesting`, only in Apple's unit tests.
  public static let localTesting = AppEnvironment(rawValue: "LocalTesting")
}

/// Kind of product, as written in a transaction.
public struct ProductType: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `Auto-Renewable Subscription`.
  public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")
  /// `Non-Consumable`.
  public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
  /// `Consumable`.
  public static let consumable = ProductType(rawValue: "Consumable")
  /// `Non-Renewing Subscription`.
  public static let nonRenewing = ProductType(rawValue: "Non-Renewing Subscription")
}

/// Whose purchase a transaction stands for.
public struct OwnershipType: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `PURCHASED`.
  public static let purchased = OwnershipType(rawValue: "PURCHASED")
  /// `FAMILY_SHARED`.
  public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")
  /// `ASSIGNED`.
  public static let assigned = OwnershipType(rawValue: "ASSIGNED")
}

/// Kind of offer.
public struct OfferType: OpenVocabulary {
  /// The value as received.
  public let rawValue: Int32

  /// Wraps a value, known or not.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// `1`.
  public static let introductory = OfferType(rawValue: 1)
  /// `2`.
  public static let promotional = OfferType(rawValue: 2)
  /// `3`.
  public static let offerCode = OfferType(rawValue: 3)
  /// `4`.
  public static let winBack = OfferType(rawValue: 4)
}

/// Payment mode of an offer.
public struct OfferDiscountType: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `FREE_TRIAL`.
  public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
  /// `PAY_AS_YOU_GO`.
  public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
  /// `PAY_UP_FRONT`.
  public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
  /// `ONE_TIME`.
  public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")
}

/// Why a transaction came about.
public struct TransactionReason: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `PURCHASE`.
  public static let purchase = TransactionReason(rawValue: "PURCHASE")
  /// `RENEWAL`.
  public static let renewal = TransactionReason(rawValue: "RENEWAL")
}

/// Why a transaction was refunded.
public struct RevocationReason: OpenVocabulary {
  /// The value as received.
  public let rawValue: Int32

  /// Wraps a value, known or not.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// 0: other, such as bought by accident.
  public static let other = RevocationReason(rawValue: 0)
  /// 1: an actual or perceived issue within the app.
  public static let issueWithinApp = RevocationReason(rawValue: 1)
}

/// How a transaction was revoked.
public struct RevocationType: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `REFUND_FULL`.
  public static let refundFull = RevocationType(rawValue: "REFUND_FULL")
  /// `REFUND_PRORATED`.
  public static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
  /// `FAMILY_REVOKE`.
  public static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")
}

/// How a subscription is billed.
public struct BillingPlanType: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `BILLED_UPFRONT`.
  public static let billedUpfront = BillingPlanType(rawValue: "BILLED_UPFRONT")
  /// `MONTHLY`.
  public static let monthly = BillingPlanType(rawValue: "MONTHLY")
}

/// Where an app was first got.
public struct Platform: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `iOS`.
  public static let iOS = Platform(rawValue: "iOS")
  /// `macOS`.
  public static let macOS = Platform(rawValue: "macOS")
  /// `tvOS`.
  public static let tvOS = Platform(rawValue: "tvOS")
  /// `visionOS`.
  public static let visionOS = Platform(rawValue: "visionOS")
}
