public import JSON

/// What will come at the end of a subscription's period.
///
/// Names and meanings are Apple's
/// (JWSRenewalInfoDecodedPayload); times are UTC milliseconds, money is milliunits.
public struct LineageRenewal: Codable, Sendable, Equatable {
  /// The product.
  public var productId: String?
  /// The product of the next period.
  public var autoRenewProductId: String?
  /// 1 on, 0 off.
  public var autoRenewStatus: Int64?
  /// 1 cancelled, 2 billing, 3 price, 4 not for sale, 5 other.
  public var expirationIntent: Int64?
  /// Whether Apple is retrying to bill.
  public var isInBillingRetryPeriod: Bool?
  /// Until when the grace period keeps access, UTC milliseconds.
  public var gracePeriodExpiresDate: Int64?
  /// 0 not answered, 1 consented.
  public var priceIncreaseStatus: Int64?
  /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
  public var offerType: Int64?
  /// The offer, save for introductory ones.
  public var offerIdentifier: String?
  /// `FREE_TRIAL`, `PAY_AS_YOU_GO` or `PAY_UP_FRONT`.
  public var offerDiscountType: String?
  /// ISO 8601 duration of the offer.
  public var offerPeriod: String?
  /// Win-back offers that the customer may have, the best first.
  public var eligibleWinBackOfferIds: [String]?
  /// The token that the next renewal will bear, in lower case.
  public var appAccountToken: String?
  /// Apple's id of the app's download.
  public var appTransactionId: String?
  /// How it is proved when Apple did not sign it singly: `verify-receipt`.
  public var evidence: String?
  /// End of the newest period, UTC milliseconds; may be past.
  public var renewalDate: Int64?
  /// What the next period will cost, in milliunits.
  public var renewalPrice: Int64?
  /// ISO 4217.
  public var currency: String?
  /// Start of the present streak, UTC milliseconds.
  public var recentSubscriptionStartDate: Int64?
  /// `BILLED_UPFRONT` or `MONTHLY`, of the next period.
  public var renewalBillingPlanType: String?
  /// The commitment that would follow.
  public var commitmentInfo: LineageRenewalCommitment?
  /// When Apple signed this version of it, UTC milliseconds.
  public var signedDate: Int64
  /// SHA-256 of the signed text, lower-case hex; decides between two of one `signedDate`.
  public var hash: String

  /// Makes renewal info with what is always there; the rest is set afterwards.
  public init(signedDate: Int64, hash: String) {
    self.signedDate = signedDate
    self.hash = hash
  }
}

extension LineageRenewal: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(signedDate: try fields.number("signedDate"), hash: try fields.text("hash"))
    productId = try fields.optionalText("productId")
    autoRenewProductId = try fields.optionalText("autoRenewProductId")
    autoRenewStatus = try fields.optionalNumber("autoRenewStatus")
    expirationIntent = try fields.optionalNumber("expirationIntent")
    isInBillingRetryPeriod = try fields.optionalBool("isInBillingRetryPeriod")
    gracePeriodExpiresDate = try fields.optionalNumber("gracePeriodExpiresDate")
    priceIncreaseStatus = try fields.optionalNumber("priceIncreaseStatus")
    offerType = try fields.optionalNumber("offerType")
    offerIdentifier = try fields.optionalText("offerIdentifier")
    offerDiscountType = try fields.optionalText("offerDiscountType")
    offerPeriod = try fields.optionalText("offerPeriod")
    eligibleWinBackOfferIds = try fields.optionalTexts("eligibleWinBackOfferIds")
    appAccountToken = try fields.optionalText("appAccountToken")
    appTransactionId = try fields.optionalText("appTransactionId")
    evidence = try fields.optionalText("evidence")
    renewalDate = try fields.optionalNumber("renewalDate")
    renewalPrice = try fields.optionalNumber("renewalPrice")
    currency = try fields.optionalText("currency")
    recentSubscriptionStartDate = try fields.optionalNumber("recentSubscriptionStartDate")
    renewalBillingPlanType = try fields.optionalText("renewalBillingPlanType")
    commitmentInfo = try fields.optionalObject(
      "commitmentInfo", LineageRenewalCommitment.init(fields:))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("appAccountToken", appAccountToken)
    json.text("appTransactionId", appTransactionId)
    json.text("autoRenewProductId", autoRenewProductId)
    json.number("autoRenewStatus", autoRenewStatus)
    if let commitmentInfo { json.object("commitmentInfo", commitmentInfo.write) }
    json.text("currency", currency)
    json.texts("eligibleWinBackOfferIds", eligibleWinBackOfferIds)
    json.text("evidence", evidence)
    json.number("expirationIntent", expirationIntent)
    json.number("gracePeriodExpiresDate", gracePeriodExpiresDate)
    json.text("hash", hash)
    json.bool("isInBillingRetryPeriod", isInBillingRetryPeriod)
    json.text("offerDiscountType", offerDiscountType)
    json.text("offerIdentifier", offerIdentifier)
    json.text("offerPeriod", offerPeriod)
    json.number("offerType", offerType)
    json.number("priceIncreaseStatus", priceIncreaseStatus)
    json.text("productId", productId)
    json.number("recentSubscriptionStartDate", recentSubscriptionStartDate)
    json.text("renewalBillingPlanType", renewalBillingPlanType)
    json.number("renewalDate", renewalDate)
    json.number("renewalPrice", renewalPrice)
    json.number("signedDate", signedDate)
  }
}
