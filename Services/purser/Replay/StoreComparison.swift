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

  private static let givenToAll: Set<String> = ["erased_customers", "credited_before"]
  private static let foundByAll: Set<String> = ["proof_outcomes"]

  /// A row that only one of the stores has.
  struct Difference: Sendable {
    /// `live` or `rebuilt`.
    let side: String
    let table: String
    /// The row as a line of text.
    let row: String
    /// Its columns as text.
    let columns: [String: String]

    /// What a record has that tells of the row: texts that must all stand in it.
    var marks: [String] {
      // A lineage is written in parts in some records.
      let lineage = columns["lineage"].flatMap { $0.split(separator: "/").last.map(String.init) }
      let ids = ["id", "order_id", "proof_id", "entry_id", "spend_id", "token", "transaction_id"]
      if let id = ids.lazy.compactMap({ columns[$0] }).first {
        return [id] + ["customer"].compactMap { columns[$0] }
      }
      return [columns["customer"], lineage, columns["name"], columns["unit"]].compactMap(\.self)
    }
  }

  /// Rows that both stores have.
  private(set) var same: Int64 = 0
  /// Rows that only one store has, some of each table.
  private(set) var differences: [Difference] = []

  /// Compares; blocks.
  ///
  /// - Parameters:
  ///   - customer: Only rows of this customer; tables that know none are left out.
  ///   - lineage: Only rows of this lineage.
  ///   - isAlone: Whether there is one shard. The fold of one of several knows the outcomes of all proofs,
  ///     since nobody can say which shard had them before a re-shard; more of them are no difference. Nor are
  ///     more hashes of erased customers in the live store: a re-shard gives all to all.
  ///   - limit: How many differences of a table are told, of each side.
  init(
    live: String, rebuilt: String, customer: String? = nil, lineage: String? = nil,
    isAlone: Bool = true, limit: Int64 = 5
  ) throws {
    let stores = try Connection(path: live, mode: .readOnly)
    try stores.run("ATTACH ? AS rebuilt", rebuilt)
    for (table, columns) in try Self.tables(of: stores) {
      guard let wanted = Self.condition(columns, customer, lineage) else { continue }
      var missing: Int64 = 0
      for (side, one, other) in [("live", "main", "rebuilt"), ("rebuilt", "rebuilt", "main")]
      where isAlone || !(side == "live" ? Self.givenToAll : Self.foundByAll).contains(table) {
        let from = """
          \(one).\(table) AS a WHERE \(wanted.sql) AND NOT EXISTS (
            SELECT 1 FROM \(other).\(table) AS b
            WHERE \(columns.map { "b.\($0) IS a.\($0)" }.joined(separator: " AND ")))
          """
        let texts = columns.map { "CAST(a.\($0) AS TEXT)" }.joined(separator: ", ")
        let found = try stores.query(
          "SELECT \(Self.line(columns, of: "a")), \(texts) FROM \(from) LIMIT ?",
          values: wanted.values + [limit]
        ) { row in
          let known = columns.enumerated().compactMap { index, name in
            row.optionalText(Int32(index + 1)).map { (name, $0) }
          }
          return Difference(
            side: side, table: table, row: row.text(0),
            columns: Dictionary(known) { first, _ in first })
        }
        differences += found
        guard side == "live", !found.isEmpty else { continue }
        missing =
          try stores.query("SELECT COUNT(*) FROM \(from)", values: wanted.values) { $0.int(0) }
          .first
          ?? 0
      }
      let all = try stores.query(
        "SELECT COUNT(*) FROM main.\(table) AS a WHERE \(wanted.sql)", values: wanted.values
      ) { $0.int(0) }.first
      same += (all ?? 0) - missing
    }
  }

  /// Which rows count; nil when the table knows nothing of what was asked for.
  private static func condition(_ columns: [String], _ customer: String?, _ lineage: String?) -> (
    sql: String, values: [(any Bindable)?]
  )? {
    var parts = ["1"]
    var values: [(any Bindable)?] = []
    if let customer {
      guard let column = ["customer", "owner"].first(where: columns.contains) else { return nil }
      parts.append("a.\(column) = ?\(values.count + 1)")
      values.append(customer)
    }
    if let lineage {
      guard columns.contains("lineage") else { return nil }
      parts.append("a.lineage = ?\(values.count + 1)")
      values.append(lineage)
    }
    return (parts.joined(separator: " AND "), values)
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
