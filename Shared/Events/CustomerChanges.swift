public import JSON

/// Two ids are one customer: all that the first has and will get belongs to the second.
///
/// Also an alias: an id that had nothing may be merged before it is ever used.
public struct CustomerMerged: Codable, Sendable, Equatable {
  /// The id of the merge; a second telling has the same.
  public var id: String
  /// The customer who ends; the key of the record.
  public var customer: String
  /// The customer who stays; never one who was merged away or erased before.
  public var into: String
  /// Which key or person asked for it.
  public var author: String
  /// Why, in that person's words.
  public var reason: String
  /// When it was decided, UTC milliseconds.
  public var decidedAt: Int64

  /// Makes the event.
  public init(
    id: String, customer: String, into: String, author: String, reason: String, decidedAt: Int64
  ) {
    self.id = id
    self.customer = customer
    self.into = into
    self.author = author
    self.reason = reason
    self.decidedAt = decidedAt
  }
}

/// Support moved a lineage to another customer, whatever the transfer policy says.
public struct LineageTransferred: Codable, Sendable, Equatable {
  /// The id of the transfer; a second telling has the same.
  public var id: String
  /// Which lineage, as `bundleId/environment/originalTransactionId`.
  public var lineage: String
  /// Whose it is from now on; the key of the record.
  public var customer: String
  /// Which key or person asked for it.
  public var author: String
  /// Why, in that person's words.
  public var reason: String
  /// When it was decided, UTC milliseconds.
  public var decidedAt: Int64

  /// Makes the event.
  public init(
    id: String, lineage: String, customer: String, author: String, reason: String,
    decidedAt: Int64
  ) {
    self.id = id
    self.lineage = lineage
    self.customer = customer
    self.author = author
    self.reason = reason
    self.decidedAt = decidedAt
  }
}

/// A customer is erased: links are cut, and later facts go to a fresh provisional customer.
public struct CustomerErased: Codable, Sendable, Equatable {
  /// The id of the erasure; a second telling has the same.
  public var id: String
  /// Who; the key of the record.
  public var customer: String
  /// Which key or person asked for it.
  public var author: String
  /// Why, in that person's words.
  public var reason: String
  /// When it was decided, UTC milliseconds.
  public var decidedAt: Int64

  /// Makes the event.
  public init(
    id: String, customer: String, author: String, reason: String, decidedAt: Int64
  ) {
    self.id = id
    self.customer = customer
    self.author = author
    self.reason = reason
    self.decidedAt = decidedAt
  }
}

extension CustomerMerged: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      id: try fields.text("id"), customer: try fields.text("customer"),
      into: try fields.text("into"), author: try fields.text("author"),
      reason: try fields.text("reason"), decidedAt: try fields.number("decidedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("author", author)
    json.text("customer", customer)
    json.number("decidedAt", decidedAt)
    json.text("id", id)
    json.text("into", into)
    json.text("reason", reason)
  }
}

extension LineageTransferred: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      id: try fields.text("id"), lineage: try fields.text("lineage"),
      customer: try fields.text("customer"), author: try fields.text("author"),
      reason: try fields.text("reason"), decidedAt: try fields.number("decidedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("author", author)
    json.text("customer", customer)
    json.number("decidedAt", decidedAt)
    json.text("id", id)
    json.text("lineage", lineage)
    json.text("reason", reason)
  }
}

extension CustomerErased: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      id: try fields.text("id"), customer: try fields.text("customer"),
      author: try fields.text("author"), reason: try fields.text("reason"),
      decidedAt: try fields.number("decidedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("author", author)
    json.text("customer", customer)
    json.number("decidedAt", decidedAt)
    json.text("id", id)
    json.text("reason", reason)
  }
}
