/// One thing that Apple charged or gave: `JWSTransactionDecodedPayload`.
///
/// Every field is optional, because every one has been seen missing.
public struct TransactionPayload: Payload, Equatable {
  /// Decimal digits; equal to `originalTransactionId` for a first purchase.
  public var transactionId: String?
  /// The stable key of a purchase or subscription.
  public var originalTransactionId: String?
  /// Auto-renewables: one per subscription period, across devices.
  public var webOrderLineItemId: String?
  /// The app.
  public var bundleId: String?
  /// The product.
  public var productId: String?
  /// Auto-renewables: the subscription group.
  public var subscriptionGroupIdentifier: String?
  /// When it was charged (purchase, restore, renewal), milliseconds.
  public var purchaseDate: Int64?
  /// Purchase date of the original transaction, milliseconds.
  public var originalPurchaseDate: Int64?
  /// Auto-renewables: end of the period, milliseconds.
  public var expiresDate: Int64?
  /// Units bought of a consumable, seats with multiseat, otherwise 1.
  public var quantity: Int32?
  /// Kind of product.
  public var type: ProductType?
  /// The UUID that the app gave at purchase, as received.
  public var appAccountToken: String?
  /// Bought, or shared by the family or an organization.
  public var inAppOwnershipType: OwnershipType?
  /// When Apple signed this copy, milliseconds; orders copies of one transaction.
  public var signedDate: Int64?
  /// Why it was refunded.
  public var revocationReason: RevocationReason?
  /// When it was refunded or revoked, milliseconds.
  public var revocationDate: Int64?
  /// Full or prorated refund, or end of Family Sharing.
  public var revocationType: RevocationType?
  /// Part refunded, in thousandths of a percent: 50000 is 50 %.
  public var revocationPercentage: Int32?
  /// True when an upgrade replaced this transaction; Xcode also sends false.
  public var isUpgraded: Bool?
  /// Kind of offer that applied.
  public var offerType: OfferType?
  /// The offer; absent for introductory ones.
  public var offerIdentifier: String?
  /// Payment mode of the offer.
  public var offerDiscountType: OfferDiscountType?
  /// Total duration of the offer, ISO 8601.
  public var offerPeriod: String?
  /// Where it happened.
  public var environment: AppEnvironment?
  /// Country, ISO 3166-1 alpha-3.
  public var storefront: String?
  /// Apple's number of the storefront.
  public var storefrontId: String?
  /// Purchase or renewal.
  public var transactionReason: TransactionReason?
  /// ISO 4217, with `price`.
  public var currency: String?
  /// Total including discount and quantity, in milliunits of the currency.
  public var price: Int64?
  /// The download: the same for all purchases of a customer in one app.
  public var appTransactionId: String?
  /// Advanced Commerce products only.
  public var advancedCommerceInfo: AdvancedCommerceTransactionInfo?
  /// Paid up front, or a commitment billed monthly.
  public var billingPlanType: BillingPlanType?
  /// The commitment of a monthly billed plan.
  public var commitmentInfo: TransactionCommitmentInfo?
  /// Original id before migration to Advanced Commerce.
  public var previousOriginalTransactionId: String?
  /// Seats of a multiseat subscription.
  public var multiSeatInfo: MultiSeatInfo?
  /// Present when seats were added within a period.
  public var additionalTransactionReason: String?
  /// Copies from a device: base64 of a SHA-384 over nonce and device id.
  public var deviceVerification: String?
  /// Copies from a device: the UUID in that hash.
  public var deviceVerificationNonce: String?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    transactionId = try fields.string("transactionId")
    originalTransactionId = try fields.string("originalTransactionId")
    webOrderLineItemId = try fields.string("webOrderLineItemId")
    bundleId = try fields.string("bundleId")
    productId = try fields.string("productId")
    subscriptionGroupIdentifier = try fields.string("subscriptionGroupIdentifier")
    purchaseDate = try fields.milliseconds("purchaseDate")
    originalPurchaseDate = try fields.milliseconds("originalPurchaseDate")
    expiresDate = try fields.milliseconds("expiresDate")
    quantity = try fields.int32("quantity")
    type = try fields.value("type")
    appAccountToken = try fields.string("appAccountToken")
    inAppOwnershipType = try fields.value("inAppOwnershipType")
    signedDate = try fields.milliseconds("signedDate")
    revocationReason = try fields.value("revocationReason")
    revocationDate = try fields.milliseconds("revocationDate")
    revocationType = try fields.value("revocationType")
    revocationPercentage = try fields.int32("revocationPercentage")
    isUpgraded = try fields.bool("isUpgraded")
    offerType = try fields.value("offerType")
    offerIdentifier = try fields.string("offerIdentifier")
    offerDiscountType = try fields.value("offerDiscountType")
    offerPeriod = try fields.string("offerPeriod")
    environment = try fields.value("environment")
    storefront = try fields.string("storefront")
    storefrontId = try fields.string("storefrontId")
    transactionReason = try fields.value("transactionReason")
    currency = try fields.string("currency")
    price = try fields.int64("price")
    appTransactionId = try fields.string("appTransactionId")
    advancedCommerceInfo = try fields.object("advancedCommerceInfo")
    billingPlanType = try fields.value("billingPlanType")
    commitmentInfo = try fields.object("commitmentInfo")
    previousOriginalTransactionId = try fields.string("previousOriginalTransactionId")
    multiSeatInfo = try fields.object("multiSeatInfo")
    additionalTransactionReason = try fields.string("additionalTransactionReason")
    deviceVerification = try fields.string("deviceVerification")
    deviceVerificationNonce = try fields.string("deviceVerificationNonce")
  }
}
