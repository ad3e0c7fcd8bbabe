/// One transaction of an answer of `verifyReceipt`: of `in_app` and of `latest_receipt_info`.
public struct VerifyReceiptTransaction: Payload, Equatable {
  /// Units bought.
  public var quantity: Int64?
  /// The product.
  public var productId: String?
  /// The transaction.
  public var transactionId: String?
  /// The first transaction of the lineage.
  public var originalTransactionId: String?
  /// When it was charged, milliseconds.
  public var purchaseDate: Int64?
  /// When the first transaction was charged, milliseconds.
  public var originalPurchaseDate: Int64?
  /// End of the subscription's period, milliseconds.
  public var expiresDate: Int64?
  /// When it was refunded or revoked, milliseconds.
  public var cancellationDate: Int64?
  /// Why it was refunded.
  public var cancellationReason: RevocationReason?
  /// The subscription's period across devices.
  public var webOrderLineItemId: String?
  /// Whether the period is a free trial.
  public var isTrialPeriod: Bool?
  /// Whether the period has an introductory price.
  public var isInIntroOfferPeriod: Bool?
  /// The promotional offer that applied.
  public var promotionalOfferId: String?
  /// Name of the offer whose code was redeemed.
  public var offerCodeRefName: String?
  /// Bought, or shared by the family.
  public var inAppOwnershipType: OwnershipType?
  /// The UUID that the app gave at purchase.
  public var appAccountToken: String?
  /// True when an upgrade replaced this transaction.
  public var isUpgraded: Bool?
  /// The subscription group.
  public var subscriptionGroupIdentifier: String?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one that cannot be understood.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    quantity = try fields.looseNumber("quantity")
    productId = try fields.looseText("product_id")
    transactionId = try fields.looseText("transaction_id")
    originalTransactionId = try fields.looseText("original_transaction_id")
    purchaseDate = try fields.looseDate("purchase_date_ms", or: "purchase_date")
    originalPurchaseDate = try fields.looseDate(
      "original_purchase_date_ms", or: "original_purchase_date")
    expiresDate = try fields.looseDate("expires_date_ms", or: "expires_date")
    cancellationDate = try fields.looseDate("cancellation_date_ms", or: "cancellation_date")
    cancellationReason = try fields.looseValue("cancellation_reason")
    webOrderLineItemId = try fields.looseText("web_order_line_item_id")
    isTrialPeriod = try fields.looseFlag("is_trial_period")
    isInIntroOfferPeriod = try fields.looseFlag("is_in_intro_offer_period")
    promotionalOfferId = try fields.looseText("promotional_offer_id")
    offerCodeRefName = try fields.looseText("offer_code_ref_name")
    inAppOwnershipType = try fields.looseValue("in_app_ownership_type")
    appAccountToken = try fields.looseText("app_account_token")
    isUpgraded = try fields.looseFlag("is_upgraded")
    subscriptionGroupIdentifier = try fields.looseText("subscription_group_identifier")
  }

  /// Writes the fields as Apple does.
  public func encode(to encoder: any Encoder) throws {
    var writer = VerifyReceiptWriter(encoder)
    try writer.numberAsText("quantity", quantity)
    try writer.text("product_id", productId)
    try writer.text("transaction_id", transactionId)
    try writer.text("original_transaction_id", originalTransactionId)
    try writer.date("purchase_date", purchaseDate)
    try writer.date("original_purchase_date", originalPurchaseDate)
    try writer.date("expires_date", expiresDate)
    try writer.date("cancellation_date", cancellationDate)
    try writer.numberAsText("cancellation_reason", cancellationReason.map { Int64($0.rawValue) })
    try writer.text("web_order_line_item_id", webOrderLineItemId)
    try writer.flag("is_trial_period", isTrialPeriod)
    try writer.flag("is_in_intro_offer_period", isInIntroOfferPeriod)
    try writer.text("promotional_offer_id", promotionalOfferId)
    try writer.text("offer_code_ref_name", offerCodeRefName)
    try writer.text("in_app_ownership_type", inAppOwnershipType?.rawValue)
    try writer.text("app_account_token", appAccountToken)
    try writer.flag("is_upgraded", isUpgraded)
    try writer.text("subscription_group_identifier", subscriptionGroupIdentifier)
  }
}
