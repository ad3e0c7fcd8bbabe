import Events
import Pipeline
import SQLite

/// What support moved: the newest decision of each lineage.
enum Transfers {
  static let tables = """
    CREATE TABLE transfers (
      lineage TEXT PRIMARY KEY,
      customer TEXT NOT NULL,
      decided_at INTEGER NOT NULL,
      id TEXT NOT NULL
    ) WITHOUT ROWID;
    """

  /// Records a decision; false when it, or a later one, is known already.
  static func insert(_ transaction: Transaction, _ moved: LineageTransferred) throws -> Bool {
    try transaction.run(
      """
      INSERT INTO transfers (lineage, customer, decided_at, id) VALUES (?, ?, ?, ?)
      ON CONFLICT (lineage) DO UPDATE SET customer = excluded.customer,
        decided_at = excluded.decided_at, id = excluded.id
        WHERE (excluded.decided_at, excluded.id) > (decided_at, id)
      """, moved.lineage, moved.customer, moved.decidedAt, moved.id) > 0
  }

  /// The decision about a lineage that is not known yet.
  static func find(_ transaction: Transaction, _ lineage: LineageID) throws -> (
    customer: String, decidedAt: Int64
  )? {
    try transaction.first(
      "SELECT customer, decided_at FROM transfers WHERE lineage = ?", lineage.description
    ) { row in (row.text(0), row.int(1)) }
  }
}
