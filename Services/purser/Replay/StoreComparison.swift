import SQLite

/// Compares two stores of one service by what the topics carry, row by row.
///
/// Left out are what only a backup has (docs/operations.md), the outbox, positions, the progress of jobs,
/// and for which time a customer was looked at last. Memory does not grow with the stores.
struct StoreComparison {
  private static let leftOut: Set<String> = [
    "outbox", "input_positions", "waiting_records", "audit", "sqlite_sequence", "idempotency_keys",
    "restores", "sweeps", "refund_settings", "webhook_endpoints", "webhook_events",
    "webhook_deliveries", "back_fills", "known_notifications", "reconciliations", "refund_sweeps",
    "imports", "import_items", "import_failures", "apple_writes", "consumption_answers",
    "pending_proofs", "waiting_facts", "newest_notifications",
  ]
  private static let leftOutColumns: Set<String> = ["updated_at", "evaluated_at"]

  /// Rows that both stores have.
  private(set) var same: Int64 = 0
  /// Rows that only one store has, a line each, some of each table.
  private(set) var differences: [String] = []

  /// Compares; blocks.
  ///
  /// - Parameter limit: How many differences of a table are told.
  init(live: String, rebuilt: String, limit: Int64 = 5) throws {
    let stores = try Connection(path: live, mode: .readOnly)
    try stores.run("ATTACH ? AS rebuilt", rebuilt)
    for (table, columns) in try Self.tables(of: stores) {
      for (word, one, other) in [
        ("only live", "main", "rebuilt"), ("only rebuilt", "rebuilt", "main"),
      ] {
        differences += try stores.query(
          """
          SELECT \(Self.line(columns, of: "a")) FROM \(one).\(table) AS a WHERE NOT EXISTS (
            SELECT 1 FROM \(other).\(table) AS b
            WHERE \(columns.map { "b.\($0) IS a.\($0)" }.joined(separator: " AND "))) LIMIT ?
          """, limit
        ) { "\(word): \(table) \($0.text(0))" }
      }
      same += try stores.first("SELECT COUNT(*) FROM main.\(table)") { $0.int(0) } ?? 0
    }
  }

  /// The tables of a store that count, and their columns that do.
  static func tables(of store: borrowing Connection) throws -> [(name: String, columns: [String])] {
    let names = try store.query(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY name"
    ) { $0.text(0) }.filter { !leftOut.contains($0) }
    var tables: [(name: String, columns: [String])] = []
    for name in names {
      let columns = try store.query("SELECT name FROM pragma_table_info('\(name)')") { $0.text(0) }
      tables.append((name, columns.filter { !leftOutColumns.contains($0) }))
    }
    return tables
  }

  /// SQL for a row of a table as a line of text.
  static func line(_ columns: [String], of table: String) -> String {
    columns.map { "'\($0)=' || quote(CAST(\(table).\($0) AS TEXT))" }
      .joined(separator: " || ' ' || ")
  }
}
