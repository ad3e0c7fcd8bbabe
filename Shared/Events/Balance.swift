public import JSON

/// An amount of a consumable unit.
public struct Balance: Codable, Sendable, Equatable {
  /// The unit, such as `coins`.
  public var unit: String
  /// Apple's environment.
  public var environment: String
  /// How much there is: the sum of the customer's entries; below zero only under the policy `debt`.
  public var amount: Int64

  /// Makes a balance.
  public init(unit: String, environment: String, amount: Int64) {
    self.unit = unit
    self.environment = environment
    self.amount = amount
  }
}

/// A balance changed.
public struct BalanceChanged: Codable, Sendable, Equatable {
  /// Whose.
  public var customer: String
  /// Grows by one with each event of the customer.
  public var version: Int64
  /// The balance as it is now.
  public var balance: Balance
  /// By how much it changed.
  public var delta: Int64
  /// What a refund should have taken back but could not, as the balance stops at zero.
  public var shortfall: Int64?
  /// The entry behind it; nil where a whole balance moved, as by a merge.
  public var entry: BalanceEntry?
  /// Why.
  public var cause: ChangeCause
  /// When it was decided, UTC milliseconds.
  public var changedAt: Int64

  /// Makes the event.
  public init(
    customer: String, version: Int64, balance: Balance, delta: Int64, shortfall: Int64? = nil,
    entry: BalanceEntry? = nil, cause: ChangeCause, changedAt: Int64
  ) {
    self.customer = customer
    self.version = version
    self.balance = balance
    self.delta = delta
    self.shortfall = shortfall
    self.entry = entry
    self.cause = cause
    self.changedAt = changedAt
  }
}

extension Balance: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      unit: try fields.text("unit"), environment: try fields.text("environment"),
      amount: try fields.number("amount"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.number("amount", amount)
    json.text("environment", environment)
    json.text("unit", unit)
  }
}

extension BalanceChanged: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"), version: try fields.number("version"),
      balance: try fields.object("balance", Balance.init(fields:)),
      delta: try fields.number("delta"), shortfall: try fields.optionalNumber("shortfall"),
      entry: try fields.optionalObject("entry", BalanceEntry.init(fields:)),
      cause: try fields.object("cause", ChangeCause.init(fields:)),
      changedAt: try fields.number("changedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.object("balance", balance.write)
    json.object("cause", cause.write)
    json.number("changedAt", changedAt)
    json.text("customer", customer)
    json.number("delta", delta)
    if let entry { json.object("entry", entry.write) }
    json.number("shortfall", shortfall)
    json.number("version", version)
  }
}
