public import JSON

/// One line of a customer's ledger of balances; the balance is the sum of the amounts.
public struct BalanceEntry: Codable, Sendable, Equatable {
  /// The entry's id: a UUID in lower case.
  public var id: String
  /// `credit`, `spend`, `refund`, `refund-reversed`, `expiry`, `transfer` or `grant`.
  public var kind: String
  /// By how much the balance changed.
  public var amount: Int64
  /// What the entry was meant to change, where the balance did not allow it or a part had expired.
  public var intended: Int64?
  /// What should have been taken and was not there; negative when an earlier one is forgiven.
  public var shortfall: Int64?
  /// When what is left of a credit ends, UTC milliseconds; nil for one without end.
  public var expiresAt: Int64?
  /// The lineage behind it.
  public var lineage: String?
  /// The transaction behind it.
  public var transactionId: String?
  /// The spend that it belongs to: a spend of several units has an entry for each.
  public var spendId: String?

  /// Makes an entry; the rest is set afterwards.
  public init(id: String, kind: String, amount: Int64) {
    self.id = id
    self.kind = kind
    self.amount = amount
  }
}

extension BalanceEntry: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      id: try fields.text("id"), kind: try fields.text("kind"), amount: try fields.number("amount"))
    intended = try fields.optionalNumber("intended")
    shortfall = try fields.optionalNumber("shortfall")
    expiresAt = try fields.optionalNumber("expiresAt")
    lineage = try fields.optionalText("lineage")
    transactionId = try fields.optionalText("transactionId")
    spendId = try fields.optionalText("spendId")
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.number("amount", amount)
    json.number("expiresAt", expiresAt)
    json.text("id", id)
    json.number("intended", intended)
    json.text("kind", kind)
    json.text("lineage", lineage)
    json.number("shortfall", shortfall)
    json.text("spendId", spendId)
    json.text("transactionId", transactionId)
  }
}
