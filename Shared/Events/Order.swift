public import JSON

/// Where an order stands.
public struct OrderState: RawRepresentable, Codable, Hashable, Sendable {
  /// The word on the wire.
  public let rawValue: String

  /// Wraps a word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Opened; the customer has not paid as far as we know.
  public static let created = OrderState(rawValue: "created")
  /// A proof was posted and is being verified.
  public static let submitted = OrderState(rawValue: "submitted")
  /// Paid, proved and recorded.
  public static let completed = OrderState(rawValue: "completed")
  /// The last proof was refused; a valid one still completes the order.
  public static let rejected = OrderState(rawValue: "rejected")
  /// Waits for a parent's approval (Ask to Buy).
  public static let pending = OrderState(rawValue: "pending")
  /// Given up by the app or its backend.
  public static let cancelled = OrderState(rawValue: "cancelled")
  /// Its time ran out.
  public static let expired = OrderState(rawValue: "expired")
}

/// An intent to buy, opened before StoreKit is called; every move is published whole.
public struct Order: Codable, Sendable, Equatable {
  /// The order's id, which is also StoreKit's `appAccountToken`.
  public var id: String
  /// Grows by one with each move.
  public var revision: Int64
  /// Who buys.
  public var customer: String
  /// In which app.
  public var bundleId: String
  /// What is to be bought.
  public var productId: String
  /// How many, for consumables; 1 otherwise.
  public var quantity: Int64
  /// Where the order stands.
  public var state: OrderState
  /// The transaction that came is not the one that was ordered; it was granted for what was bought.
  public var mismatched: Bool
  /// When it was opened, UTC milliseconds.
  public var createdAt: Int64
  /// When it last moved, UTC milliseconds.
  public var updatedAt: Int64
  /// When it expires if nothing comes, UTC milliseconds.
  public var expiresAt: Int64
  /// Apple's transaction that completed it.
  public var transactionId: String?
  /// The lineage of that transaction.
  public var lineage: String?
  /// Why the last proof was refused, as a stable word.
  public var rejection: String?
  /// What moved it, such as `placed`, `proof-posted`, `proof-outcome` or `transaction-seen`.
  public var cause: String

  /// Makes an order.
  public init(
    id: String, revision: Int64, customer: String, bundleId: String, productId: String,
    quantity: Int64, state: OrderState, mismatched: Bool, createdAt: Int64, updatedAt: Int64,
    expiresAt: Int64, transactionId: String? = nil, lineage: String? = nil,
    rejection: String? = nil, cause: String
  ) {
    self.id = id
    self.revision = revision
    self.customer = customer
    self.bundleId = bundleId
    self.productId = productId
    self.quantity = quantity
    self.state = state
    self.mismatched = mismatched
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.expiresAt = expiresAt
    self.transactionId = transactionId
    self.lineage = lineage
    self.rejection = rejection
    self.cause = cause
  }
}

extension Order: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      id: try fields.text("id"), revision: try fields.number("revision"),
      customer: try fields.text("customer"), bundleId: try fields.text("bundleId"),
      productId: try fields.text("productId"), quantity: try fields.number("quantity"),
      state: OrderState(rawValue: try fields.text("state")),
      mismatched: try fields.bool("mismatched"), createdAt: try fields.number("createdAt"),
      updatedAt: try fields.number("updatedAt"), expiresAt: try fields.number("expiresAt"),
      transactionId: try fields.optionalText("transactionId"),
      lineage: try fields.optionalText("lineage"), rejection: try fields.optionalText("rejection"),
      cause: try fields.text("cause"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("bundleId", bundleId)
    json.text("cause", cause)
    json.number("createdAt", createdAt)
    json.text("customer", customer)
    json.number("expiresAt", expiresAt)
    json.text("id", id)
    json.text("lineage", lineage)
    json.bool("mismatched", mismatched)
    json.text("productId", productId)
    json.number("quantity", quantity)
    json.text("rejection", rejection)
    json.number("revision", revision)
    json.text("state", state.rawValue)
    json.text("transactionId", transactionId)
    json.number("updatedAt", updatedAt)
  }
}
