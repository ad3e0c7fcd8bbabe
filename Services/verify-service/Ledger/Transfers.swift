import Events
import Pipeline
import SQLite

/// What support moved: the newest decision of each lineage.
enum Transfers {
  static let tables = """
    CREATE TABLE transfers (
      lineage TEXT PRIMARY KEY,
      customer TEXT,
      decided_at INTEGER NOT NULL,
      id TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX transfers_by_customer ON transfers (customer) WHERE customer IS NOT NULL;
    """

  /// Records a decision; false when it, or a later one, is known already.
  static func insert(_ transaction: Transaction, _ moved: LineageTransferred) throws -> Bool {
    let customer = try Customers.current(transaction, moved.customer)
    let isErased = try Customers.isErased(transaction, customer, after: moved.decidedAt)
    return try transaction.run(
      """
      INSERT INTO transfers (lineage, customer, decided_at, id) VALUES (?, ?, ?, ?)
      ON CONFLICT (lineage) DO UPDATE SET customer = excluded.customer,
        decided_at = excluded.decided_at, id = excluded.id
        WHERE (excluded.decided_at, excluded.id) > (decided_at, id)
      """, moved.lineage, isErased ? nil : moved.customer, moved.decidedAt, moved.id) > 0
  }

  /// Forgets to whom something was moved, not that it was: what was decided before stays overruled.
  static func forget(_ transaction: Transaction, _ customer: String) throws {
    try transaction.run("UPDATE transfers SET customer = NULL WHERE customer = ?", customer)
  }

  /// The decision about a lineage, to whom as that one is called now; nil for one who was erased.
  static func find(_ transaction: Transaction, _ lineage: LineageID) throws -> (
    customer: String, decidedAt: Int64
  )? {
    let row = try transaction.first(
      "SELECT customer, decided_at FROM transfers WHERE lineage = ? AND customer IS NOT NULL",
      lineage.description
    ) { row in (row.text(0), row.int(1)) }
    return try row.map { (try Customers.current(transaction, $0.0), $0.1) }
  }
}
