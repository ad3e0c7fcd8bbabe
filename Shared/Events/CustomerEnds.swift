public import JSON

/// A customer ended in another: rights, grants and balances are told there from now on.
public struct EntitlementsMerged: Codable, Sendable, Equatable {
  /// Who ended.
  public var customer: String
  /// The version of that customer's last event.
  public var version: Int64
  /// Who has everything from now on.
  public var into: String
  /// Why.
  public var cause: ChangeCause
  /// When it was decided, UTC milliseconds.
  public var changedAt: Int64

  /// Makes the event.
  public init(
    customer: String, version: Int64, into: String, cause: ChangeCause, changedAt: Int64
  ) {
    self.customer = customer
    self.version = version
    self.into = into
    self.cause = cause
    self.changedAt = changedAt
  }
}

/// A customer was erased: forget what you know, but keep the version, which never restarts.
public struct EntitlementsErased: Codable, Sendable, Equatable {
  /// Who was erased.
  public var customer: String
  /// The version of the erasure; a customer of the same id goes on from here.
  public var version: Int64
  /// Why.
  public var cause: ChangeCause
  /// When it was decided, UTC milliseconds.
  public var changedAt: Int64

  /// Makes the event.
  public init(customer: String, version: Int64, cause: ChangeCause, changedAt: Int64) {
    self.customer = customer
    self.version = version
    self.cause = cause
    self.changedAt = changedAt
  }
}

extension EntitlementsMerged: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"), version: try fields.number("version"),
      into: try fields.text("into"), cause: try fields.object("cause", ChangeCause.init(fields:)),
      changedAt: try fields.number("changedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.object("cause", cause.write)
    json.number("changedAt", changedAt)
    json.text("customer", customer)
    json.text("into", into)
    json.number("version", version)
  }
}

extension EntitlementsErased: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"), version: try fields.number("version"),
      cause: try fields.object("cause", ChangeCause.init(fields:)),
      changedAt: try fields.number("changedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.object("cause", cause.write)
    json.number("changedAt", changedAt)
    json.text("customer", customer)
    json.number("version", version)
  }
}
