public import JSON

/// The commitment that a period belongs to, billed monthly (Apple's TransactionCommitmentInfo).
public struct LineageCommitment: Codable, Sendable, Equatable {
  /// Which period of the commitment it is, from 1.
  public var billingPeriodNumber: Int64?
  /// How many periods the commitment has.
  public var totalBillingPeriods: Int64?
  /// End of the commitment, UTC milliseconds.
  public var commitmentExpiresDate: Int64?
  /// What the whole commitment costs, in milliunits.
  public var commitmentPrice: Int64?

  /// Makes a commitment of which nothing is known.
  public init() {}
}

/// The commitment that follows the present one (Apple's RenewalCommitmentInfo).
public struct LineageRenewalCommitment: Codable, Sendable, Equatable {
  /// The product of the next commitment.
  public var commitmentAutoRenewProductId: String?
  /// 1 on, 0 off.
  public var commitmentAutoRenewStatus: Int64?
  /// `BILLED_UPFRONT` or `MONTHLY`, of the next commitment.
  public var commitmentRenewalBillingPlanType: String?
  /// When the commitment renews, UTC milliseconds.
  public var commitmentRenewalDate: Int64?
  /// What the next commitment will cost, in milliunits.
  public var commitmentRenewalPrice: Int64?

  /// Makes a commitment of which nothing is known.
  public init() {}
}

extension LineageCommitment: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init()
    billingPeriodNumber = try fields.optionalNumber("billingPeriodNumber")
    totalBillingPeriods = try fields.optionalNumber("totalBillingPeriods")
    commitmentExpiresDate = try fields.optionalNumber("commitmentExpiresDate")
    commitmentPrice = try fields.optionalNumber("commitmentPrice")
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.number("billingPeriodNumber", billingPeriodNumber)
    json.number("commitmentExpiresDate", commitmentExpiresDate)
    json.number("commitmentPrice", commitmentPrice)
    json.number("totalBillingPeriods", totalBillingPeriods)
  }
}

extension LineageRenewalCommitment: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init()
    commitmentAutoRenewProductId = try fields.optionalText("commitmentAutoRenewProductId")
    commitmentAutoRenewStatus = try fields.optionalNumber("commitmentAutoRenewStatus")
    commitmentRenewalBillingPlanType = try fields.optionalText("commitmentRenewalBillingPlanType")
    commitmentRenewalDate = try fields.optionalNumber("commitmentRenewalDate")
    commitmentRenewalPrice = try fields.optionalNumber("commitmentRenewalPrice")
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("commitmentAutoRenewProductId", commitmentAutoRenewProductId)
    json.number("commitmentAutoRenewStatus", commitmentAutoRenewStatus)
    json.text("commitmentRenewalBillingPlanType", commitmentRenewalBillingPlanType)
    json.number("commitmentRenewalDate", commitmentRenewalDate)
    json.number("commitmentRenewalPrice", commitmentRenewalPrice)
  }
}
