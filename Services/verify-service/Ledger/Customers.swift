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

  /// Records a merge; answers who the customer is from now on.
  static func merge(_ transaction: Transaction, _ merged: CustomerMerged) throws -> String {
    let into = try current(transaction, merged.into)
    guard !Customer.isSame(into, merged.customer) else { return into }
    try transaction.run(
      """
      INSERT INTO merged_customers (customer, into_customer) VALUES (?, ?)
      ON CONFLICT (customer) DO UPDATE SET into_customer = excluded.into_customer
      """, merged.customer, into)
    // Those who became the customer before are now whom the customer became.
    try transaction.run(
      "UPDATE merged_customers SET into_customer = ? WHERE into_customer = ?", into,
      merged.customer)
    return into
  }

  /// Whether a customer was erased after a moment; what is older is cut off with the customer.
  static func isErased(_ transaction: Transaction, _ customer: String, after date: Int64) throws
    -> Bool
  {
    try transaction.first(
      "SELECT 1 FROM erased_customers WHERE hash = ? AND decided_at >= ?", SHA256.hex(customer),
      date
    ) { _ in true } ?? false
  }

  /// Remembers an erasure, not whose it was.
  static func erase(_ transaction: Transaction, _ erased: CustomerErased) throws {
    try transaction.run(
      """
      INSERT INTO erased_customers (hash, decided_at) VALUES (?, ?)
      ON CONFLICT (hash) DO UPDATE SET decided_at = max(decided_at, excluded.decided_at)
      """, SHA256.hex(erased.customer), erased.decidedAt)
  }
}
