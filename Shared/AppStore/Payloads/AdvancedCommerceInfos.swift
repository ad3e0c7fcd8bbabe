/// Advanced Commerce part of a transaction.
public struct AdvancedCommerceTransactionInfo: Payload, Equatable {
  /// Texts shown to the customer.
  public var descriptors: AdvancedCommerceDescriptors?
  /// Tax, in milliunits.
  public var estimatedTax: Int64?
  /// What was bought.
  public var items: [AdvancedCommerceTransactionItem]?
  /// Duration of a subscription period.
  public var period: AdvancedCommercePeriod?
  /// UUID of the request that led here.
  public var requestReferenceId: String?
  /// Tax code.
  public var taxCode: String?
  /// Price without tax, in milliunits.
  public var taxExclusivePrice: Int64?
  /// Rate as decimal text.
  public var taxRate: String?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    descriptors = try fields.object("descriptors")
    estimatedTax = try fields.int64("estimatedTax")
    items = try fields.objects("items")
    period = try fields.value("period")
    requestReferenceId = try fields.string("requestReferenceId")
    taxCode = try fields.string("taxCode")
    taxExclusivePrice = try fields.int64("taxExclusivePrice")
    taxRate = try fields.string("taxRate")
  }
}

/// Advanced Commerce part of renewal info.
public struct AdvancedCommerceRenewalInfo: Payload, Equatable {
  /// To be sent back in requests.
  public var consistencyToken: String?
  /// Texts shown to the customer.
  public var descriptors: AdvancedCommerceDescriptors?
  /// What will be bought.
  public var items: [AdvancedCommerceRenewalItem]?
  /// Duration of a subscription period.
  public var period: AdvancedCommercePeriod?
  /// UUID of the request that led here.
  public var requestReferenceId: String?
  /// Tax code.
  public var taxCode: String?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    consistencyToken = try fields.string("consistencyToken")
    descriptors = try fields.object("descriptors")
    items = try fields.objects("items")
    period = try fields.value("period")
    requestReferenceId = try fields.string("requestReferenceId")
    taxCode = try fields.string("taxCode")
  }
}

/// Texts that the App Store shows for a request.
public struct AdvancedCommerceDescriptors: Payload, Equatable {
  /// At most 45 characters.
  public var description: String?
  /// At most 30 characters.
  public var displayName: String?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    description = try fields.string("description")
    displayName = try fields.string("displayName")
  }
}
