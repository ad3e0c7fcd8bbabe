import Events
import Pipeline
import SQLite

/// What is to be imported: customers seen first, and the lines of files.
enum ImportStore {
  enum Kind: String, Sendable {
    /// A lineage that was seen first: its customer's history.
    case customer
    /// Any id of a customer, from a file.
    case id
    /// A signed transaction, from a file.
    case signed
  }

  struct Item: Sendable {
    let id: Int64
    let importId: String?
    let line: Int64?
    let kind: Kind
    let bundleId: String
    /// Nil when nobody knows it; Apple is asked.
    let environment: String?
    let value: String
    let tries: Int64
  }

  /// Items of one import that wait, at most; the sender waits beyond it.
  static let waitingLimit: Int64 = 200_000
  /// Faults that are kept of one import.
  static let failureLimit: Int64 = 1_000
  /// After so many tries an item has failed.
  static let triesLimit: Int64 = 20

  /// The customer of a lineage that is seen first, unless it waits already.
  static func enqueueCustomer(_ lineage: LineageID, _ change: Change) throws {
    try change.transaction.run(
      """
      INSERT INTO import_items (kind, bundle_id, environment, value, next_at)
      VALUES ('customer', ?, ?, ?, ?) ON CONFLICT DO NOTHING
      """, lineage.bundleId, lineage.environment, lineage.originalTransactionId, change.now)
  }

  /// The lineages of a customer whose history was fetched need not be asked for again.
  static func forgetCustomer(_ lane: AppleLane, _ originals: Set<String>, _ change: Change) throws {
    for original in originals {
      try change.transaction.run(
        """
        DELETE FROM import_items
        WHERE kind = 'customer' AND bundle_id = ? AND environment = ? AND value = ?
        """, lane.bundleId, lane.environment, original)
    }
  }

  /// Ids of files that the same history has answered: the customer is not fetched once for each.
  static func finishIds(
    _ lane: AppleLane, _ ids: Set<String>, but asked: Item, _ change: Change
  ) throws {
    for id in ids {
      let found = try change.transaction.query(
        """
        SELECT id, import_id FROM import_items
        WHERE kind = 'id' AND bundle_id = ? AND value = ? AND coalesce(environment, ?) = ?
        """, lane.bundleId, id, lane.environment, lane.environment
      ) { row in (row.int(0), row.optionalText(1)) }
      for (row, importId) in found where row != asked.id {
        try finish(
          Item(
            id: row, importId: importId, line: nil, kind: .id, bundleId: lane.bundleId,
            environment: lane.environment, value: id, tries: 0), recorded: 0, change)
      }
    }
  }

  static func due(_ reader: Reader, by now: Int64, limit: Int64) throws -> [Item] {
    try reader.query(
      """
      SELECT id, import_id, line, kind, bundle_id, environment, value, tries FROM import_items
      WHERE next_at <= ? ORDER BY next_at, id LIMIT ?
      """, now, limit
    ) { row in
      Item(
        id: row.int(0), importId: row.optionalText(1), line: row.optionalInt(2),
        kind: Kind(rawValue: row.text(3)) ?? .id, bundleId: row.text(4),
        environment: row.optionalText(5), value: row.text(6), tries: row.int(7))
    }
  }

  static func waiting(_ reader: Reader) throws -> Int64 {
    try reader.first("SELECT count(*) FROM import_items") { $0.int(0) } ?? 0
  }

  /// The item is done; `recorded` facts came of it.
  static func finish(_ item: Item, recorded: Int, _ change: Change) throws {
    guard try remove(item, change), let importId = item.importId else { return }
    try change.transaction.run(
      "UPDATE imports SET done = done + 1, recorded = recorded + ? WHERE id = ?", recorded,
      importId)
  }

  /// The item can never be imported.
  static func fail(_ item: Item, _ reason: String, _ change: Change) throws {
    guard try remove(item, change), let importId = item.importId, let line = item.line else {
      return
    }
    try fail(importId, line: line, reason, change)
  }

  /// A line of an import is of no use.
  static func fail(_ importId: String, line: Int64, _ reason: String, _ change: Change) throws {
    try change.transaction.run("UPDATE imports SET failed = failed + 1 WHERE id = ?", importId)
    let kept = try change.transaction.first(
      "SELECT count(*) FROM import_failures WHERE import_id = ?", importId
    ) { $0.int(0) }
    guard kept ?? 0 < failureLimit else { return }
    try change.transaction.run(
      """
      INSERT INTO import_failures (import_id, line, reason) VALUES (?, ?, ?)
      ON CONFLICT DO NOTHING
      """, importId, line, reason)
  }

  /// False if it was removed before: then it counts no second time.
  private static func remove(_ item: Item, _ change: Change) throws -> Bool {
    try change.transaction.run("DELETE FROM import_items WHERE id = ?", item.id) > 0
  }

  /// Tries an item again after a pause that grows.
  static func postpone(_ item: Item, _ change: Change) throws {
    let pause = min(Int64(5_000) << min(item.tries, 10), 3_600_000)
    try change.transaction.run(
      "UPDATE import_items SET tries = tries + 1, next_at = ? WHERE id = ?", change.now + pause,
      item.id)
  }
}
