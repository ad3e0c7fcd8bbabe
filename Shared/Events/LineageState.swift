public import JSON

/// Whether the customer to whom a lineage state is addressed has the lineage.
public struct Holding: RawRepresentable, Codable, Hashable, Sendable {
  /// The word on the wire.
  public let rawValue: String

  /// Wraps a word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The lineage is this customer's.
  public static let held = Holding(rawValue: "held")
  /// The lineage was this customer's and now is another's.
  public static let left = Holding(rawValue: "left")
}

/// The whole state of a lineage at one revision: enough to derive everything downstream.
public struct LineageState: Codable, Sendable, Equatable {
  /// Which lineage.
  public var lineage: LineageID
  /// Grows by one with each change of the lineage.
  public var revision: Int64
  /// To whom this state is addressed.
  public var customer: String
  /// Whether that customer has the lineage.
  public var holding: Holding
  /// Every transaction that is known, oldest purchase first.
  public var transactions: [LineageTransaction]
  /// The newest renewal info, for auto-renewable subscriptions.
  public var renewal: LineageRenewal?
  /// Apple's newest `status`: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
  public var status: Int64?
  /// When Apple said so, UTC milliseconds.
  public var statusDate: Int64?
  /// What brought this revision.
  public var cause: LineageCause
  /// Whether the customer shares it with its owner, by the transfer policy `share`; nil for no.
  public var isShared: Bool?
  /// SHA-256 of Xcode's certificate, in environment Xcode: its signatures prove nothing by Apple.
  public var xcodeCertificate: String?
  /// When the ledger decided it, UTC milliseconds.
  public var decidedAt: Int64

  /// Makes a state.
  public init(
    lineage: LineageID, revision: Int64, customer: String, holding: Holding,
    transactions: [LineageTransaction], renewal: LineageRenewal? = nil, status: Int64? = nil,
    statusDate: Int64? = nil, cause: LineageCause, decidedAt: Int64
  ) {
    self.lineage = lineage
    self.revision = revision
    self.customer = customer
    self.holding = holding
    self.transactions = transactions
    self.renewal = renewal
    self.status = status
    self.statusDate = statusDate
    self.cause = cause
    self.decidedAt = decidedAt
  }
}

/// What brought a revision of a lineage.
public struct LineageCause: Codable, Sendable, Equatable {
  /// `notification`, `proof`, `receipt`, `back-fill`, `reconcile`, `import`, `refresh`,
  /// `token-known`, `transfer` (by support), `merge` or `erasure`.
  public var kind: String
  /// Apple's `notificationType`, for notifications.
  public var notificationType: String?
  /// Apple's `subtype`, for notifications.
  public var subtype: String?
  /// SHA-256 of the signed text behind it, lower-case hex.
  public var fact: String?
  /// The transaction that it was about, such as the one that a customer wants to give back.
  public var transactionId: String?
  /// Why a refund is asked for, with CONSUMPTION_REQUEST: `UNINTENDED_PURCHASE` and so on.
  public var consumptionRequestReason: String?
  /// When Apple signed the notification, UTC milliseconds.
  public var signedDate: Int64?

  /// Makes a cause.
  public init(
    kind: String, notificationType: String? = nil, subtype: String? = nil, fact: String? = nil,
    transactionId: String? = nil, consumptionRequestReason: String? = nil, signedDate: Int64? = nil
  ) {
    self.kind = kind
    self.notificationType = notificationType
    self.subtype = subtype
    self.fact = fact
    self.transactionId = transactionId
    self.consumptionRequestReason = consumptionRequestReason
    self.signedDate = signedDate
  }
}

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
  /// When it was charged.
  public var purchaseDate: Int64
  /// When the lineage's first transaction was charged.
  public var originalPurchaseDate: Int64?
  /// End of the period; auto-renewables only.
  public var expiresDate: Int64?
  /// When Apple signed this version of it.
  public var signedDate: Int64
  /// When it was refunded or revoked.
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
  /// Until when the grace period keeps access.
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
  /// End of the newest period; may be past.
  public var renewalDate: Int64?
  /// What the next period will cost, in milliunits.
  public var renewalPrice: Int64?
  /// ISO 4217.
  public var currency: String?
  /// Start of the present streak.
  public var recentSubscriptionStartDate: Int64?
  /// `BILLED_UPFRONT` or `MONTHLY`, of the next period.
  public var renewalBillingPlanType: String?
  /// The commitment that would follow.
  public var commitmentInfo: LineageRenewalCommitment?
  /// When Apple signed this version of it.
  public var signedDate: Int64
  /// SHA-256 of the signed text, lower-case hex; decides between two of one `signedDate`.
  public var hash: String

  /// Makes renewal info with what is always there; the rest is set afterwards.
  public init(signedDate: Int64, hash: String) {
    self.signedDate = signedDate
    self.hash = hash
  }
}

extension LineageState: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      lineage: try fields.object("lineage", LineageID.init(fields:)),
      revision: try fields.number("revision"), customer: try fields.text("customer"),
      holding: Holding(rawValue: try fields.text("holding")),
      transactions: try fields.objects("transactions", LineageTransaction.init(fields:)),
      renewal: try fields.optionalObject("renewal", LineageRenewal.init(fields:)),
      status: try fields.optionalNumber("status"),
      statusDate: try fields.optionalNumber("statusDate"),
      cause: try fields.object("cause", LineageCause.init(fields:)),
      decidedAt: try fields.number("decidedAt"))
    isShared = try fields.optionalBool("isShared")
    xcodeCertificate = try fields.optionalText("xcodeCertificate")
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.object("cause", cause.write)
    json.text("customer", customer)
    json.number("decidedAt", decidedAt)
    json.text("holding", holding.rawValue)
    json.bool("isShared", isShared)
    json.object("lineage", lineage.write)
    if let renewal { json.object("renewal", renewal.write) }
    json.number("revision", revision)
    json.number("status", status)
    json.number("statusDate", statusDate)
    json.objects("transactions", transactions) { $0.write(to: &$1) }
    json.text("xcodeCertificate", xcodeCertificate)
  }
}

extension LineageCause: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      kind: try fields.text("kind"), notificationType: try fields.optionalText("notificationType"),
      subtype: try fields.optionalText("subtype"), fact: try fields.optionalText("fact"),
      transactionId: try fields.optionalText("transactionId"),
      consumptionRequestReason: try fields.optionalText("consumptionRequestReason"),
      signedDate: try fields.optionalNumber("signedDate"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("consumptionRequestReason", consumptionRequestReason)
    json.text("fact", fact)
    json.text("kind", kind)
    json.text("notificationType", notificationType)
    json.number("signedDate", signedDate)
    json.text("subtype", subtype)
    json.text("transactionId", transactionId)
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
