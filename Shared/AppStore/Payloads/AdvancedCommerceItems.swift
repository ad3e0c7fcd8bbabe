/// One item of an Advanced Commerce transaction.
public struct AdvancedCommerceTransactionItem: Payload, Equatable {
  /// Your identifier, at most 128 characters.
  public var sku: String?
  /// At most 45 characters.
  public var description: String?
  /// At most 30 characters.
  public var displayName: String?
  /// The offer that applied.
  public var offer: AdvancedCommerceOffer?
  /// Price, in milliunits.
  public var price: Int64?
  /// Refunds of this item.
  public var refunds: [AdvancedCommerceRefund]?
  /// When it was revoked, milliseconds.
  public var revocationDate: Int64?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    sku = try fields.string("SKU")
    description = try fields.string("description")
    displayName = try fields.string("displayName")
    offer = try fields.object("offer")
    price = try fields.int64("price")
    refunds = try fields.objects("refunds")
    revocationDate = try fields.milliseconds("revocationDate")
  }

  /// The names on the wire.
  public enum CodingKeys: String, CodingKey {
    /// Your identifier, at most 128 characters.
    case sku = "SKU"
    /// At most 45 characters.
    case description
    /// At most 30 characters.
    case displayName
    /// The offer that applied.
    case offer
    /// Price, in milliunits.
    case price
    /// Refunds of this item.
    case refunds
    /// When it was revoked, milliseconds.
    case revocationDate
  }
}

/// One item of the next Advanced Commerce renewal.
public struct AdvancedCommerceRenewalItem: Payload, Equatable {
  /// Your identifier, at most 128 characters.
  public var sku: String?
  /// At most 45 characters.
  public var description: String?
  /// At most 30 characters.
  public var displayName: String?
  /// The offer that will apply.
  public var offer: AdvancedCommerceOffer?
  /// Price, in milliunits.
  public var price: Int64?
  /// A price increase under way.
  public var priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    sku = try fields.string("SKU")
    description = try fields.string("description")
    displayName = try fields.string("displayName")
    offer = try fields.object("offer")
    price = try fields.int64("price")
    priceIncreaseInfo = try fields.object("priceIncreaseInfo")
  }

  /// The names on the wire.
  public enum CodingKeys: String, CodingKey {
    /// Your identifier, at most 128 characters.
    case sku = "SKU"
    /// At most 45 characters.
    case description
    /// At most 30 characters.
    case displayName
    /// The offer that will apply.
    case offer
    /// Price, in milliunits.
    case price
    /// A price increase under way.
    case priceIncreaseInfo
  }
}

/// A reduced price for a time.
public struct AdvancedCommerceOffer: Payload, Equatable {
  /// Duration of one offer period.
  public var period: AdvancedCommerceOfferPeriod?
  /// Number of periods, 1 to 12.
  public var periodCount: Int32?
  /// Price, in milliunits.
  public var price: Int64?
  /// Why it was given.
  public var reason: AdvancedCommerceOfferReason?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    period = try fields.value("period")
    periodCount = try fields.int32("periodCount")
    price = try fields.int64("price")
    reason = try fields.value("reason")
  }
}

/// A refund of one item.
public struct AdvancedCommerceRefund: Payload, Equatable {
  /// Amount, in milliunits.
  public var refundAmount: Int64?
  /// When, milliseconds.
  public var refundDate: Int64?
  /// Why.
  public var refundReason: AdvancedCommerceRefundReason?
  /// Full, prorated or custom.
  public var refundType: AdvancedCommerceRefundType?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    refundAmount = try fields.int64("refundAmount")
    refundDate = try fields.milliseconds("refundDate")
    refundReason = try fields.value("refundReason")
    refundType = try fields.value("refundType")
  }
}

/// A price increase of one item.
public struct AdvancedCommercePriceIncreaseInfo: Payload, Equatable {
  /// Items that change with it.
  public var dependentSKUs: [String]?
  /// New price, in milliunits.
  public var price: Int64?
  /// How far it is.
  public var status: AdvancedCommercePriceIncreaseStatus?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    dependentSKUs = try fields.strings("dependentSKUs")
    price = try fields.int64("price")
    status = try fields.value("status")
  }
}
