import Events
import Pipeline
import SQLite

/// Tables that live only while a store is rebuilt.
enum RebuildTables {
  /// - `rebuild_holders`: what each customer was told of a lineage last.
  /// - `rebuild_owners`: the owner of each revision, and why.
  /// - `rebuild_moves`: facts by which a lineage moved, and when Apple signed them.
  /// - `rebuild_transfers`: every decision of support.
  /// - `rebuild_receipts`: lineages of receipts, folded from their facts.
  /// - `rebuild_derived`: every lineage, merged again from its facts; only where that is asked for.
  /// - `rebuild_proved`: proofs whose facts are recorded.
  private static let tables = [
    """
    CREATE TABLE rebuild_holders (
      lineage TEXT NOT NULL, customer TEXT NOT NULL, revision INTEGER NOT NULL,
      is_held INTEGER NOT NULL, is_shared INTEGER NOT NULL, PRIMARY KEY (lineage, customer)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE rebuild_owners (
      lineage TEXT NOT NULL, revision INTEGER NOT NULL, customer TEXT NOT NULL,
      kind TEXT NOT NULL, fact TEXT, decided_at INTEGER NOT NULL, PRIMARY KEY (lineage, revision)
    ) WITHOUT ROWID
    """,
    "CREATE TABLE rebuild_moves (fact TEXT PRIMARY KEY, signed_date INTEGER) WITHOUT ROWID",
    """
    CREATE TABLE rebuild_transfers (
      lineage TEXT NOT NULL, decided_at INTEGER NOT NULL, PRIMARY KEY (lineage, decided_at)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE rebuild_receipts (lineage TEXT PRIMARY KEY, state BLOB, memory BLOB)
      WITHOUT ROWID
    """,
    """
    CREATE TABLE rebuild_derived (lineage TEXT PRIMARY KEY, state BLOB, memory BLOB) WITHOUT ROWID
    """,
    "CREATE TABLE rebuild_proved (proof_id TEXT PRIMARY KEY) WITHOUT ROWID",
  ]

  static func make(_ change: Change) throws {
    for table in tables { try change.transaction.run(table) }
  }

  static func drop(_ change: Change) throws {
    for table in [
      "rebuild_holders", "rebuild_owners", "rebuild_moves", "rebuild_transfers",
      "rebuild_receipts", "rebuild_derived", "rebuild_proved",
    ] {
      try change.transaction.run("DROP TABLE \(table)")
    }
  }
}
