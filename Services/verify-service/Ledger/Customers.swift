import Cryptography
import Events
import Pipeline
import SQLite

/// Who became whom, and who is erased.
///
/// The events of two customers come in any order, as their keys differ; the dates of the decisions
/// put them right.
enum Customers {
  static let tables = """
    CREATE TABLE merged_customers (
      customer TEXT PRIMARY KEY,
      into_customer TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX merged_customers_by_into ON merged_customers (into_customer);
    CREATE TABLE erased_customers (
      hash TEXT PRIMARY KEY,
      decided_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    """

  /// Who a customer is after all merges.
  static func current(_ transaction: Transaction, _ customer: String) throws -> String {
    try transaction.first(
      "SELECT into_customer FROM merged_customers WHERE customer = ?", customer
    ) { $0.text(0) } ?? customer
  }

  /// Records that a customer became another, who has not become anyone.
  static func merge(_ transaction: Transaction, _ customer: String, into: String) throws {
    try transaction.run(
      """
      INSERT INTO merged_customers (customer, into_customer) VALUES (?, ?)
      ON CONFLICT (customer) DO UPDATE SET into_customer = excluded.into_customer
      """, customer, into)
    // Those who became the customer before are now whom the customer became.
    try transaction.run(
      "UPDATE merged_customers SET into_customer = ? WHERE into_customer = ?", into, customer)
  }

  /// When a customer was erased, if that was after a moment; what is older is cut off with the customer.
  static func erasure(_ transaction: Transaction, of customer: String, after date: Int64) throws
    -> Int64?
  {
    try transaction.first(
      "SELECT decided_at FROM erased_customers WHERE hash = ? AND decided_at >= ?",
      SHA256.hex(customer), date
    ) { $0.int(0) }
  }

  /// Whether a customer was erased after a moment.
  static func isErased(_ transaction: Transaction, _ customer: String, after date: Int64) throws
    -> Bool
  {
    try erasure(transaction, of: customer, after: date) != nil
  }

  /// Remembers an erasure, not whose it was: of the customer and of those who became it only hashes stay.
  ///
  /// - Returns: The customer and those who became it.
  static func erase(_ transaction: Transaction, _ customer: String, at date: Int64) throws
    -> [String]
  {
    let all =
      try [customer]
      + transaction.query(
        "SELECT customer FROM merged_customers WHERE into_customer = ? ORDER BY customer", customer
      ) { $0.text(0) }
    for one in all {
      try transaction.run(
        """
        INSERT INTO erased_customers (hash, decided_at) VALUES (?, ?)
        ON CONFLICT (hash) DO UPDATE SET decided_at = max(decided_at, excluded.decided_at)
        """, SHA256.hex(one), date)
      try transaction.run("DELETE FROM merged_customers WHERE customer = ?", one)
    }
    return all
  }
}
