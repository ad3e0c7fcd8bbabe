/// What will happen to a subscription next: `JWSRenewalInfoDecodedPayload`.
///
/// It names no bundle id, no expiry and no status.
public struct RenewalInfoPayload: Payload, Equatable {
  /// The subscription.
  public var originalTransactionId: String?
  /// Product of the current period.
  public var productId: String?
  /// Product of the next period.
  public var autoRenewProductId: String?
  /// Whether it will renew.
  public var autoRenewStatus: AutoRenewStatus?
  /// Why it expired or is failing.
  public var expirationIntent: ExpirationIntent?
  /// True while Apple retries billing.
  public var isInBillingRetryPeriod: Bool?
  /// End of the billing grace period, milliseconds.
  public var gracePeriodExpiresDate: Int64?
  /// Whether the customer consented to a price increase.
  public var priceIncreaseStatus: PriceIncreaseStatus?
  /// Kind of the offer of the next period.
  public var offerType: OfferType?
  /// The offer of the next period.
  public var offerIdentifier: String?
  /// Payment mode of that offer.
  public var offerDiscountType: OfferDiscountType?
  /// Total duration of that offer, ISO 8601.
  public var offerPeriod: String?
  /// When Apple signed this copy, milliseconds.
  public var signedDate: Int64?
  /// Where it happened.
  public var environment: AppEnvironment?
  /// Start of the current streak, milliseconds.
  public var recentSubscriptionStartDate: Int64?
  /// Expiry of the newest purchase, milliseconds; may be past.
  public var renewalDate: Int64?
  /// ISO 4217, with `renewalPrice`.
  public var currency: String?
  /// Price of the next renewal with discount, in milliunits.
  public var renewalPrice: Int64?
  /// Win-back offers for this customer, best first.
  public var eligibleWinBackOfferIds: [String]?
  /// The UUID for the upcoming renewal, as received.
  public var appAccountToken: String?
  /// The download: one customer in one app.
  public var appTransactionId: String?
  /// Advanced Commerce products only.
  public var advancedCommerceInfo: AdvancedCommerceRenewalInfo?
  /// The commitment of the next period.
  public var commitmentInfo: RenewalCommitmentInfo?
  /// Billing plan of the next period.
  public var renewalBillingPlanType: BillingPlanType?
  /// Copies from a device: base64 of a SHA-384 over nonce and device id.
  public var deviceVerification: String?
  /// Copies from a device: the UUID in that hash.
  public var deviceVerificationNonce: String?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    originalTransactionId = try fields.string("originalTransactionId")
    productId = try fields.string("productId")
    autoRenewProductId = try fields.string("autoRenewProductId")
    autoRenewStatus = try fields.value("autoRenewStatus")
    expirationIntent = try fields.value("expirationIntent")
    isInBillingRetryPeriod = try fields.bool("isInBillingRetryPeriod")
    gracePeriodExpiresDate = try fields.milliseconds("gracePeriodExpiresDate")
    priceIncreaseStatus = try fields.value("priceIncreaseStatus")
    offerType = try fields.value("offerType")
    offerIdentifier = try fields.string("offerIdentifier")
    offerDiscountType = try fields.value("offerDiscountType")
    offerPeriod = try fields.string("offerPeriod")
    signedDate = try fields.milliseconds("signedDate")
    environment = try fields.value("environment")
    recentSubscriptionStartDate = try fields.milliseconds("recentSubscriptionStartDate")
    renewalDate = try fields.milliseconds("renewalDate")
    currency = try fields.string("currency")
    renewalPrice = try fields.int64("renewalPrice")
    eligibleWinBackOfferIds = try fields.strings("eligibleWinBackOfferIds")
    appAccountToken = try fields.string("appAccountToken")
    appTransactionId = try fields.string("appTransactionId")
    advancedCommerceInfo = try fields.object("advancedCommerceInfo")
    commitmentInfo = try fields.object("commitmentInfo")
    renewalBillingPlanType = try fields.value("renewalBillingPlanType")
    deviceVerification = try fields.string("deviceVerification")
    deviceVerificationNonce = try fields.string("deviceVerificationNonce")
  }
}
