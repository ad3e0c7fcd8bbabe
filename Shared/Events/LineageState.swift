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
