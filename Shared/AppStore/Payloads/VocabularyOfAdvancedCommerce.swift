/// Duration of a subscription period.
public struct AdvancedCommercePeriod: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `P1W`.
  public static let oneWeek = AdvancedCommercePeriod(rawValue: "P1W")
  /// `P1M`.
  public static let oneMonth = AdvancedCommercePeriod(rawValue: "P1M")
  /// `P2M`.
  public static let twoMonths = AdvancedCommercePeriod(rawValue: "P2M")
  /// `P3M`.
  public static let threeMonths = AdvancedCommercePeriod(rawValue: "P3M")
  /// `P6M`.
  public static let sixMonths = AdvancedCommercePeriod(rawValue: "P6M")
  /// `P1Y`.
  public static let oneYear = AdvancedCommercePeriod(rawValue: "P1Y")
}

/// Duration of an offer period.
public struct AdvancedCommerceOfferPeriod: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `P3D`.
  public static let threeDays = AdvancedCommerceOfferPeriod(rawValue: "P3D")
  /// `P1W`.
  public static let oneWeek = AdvancedCommerceOfferPeriod(rawValue: "P1W")
  /// `P2W`.
  public static let twoWeeks = AdvancedCommerceOfferPeriod(rawValue: "P2W")
  /// `P1M`.
  public static let oneMonth = AdvancedCommerceOfferPeriod(rawValue: "P1M")
  /// `P2M`.
  public static let twoMonths = AdvancedCommerceOfferPeriod(rawValue: "P2M")
  /// `P3M`.
  public static let threeMonths = AdvancedCommerceOfferPeriod(rawValue: "P3M")
  /// `P6M`.
  public static let sixMonths = AdvancedCommerceOfferPeriod(rawValue: "P6M")
  /// `P9M`.
  public static let nineMonths = AdvancedCommerceOfferPeriod(rawValue: "P9M")
  /// `P1Y`.
  public static let oneYear = AdvancedCommerceOfferPeriod(rawValue: "P1Y")
}

/// Why an offer was given.
public struct AdvancedCommerceOfferReason: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `ACQUISITION`.
  public static let acquisition = AdvancedCommerceOfferReason(rawValue: "ACQUISITION")
  /// `WIN_BACK`.
  public static let winBack = AdvancedCommerceOfferReason(rawValue: "WIN_BACK")
  /// `RETENTION`.
  public static let retention = AdvancedCommerceOfferReason(rawValue: "RETENTION")
}

/// How an item was refunded.
public struct AdvancedCommerceRefundType: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `FULL`.
  public static let full = AdvancedCommerceRefundType(rawValue: "FULL")
  /// `PRORATED`.
  public static let prorated = AdvancedCommerceRefundType(rawValue: "PRORATED")
  /// `CUSTOM`.
  public static let custom = AdvancedCommerceRefundType(rawValue: "CUSTOM")
}

/// Why an item was refunded.
public struct AdvancedCommerceRefundReason: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `UNINTENDED_PURCHASE`.
  public static let unintendedPurchase = AdvancedCommerceRefundReason(
    rawValue: "UNINTENDED_PURCHASE")
  /// `FULFILLMENT_ISSUE`.
  public static let fulfillmentIssue = AdvancedCommerceRefundReason(rawValue: "FULFILLMENT_ISSUE")
  /// `UNSATISFIED_WITH_PURCHASE`.
  public static let unsatisfiedWithPurchase = AdvancedCommerceRefundReason(
    rawValue: "UNSATISFIED_WITH_PURCHASE")
  /// `LEGAL`.
  public static let legal = AdvancedCommerceRefundReason(rawValue: "LEGAL")
  /// `OTHER`.
  public static let other = AdvancedCommerceRefundReason(rawValue: "OTHER")
  /// `MODIFY_ITEMS_REFUND`.
  public static let modifyItemsRefund = AdvancedCommerceRefundReason(
    rawValue: "MODIFY_ITEMS_REFUND")
  /// `SIMULATE_REFUND_DECLINE`.
  public static let simulateRefundDecline = AdvancedCommerceRefundReason(
    rawValue: "SIMULATE_REFUND_DECLINE")
}

/// How far a price increase is.
public struct AdvancedCommercePriceIncreaseStatus: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `SCHEDULED`.
  public static let scheduled = AdvancedCommercePriceIncreaseStatus(rawValue: "SCHEDULED")
  /// `PENDING`.
  public static let pending = AdvancedCommercePriceIncreaseStatus(rawValue: "PENDING")
  /// `ACCEPTED`.
  public static let accepted = AdvancedCommercePriceIncreaseStatus(rawValue: "ACCEPTED")
}
