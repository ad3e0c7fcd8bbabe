/// What a notification is about.
public struct NotificationType: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `SUBSCRIBED`.
  public static let subscribed = NotificationType(rawValue: "SUBSCRIBED")
  /// `DID_RENEW`.
  public static let didRenew = NotificationType(rawValue: "DID_RENEW")
  /// `DID_CHANGE_RENEWAL_PREF`.
  public static let didChangeRenewalPref = NotificationType(rawValue: "DID_CHANGE_RENEWAL_PREF")
  /// `DID_CHANGE_RENEWAL_STATUS`.
  public static let didChangeRenewalStatus = NotificationType(rawValue: "DID_CHANGE_RENEWAL_STATUS")
  /// `OFFER_REDEEMED`.
  public static let offerRedeemed = NotificationType(rawValue: "OFFER_REDEEMED")
  /// `DID_FAIL_TO_RENEW`.
  public static let didFailToRenew = NotificationType(rawValue: "DID_FAIL_TO_RENEW")
  /// `GRACE_PERIOD_EXPIRED`.
  public static let gracePeriodExpired = NotificationType(rawValue: "GRACE_PERIOD_EXPIRED")
  /// `EXPIRED`.
  public static let expired = NotificationType(rawValue: "EXPIRED")
  /// `PRICE_INCREASE`.
  public static let priceIncrease = NotificationType(rawValue: "PRICE_INCREASE")
  /// `REFUND`.
  public static let refund = NotificationType(rawValue: "REFUND")
  /// `REFUND_DECLINED`.
  public static let refundDeclined = NotificationType(rawValue: "REFUND_DECLINED")
  /// `REFUND_REVERSED`.
  public static let refundReversed = NotificationType(rawValue: "REFUND_REVERSED")
  /// `CONSUMPTION_REQUEST`.
  public static let consumptionRequest = NotificationType(rawValue: "CONSUMPTION_REQUEST")
  /// `REVOKE`.
  public static let revoke = NotificationType(rawValue: "REVOKE")
  /// `RENEWAL_EXTENDED`.
  public static let renewalExtended = NotificationType(rawValue: "RENEWAL_EXTENDED")
  /// `RENEWAL_EXTENSION`.
  public static let renewalExtension = NotificationType(rawValue: "RENEWAL_EXTENSION")
  /// `ONE_TIME_CHARGE`.
  public static let oneTimeCharge = NotificationType(rawValue: "ONE_TIME_CHARGE")
  /// `TEST`.
  public static let test = NotificationType(rawValue: "TEST")
  /// `EXTERNAL_PURCHASE_TOKEN`.
  public static let externalPurchaseToken = NotificationType(rawValue: "EXTERNAL_PURCHASE_TOKEN")
  /// `RESCIND_CONSENT`.
  public static let rescindConsent = NotificationType(rawValue: "RESCIND_CONSENT")
  /// `METADATA_UPDATE`.
  public static let metadataUpdate = NotificationType(rawValue: "METADATA_UPDATE")
  /// `MIGRATION`.
  public static let migration = NotificationType(rawValue: "MIGRATION")
  /// `PRICE_CHANGE`.
  public static let priceChange = NotificationType(rawValue: "PRICE_CHANGE")
  /// `UNCLAIM_SEATS`.
  public static let unclaimSeats = NotificationType(rawValue: "UNCLAIM_SEATS")
}

/// More about a notification.
public struct NotificationSubtype: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `INITIAL_BUY`.
  public static let initialBuy = NotificationSubtype(rawValue: "INITIAL_BUY")
  /// `RESUBSCRIBE`.
  public static let resubscribe = NotificationSubtype(rawValue: "RESUBSCRIBE")
  /// `DOWNGRADE`.
  public static let downgrade = NotificationSubtype(rawValue: "DOWNGRADE")
  /// `UPGRADE`.
  public static let upgrade = NotificationSubtype(rawValue: "UPGRADE")
  /// `AUTO_RENEW_ENABLED`.
  public static let autoRenewEnabled = NotificationSubtype(rawValue: "AUTO_RENEW_ENABLED")
  /// `AUTO_RENEW_DISABLED`.
  public static let autoRenewDisabled = NotificationSubtype(rawValue: "AUTO_RENEW_DISABLED")
  /// `VOLUNTARY`.
  public static let voluntary = NotificationSubtype(rawValue: "VOLUNTARY")
  /// `BILLING_RETRY`.
  public static let billingRetry = NotificationSubtype(rawValue: "BILLING_RETRY")
  /// `PRICE_INCREASE`.
  public static let priceIncrease = NotificationSubtype(rawValue: "PRICE_INCREASE")
  /// `GRACE_PERIOD`.
  public static let gracePeriod = NotificationSubtype(rawValue: "GRACE_PERIOD")
  /// `PENDING`.
  public static let pending = NotificationSubtype(rawValue: "PENDING")
  /// `ACCEPTED`.
  public static let accepted = NotificationSubtype(rawValue: "ACCEPTED")
  /// `BILLING_RECOVERY`.
  public static let billingRecovery = NotificationSubtype(rawValue: "BILLING_RECOVERY")
  /// `PRODUCT_NOT_FOR_SALE`.
  public static let productNotForSale = NotificationSubtype(rawValue: "PRODUCT_NOT_FOR_SALE")
  /// `SUMMARY`.
  public static let summary = NotificationSubtype(rawValue: "SUMMARY")
  /// `FAILURE`.
  public static let failure = NotificationSubtype(rawValue: "FAILURE")
  /// `UNREPORTED`.
  public static let unreported = NotificationSubtype(rawValue: "UNREPORTED")
  /// `CREATED`.
  public static let created = NotificationSubtype(rawValue: "CREATED")
  /// `ACTIVE_TOKEN_REMINDER`.
  public static let activeTokenReminder = NotificationSubtype(rawValue: "ACTIVE_TOKEN_REMINDER")
  /// `SEATS`.
  public static let seats = NotificationSubtype(rawValue: "SEATS")
}

/// Why a customer asked for a refund.
public struct ConsumptionRequestReason: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `UNINTENDED_PURCHASE`.
  public static let unintendedPurchase = ConsumptionRequestReason(rawValue: "UNINTENDED_PURCHASE")
  /// `FULFILLMENT_ISSUE`.
  public static let fulfillmentIssue = ConsumptionRequestReason(rawValue: "FULFILLMENT_ISSUE")
  /// `UNSATISFIED_WITH_PURCHASE`.
  public static let unsatisfiedWithPurchase = ConsumptionRequestReason(
    rawValue: "UNSATISFIED_WITH_PURCHASE")
  /// `LEGAL`.
  public static let legal = ConsumptionRequestReason(rawValue: "LEGAL")
  /// `OTHER`.
  public static let other = ConsumptionRequestReason(rawValue: "OTHER")
}
