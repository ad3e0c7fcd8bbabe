/// What is to come of one subscription: an element of `pending_renewal_info`.
public struct VerifyReceiptRenewal: Payload, Equatable {
  /// The product of the current or last period.
  public var productId: String?
  /// The lineage.
  public var originalTransactionId: String?
  /// The product of the next period.
  public var autoRenewProductId: String?
  /// Whether it will renew.
  public var autoRenewStatus: AutoRenewStatus?
  /// Why it ran out.
  public var expirationIntent: ExpirationIntent?
  /// Whether Apple still tries to charge.
  public var isInBillingRetryPeriod: Bool?
  /// End of the grace period, milliseconds; in the future while access goes on.
  public var gracePeriodExpiresDate: Int64?
  /// Whether the customer consented to a price increase.
  public var priceConsentStatus: PriceIncreaseStatus?
  /// The same of increases that need no consent.
  public var priceIncreaseStatus: PriceIncreaseStatus?
  /// The promotional offer of the next period.
  public var promotionalOfferId: String?
  /// Name of the offer whose code was redeemed.
  public var offerCodeRefName: String?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one that cannot be understood.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    productId = try fields.looseText("product_id")
    originalTransactionId = try fields.looseText("original_transaction_id")
    autoRenewProductId = try fields.looseText("auto_renew_product_id")
    autoRenewStatus = try fields.looseValue("auto_renew_status")
    expirationIntent = try fields.looseValue("expiration_intent")
    isInBillingRetryPeriod = try fields.looseFlag("is_in_billing_retry_period")
    gracePeriodExpiresDate = try fields.looseDate(
      "grace_period_expires_date_ms", or: "grace_period_expires_date")
    priceConsentStatus = try fields.looseValue("price_consent_status")
    priceIncreaseStatus = try fields.looseValue("price_increase_status")
    promotionalOfferId = try fields.looseText("promotional_offer_id")
    offerCodeRefName = try fields.looseText("offer_code_ref_name")
  }

  /// Writes the fields as Apple does.
  public func encode(to encoder: any Encoder) throws {
    var writer = VerifyReceiptWriter(encoder)
    try writer.text("product_id", productId)
    try writer.text("original_transaction_id", originalTransactionId)
    try writer.text("auto_renew_product_id", autoRenewProductId)
    try writer.numberAsText("auto_renew_status", autoRenewStatus.map { Int64($0.rawValue) })
    try writer.numberAsText("expiration_intent", expirationIntent.map { Int64($0.rawValue) })
    try writer.digit("is_in_billing_retry_period", isInBillingRetryPeriod)
    try writer.date("grace_period_expires_date", gracePeriodExpiresDate)
    try writer.numberAsText("price_consent_status", priceConsentStatus.map { Int64($0.rawValue) })
    try writer.numberAsText("price_increase_status", priceIncreaseStatus.map { Int64($0.rawValue) })
    try writer.text("promotional_offer_id", promotionalOfferId)
    try writer.text("offer_code_ref_name", offerCodeRefName)
  }
}
