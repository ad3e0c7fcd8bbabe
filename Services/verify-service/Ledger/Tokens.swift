import Events
import Pipeline
import SQLite

/// Whose tokens are.
enum Tokens {
  static let tables = """
    CREATE TABLE tokens (
      token TEXT PRIMARY KEY,
      customer TEXT,
      issued_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX tokens_by_customer ON tokens (customer);
    """

  static func owner(_ transaction: Transaction, of token: String?) throws
    -> LinkCustomer.TokenOwner
  {
    guard let token else { return .none }
    let row = try transaction.first("SELECT customer FROM tokens WHERE token = ?", token) { row in
      LinkCustomer.TokenOwner(row.optionalText(0))
    }
    return row ?? .unknown
  }

  /// Records a token; the first customer keeps it, as a token is given out once.
  static func insert(_ transaction: Transaction, _ issued: TokenIssued) throws {
    let customer = try Customers.current(transaction, issued.customer)
    let isCut = try Customers.isErased(transaction, customer, after: issued.issuedAt)
    try transaction.run(
      """
      INSERT INTO tokens (token, customer, issued_at) VALUES (?, ?, ?)
      ON CONFLICT (token) DO NOTHING
      """, issued.token, isCut ? nil : customer, issued.issuedAt)
  }

  /// A customer's tokens become another's.
  static func move(_ transaction: Transaction, of customer: String, to other: String) throws {
    try transaction.run(
      "UPDATE tokens SET customer = ? WHERE customer = ?", other, customer)
  }

  /// A customer's tokens are nobody's from now on.
  static func cut(_ transaction: Transaction, of customer: String, before date: Int64) throws {
    try transaction.run(
      "UPDATE tokens SET customer = NULL WHERE customer = ? AND issued_at <= ?", customer, date)
  }
}

extension LinkCustomer.TokenOwner {
  /// Of a token that is known; nil for one that was cut off its customer.
  init(_ customer: String?) {
    self = customer.map { .customer($0) } ?? .none
  }
}
