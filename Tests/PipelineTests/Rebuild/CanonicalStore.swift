import SQLite

/// A store in a form that can be compared: all that a rebuild must bring back, a line for each row.
///
/// Left out are what only a backup has (docs/operations.md), the outbox, positions, the progress of jobs,
/// and for which time a customer was looked at last.
struct CanonicalStore: Sendable {
  private static let leftOut: Set<String> = [
    "outbox", "input_positions", "waiting_records", "audit", "sqlite_sequence", "idempotency_keys",
    "restores", "sweeps", "refund_settings", "webhook_endpoints", "webhook_events",
    "webhook_deliveries", "back_fills", "known_notifications", "reconciliations", "refund_sweeps",
    "imports", "import_items", "import_failures", "apple_writes", "consumption_answers",
    "pending_proofs", "waiting_facts",
  ]
  private static let leftOutColumns: Set<String> = ["updated_at", "evaluated_at"]

  let lines: Set<String>

  /// Reads a store's file beside its service or without it; blocks.
  init(_ path: String) throws {
    let store = try Connection(path: path, mode: .readOnly)
    let tables = try store.query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    ) { $0.text(0) }.filter { !Self.leftOut.contains($0) }
    var lines: Set<String> = []
    for table in tables {
      let columns = try store.query("SELECT name FROM pragma_table_info('\(table)')") { $0.text(0) }
        .filter { !Self.leftOutColumns.contains($0) }
      let texts = columns.map { "'\($0)=' || quote(CAST(\($0) AS TEXT))" }
      for line in try store.query(
        "SELECT \(texts.joined(separator: " || ' ' || ")) FROM \(table)", map: { $0.text(0) })
      {
        lines.insert("\(table): \(line)")
      }
    }
    self.lines = lines
  }

  /// The first lines by which it differs from another; empty when they are the same.
  func differences(from other: CanonicalStore, limit: Int = 6) -> [String] {
    lines.subtracting(other.lines).sorted().prefix(limit).map { "only before: \($0)" }
      + other.lines.subtracting(lines).sorted().prefix(limit).map { "only rebuilt: \($0)" }
  }
}
