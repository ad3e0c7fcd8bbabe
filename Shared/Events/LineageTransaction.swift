public import JSON

/// One thing that Apple charged, normalized.
///
/// Names and meanings are Apple's
/// (JWSTransactionDecodedPayload); times are UTC milliseconds, money is milliunits.
public struct LineageTransaction: Codable, Sendable, Equatable {
  /// Apple's id of this transaction.
  public var transactionId: String
  /// The product.
  public var productId: String
  /// Apple's `type`, such as `Auto-Renewable Subscription`.
  public var type: String
  /// How many were bought; 1 except for consumables.
  public var quantity: Int64
  /// When it was charged, UTC milliseconds.
  public var purchaseDate: Int64
  /// When the lineage's first transaction was charged, UTC milliseconds.
  public var originalPurchaseDate: Int64?
  /// End of the period, UTC milliseconds; auto-renewables only.
  public var expiresDate: Int64?
  /// When Apple signed this version of it, UTC milliseconds.
  public var signedDate: Int64
  /// When it was refunded or revoked, UTC milliseconds.
  public var revocationDate: Int64?
  /// 0 other, 1 issue within the app.
  public var revocationReason: Int64?
  /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
  public var revocationType: String?
  /// Milliunits of percent: 50000 is 50 %.
  public var revocationPercentage: Int64?
  /// Whether an upgrade replaced it.
  public var isUpgraded: Bool?
  /// `PURCHASED`, `FAMILY_SHARED` or what Apple adds.
  public var inAppOwnershipType: String?
  /// `PURCHASE` or `RENEWAL`.
  public var transactionReason: String?
  /// The subscription group.
  public var subscriptionGroupIdentifier: String?
  /// Apple's id of the subscription period.
  public var webOrderLineItemId: String?
  /// The token that the app gave at purchase, in lower case.
  public var appAccountToken: String?
  /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
  public var offerType: Int64?
  /// The offer, save for introductory ones.
  public var offerIdentifier: String?
  /// `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.
  public var offerDiscountType: String?
  /// ISO 8601 duration of the offer.
  public var offerPeriod: String?
  /// What was paid in all, in milliunits of the currency.
  public var price: Int64?
  /// ISO 4217.
  public var currency: String?
  /// ISO 3166-1 alpha-3.
  public var storefront: String?
  /// Apple's id of the app's download: the same for all purchases of a person in one app.
  public var appTransactionId: String?
  /// `BILLED_UPFRONT`, or `MONTHLY` for a commitment of twelve months that is billed monthly.
  public var billingPlanType: String?
  /// The commitment that it belongs to, for those.
  public var commitmentInfo: LineageCommitment?
  /// Why there are several transactions in one period, such as seats that were added.
  public var additionalTransactionReason: String?
  /// Seats of it that were refunded or given back.
  public var revokedSeatQuantity: Int64?
  /// The lineage's id before it moved to Advanced Commerce.
  public var previousOriginalTransactionId: String?
  /// How it is proved when Apple did not sign it singly: `receipt`, or `verify-receipt` for an answer
  /// of Apple's that bears no signature at all.
  public var evidence: String?
  /// SHA-256 of the signed text, lower-case hex; decides between two of one `signedDate`.
  public var hash: String

  /// Makes a transaction with what every transaction has; the rest is set afterwards.
  public init(
    transactionId: String, productId: String, type: String, quantity: Int64, purchaseDate: Int64,
    signedDate: Int64, hash: String
  ) {
    self.transactionId = transactionId
    self.productId = productId
    self.type = type
    self.quantity = quantity
    self.purchaseDate = purchaseDate
    self.signedDate = signedDate
    self.hash = hash
  }
}

extension LineageTransaction: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      transactionId: try fields.text("transactionId"), productId: try fields.text("productId"),
      type: try fields.text("type"), quantity: try fields.number("quantity"),
      purchaseDate: try fields.number("purchaseDate"), signedDate: try fields.number("signedDate"),
      hash: try fields.text("hash"))
    originalPurchaseDate = try fields.optionalNumber("originalPurchaseDate")
    expiresDate = try fields.optionalNumber("expiresDate")
    revocationDate = try fields.optionalNumber("revocationDate")
    revocationReason = try fields.optionalNumber("revocationReason")
    revocationType = try fields.optionalText("revocationType")
    revocationPercentage = try fields.optionalNumber("revocationPercentage")
    isUpgraded = try fields.optionalBool("isUpgraded")
    inAppOwnershipType = try fields.optionalText("inAppOwnershipType")
    transactionReason = try fields.optionalText("transactionReason")
    subscriptionGroupIdentifier = try fields.optionalText("subscriptionGroupIdentifier")
    webOrderLineItemId = try fields.optionalText("webOrderLineItemId")
    appAccountToken = try fields.optionalText("appAccountToken")
    offerType = try fields.optionalNumber("offerType")
    offerIdentifier = try fields.optionalText("offerIdentifier")
    offerDiscountType = try fields.optionalText("offerDiscountType")
    offerPeriod = try fields.optionalText("offerPeriod")
    price = try fields.optionalNumber("price")
    currency = try fields.optionalText("currency")
    storefront = try fields.optionalText("storefront")
    appTransactionId = try fields.optionalText("appTransactionId")
    billingPlanType = try fields.optionalText("billingPlanType")
    commitmentInfo = try fields.optionalObject("commitmentInfo", LineageCommitment.init(fields:))
    additionalTransactionReason = try fields.optionalText("additionalTransactionReason")
    revokedSeatQuantity = try fields.optionalNumber("revokedSeatQuantity")
    previousOriginalTransactionId = try fields.optionalText("previousOriginalTransactionId")
    evidence = try fields.optionalText("evidence")
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("additionalTransactionReason", additionalTransactionReason)
    json.text("appAccountToken", appAccountToken)
    json.text("appTransactionId", appTransactionId)
    json.text("billingPlanType", billingPlanType)
    if let commitmentInfo { json.object("commitmentInfo", commitmentInfo.write) }
    json.text("currency", currency)
    json.text("evidence", evidence)
    json.number("expiresDate", expiresDate)
    json.text("hash", hash)
    json.text("inAppOwnershipType", inAppOwnershipType)
    json.bool("isUpgraded", isUpgraded)
    json.text("offerDiscountType", offerDiscountType)
    json.text("offerIdentifier", offerIdentifier)
    json.text("offerPeriod", offerPeriod)
    json.number("offerType", offerType)
    json.number("originalPurchaseDate", originalPurchaseDate)
    json.text("previousOriginalTransactionId", previousOriginalTransactionId)
    json.number("price", price)
    json.text("productId", productId)
    json.number("purchaseDate", purchaseDate)
    json.number("quantity", quantity)
    json.number("revocationDate", revocationDate)
    json.number("revocationPercentage", revocationPercentage)
    json.number("revocationReason", revocationReason)
    json.text("revocationType", revocationType)
    json.number("revokedSeatQuantity", revokedSeatQuantity)
    json.number("signedDate", signedDate)
    json.text("storefront", storefront)
    json.text("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
    json.text("transactionId", transactionId)
    json.text("transactionReason", transactionReason)
    json.text("type", type)
    json.text("webOrderLineItemId", webOrderLineItemId)
  }
}
