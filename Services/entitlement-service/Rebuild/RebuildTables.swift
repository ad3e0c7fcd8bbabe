import Pipeline
import SQLite

/// Tables that live only while a store is rebuilt.
enum RebuildTables {
  /// - `rebuild_customers`: everyone of whom anything was read; for which time the customer was
  ///   computed last, and the version of the newest record on the topic of states.
  /// - `rebuild_order`: the line in which the events of all customers were told.
  /// - `rebuild_merges`: who ended in whom.
  /// - `rebuild_aliases`: every merge that was decided; only where one customer is folded alone.
  /// - `rebuild_states`: lineage states of customers who were merged, to be folded by revision.
  private static let tables = [
    """
    CREATE TABLE rebuild_customers (
      customer TEXT PRIMARY KEY, evaluated_at INTEGER NOT NULL, state_version INTEGER
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE rebuild_order (
      customer TEXT NOT NULL, version INTEGER NOT NULL, sequence INTEGER NOT NULL,
      PRIMARY KEY (customer, version)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE rebuild_merges (customer TEXT PRIMARY KEY, into_customer TEXT NOT NULL)
      WITHOUT ROWID
    """,
    "CREATE INDEX rebuild_merges_by_into ON rebuild_merges (into_customer)",
    """
    CREATE TABLE rebuild_aliases (customer TEXT PRIMARY KEY, into_customer TEXT NOT NULL)
      WITHOUT ROWID
    """,
    "CREATE INDEX rebuild_aliases_by_into ON rebuild_aliases (into_customer)",
    """
    CREATE TABLE rebuild_states (
      customer TEXT NOT NULL, lineage TEXT NOT NULL, revision INTEGER NOT NULL,
      is_held INTEGER NOT NULL, state BLOB NOT NULL,
      PRIMARY KEY (customer, lineage, revision, is_held)
    ) WITHOUT ROWID
    """,
  ]

  static func make(_ change: Change) throws {
    for table in tables { try change.transaction.run(table) }
  }

  static func drop(_ change: Change) throws {
    for table in [
      "rebuild_customers", "rebuild_order", "rebuild_merges", "rebuild_aliases",
      "rebuild_states",
    ] {
      try change.transaction.run("DROP TABLE \(table)")
    }
  }

  /// Notes a customer, and for which time it was computed.
  static func note(_ transaction: Transaction, _ customer: String, evaluatedAt: Int64) throws {
    try transaction.run(
      """
      INSERT INTO rebuild_customers (customer, evaluated_at) VALUES (?, ?)
      ON CONFLICT (customer) DO UPDATE SET evaluated_at = max(evaluated_at, excluded.evaluated_at)
        WHERE excluded.evaluated_at > evaluated_at
      """, customer, evaluatedAt)
  }

  /// The keys of a customer and of all who are the same one: who became it, and whom it became.
  static func aliases(_ transaction: Transaction, of customer: String) throws -> Set<[UInt8]> {
    let names = try transaction.query(
      """
      WITH RECURSIVE same (customer) AS (
        VALUES (?1) UNION
        SELECT into_customer FROM rebuild_aliases JOIN same USING (customer) UNION
        SELECT merged.customer FROM rebuild_aliases AS merged
          JOIN same ON merged.into_customer = same.customer)
      SELECT customer FROM same
      """, customer
    ) { Array($0.text(0).utf8) }
    return Set(names)
  }

  /// The next customers of whom anything was read, in order.
  static func customers(_ transaction: Transaction, after cursor: String, limit: Int) throws
    -> [String]
  {
    try transaction.query(
      "SELECT customer FROM rebuild_customers WHERE customer > ? ORDER BY customer LIMIT ?", cursor,
      Int64(limit)
    ) { $0.text(0) }
  }
}
