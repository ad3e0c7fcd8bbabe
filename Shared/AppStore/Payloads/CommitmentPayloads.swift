/// The commitment that a monthly billed transaction belongs to.
public struct TransactionCommitmentInfo: Payload, Equatable {
  /// This period, from 1 to `totalBillingPeriods`.
  public var billingPeriodNumber: Int32?
  /// Periods in the commitment.
  public var totalBillingPeriods: Int32?
  /// End of the commitment, milliseconds.
  public var commitmentExpiresDate: Int64?
  /// Price of the whole commitment, in milliunits.
  public var commitmentPrice: Int64?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    billingPeriodNumber = try fields.int32("billingPeriodNumber")
    totalBillingPeriods = try fields.int32("totalBillingPeriods")
    commitmentExpiresDate = try fields.milliseconds("commitmentExpiresDate")
    commitmentPrice = try fields.int64("commitmentPrice")
  }
}

/// The commitment that follows the current one.
public struct RenewalCommitmentInfo: Payload, Equatable {
  /// Product of the next commitment.
  public var commitmentAutoRenewProductId: String?
  /// Whether the commitment will renew.
  public var commitmentAutoRenewStatus: AutoRenewStatus?
  /// Billing plan of the next commitment.
  public var commitmentRenewalBillingPlanType: BillingPlanType?
  /// When the commitment renews, milliseconds.
  public var commitmentRenewalDate: Int64?
  /// Price of the next commitment, in milliunits.
  public var commitmentRenewalPrice: Int64?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    commitmentAutoRenewProductId = try fields.string("commitmentAutoRenewProductId")
    commitmentAutoRenewStatus = try fields.value("commitmentAutoRenewStatus")
    commitmentRenewalBillingPlanType = try fields.value("commitmentRenewalBillingPlanType")
    commitmentRenewalDate = try fields.milliseconds("commitmentRenewalDate")
    commitmentRenewalPrice = try fields.int64("commitmentRenewalPrice")
  }
}
