public import JSON

/// A right that a person or an own backend gave, beside all purchases.
public struct Grant: Codable, Sendable, Equatable {
  /// The grant's id: a UUID in lower case.
  public var id: String
  /// The right that it gives.
  public var entitlement: String
  /// In which of Apple's environments the right shows.
  public var environment: String
  /// From when, UTC milliseconds.
  public var startsAt: Int64
  /// Until when, UTC milliseconds; nil for a grant without end.
  public var expiresAt: Int64?
  /// Which key or person gave it.
  public var author: String
  /// Why, in that person's words.
  public var reason: String
  /// When it was decided, UTC milliseconds.
  public var createdAt: Int64
  /// When it was taken back, UTC milliseconds; nil while it stands.
  public var removedAt: Int64?

  /// Makes a grant.
  public init(
    id: String, entitlement: String, environment: String, startsAt: Int64, expiresAt: Int64?,
    author: String, reason: String, createdAt: Int64, removedAt: Int64? = nil
  ) {
    self.id = id
    self.entitlement = entitlement
    self.environment = environment
    self.startsAt = startsAt
    self.expiresAt = expiresAt
    self.author = author
    self.reason = reason
    self.createdAt = createdAt
    self.removedAt = removedAt
  }
}

/// A grant was given or taken back (`created`, `removed`); the cause says by whom and why.
public struct GrantChanged: Codable, Sendable, Equatable {
  /// Whose.
  public var customer: String
  /// Grows by one with each event of the customer.
  public var version: Int64
  /// The grant as it is now.
  public var grant: Grant
  /// Why.
  public var cause: ChangeCause
  /// When it was decided, UTC milliseconds.
  public var changedAt: Int64

  /// Makes the event.
  public init(
    customer: String, version: Int64, grant: Grant, cause: ChangeCause, changedAt: Int64
  ) {
    self.customer = customer
    self.version = version
    self.grant = grant
    self.cause = cause
    self.changedAt = changedAt
  }
}

extension Grant: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      id: try fields.text("id"), entitlement: try fields.text("entitlement"),
      environment: try fields.text("environment"), startsAt: try fields.number("startsAt"),
      expiresAt: try fields.optionalNumber("expiresAt"), author: try fields.text("author"),
      reason: try fields.text("reason"), createdAt: try fields.number("createdAt"),
      removedAt: try fields.optionalNumber("removedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("author", author)
    json.number("createdAt", createdAt)
    json.text("entitlement", entitlement)
    json.text("environment", environment)
    json.number("expiresAt", expiresAt)
    json.text("id", id)
    json.text("reason", reason)
    json.number("removedAt", removedAt)
    json.number("startsAt", startsAt)
  }
}

extension GrantChanged: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"), version: try fields.number("version"),
      grant: try fields.object("grant", Grant.init(fields:)),
      cause: try fields.object("cause", ChangeCause.init(fields:)),
      changedAt: try fields.number("changedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.object("cause", cause.write)
    json.number("changedAt", changedAt)
    json.text("customer", customer)
    json.object("grant", grant.write)
    json.number("version", version)
  }
}
