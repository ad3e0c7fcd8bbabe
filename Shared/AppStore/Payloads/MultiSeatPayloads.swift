/// Seats of a subscription, read leniently: its exact form is not published.
public struct MultiSeatInfo: Payload, Equatable {
  /// Prices by number of seats.
  public var priceTiers: [MultiSeatPriceTier]?
  /// `APPLE` or `DEVELOPER`.
  public var invitationManagement: String?
  /// Seats taken back.
  public var revokedSeatQuantity: Int32?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    priceTiers = try fields.objects("priceTiers")
    invitationManagement = try fields.string("invitationManagement")
    revokedSeatQuantity = try fields.int32("revokedSeatQuantity")
  }
}

/// A price for a number of seats.
public struct MultiSeatPriceTier: Payload, Equatable {
  /// Price per seat, in milliunits.
  public var price: Int64?
  /// Number of seats.
  public var quantity: Int32?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    price = try fields.int64("price")
    quantity = try fields.int32("quantity")
  }
}
