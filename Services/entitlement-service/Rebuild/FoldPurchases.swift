import Events
import Kafka
import Pipeline
import SQLite

/// Folds lineage states into purchases, as they were when the service had read so far: nothing is
/// credited, computed or told.
enum FoldPurchases {
  /// Takes in a record of `iap.transactions`; customers and merges are in the store already.
  static func collect(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let state = try record.decode(LineageState.self, type: .lineageChanged) else {
      return nil
    }
    let encoded = record.value ?? []
    return { change in try take(state, encoded, change) }
  }

  private static func take(_ state: LineageState, _ encoded: [UInt8], _ change: Change) throws {
    let transaction = change.transaction
    let own = try CustomerRow.exactly(transaction, state.customer)
    let row = try own.mergedInto.map { try CustomerRow.exactly(transaction, $0) } ?? own
    // Nothing brings an erased customer back.
    guard own.erasedAt == nil, row.erasedAt == nil else { return }
    try RebuildTables.note(transaction, row.customer, evaluatedAt: state.decidedAt)
    let isRedirected = own.mergedInto != nil
    if isRedirected && state.holding == .left && state.cause.kind == "merge" { return }
    let hasOthers =
      try isRedirected
      || transaction.exists("SELECT 1 FROM customers WHERE merged_into = ? LIMIT 1", row.customer)
    guard hasOthers else { return try fold(state, encoded, row.customer, transaction) }
    try transaction.run(
      """
      INSERT INTO rebuild_states (customer, lineage, revision, is_held, state)
      VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
      """, row.customer, state.lineage.description, state.revision, state.holding == .held, encoded)
  }

  /// How many states one job folds.
  private static let batch = 500

  /// Where a part of the states of merged customers ended.
  struct Cursor: Codable, Sendable {
    var customer = ""
    var lineage = ""
    var revision: Int64 = 0
    var isHeld = false
  }

  /// Folds the next states of customers who were merged, by revision; nil at the end.
  static func foldMerged(_ change: Change, after cursor: Cursor) throws -> Cursor? {
    let transaction = change.transaction
    let states = try transaction.query(
      """
      SELECT customer, lineage, revision, is_held, state FROM rebuild_states
      WHERE (customer, lineage, revision, is_held) > (?, ?, ?, ?)
      ORDER BY customer, lineage, revision, is_held LIMIT ?
      """, cursor.customer, cursor.lineage, cursor.revision, cursor.isHeld, Int64(batch)
    ) { row in
      (
        cursor: Cursor(
          customer: row.text(0), lineage: row.text(1), revision: row.int(2), isHeld: row.bool(3)),
        state: row.blob(4)
      )
    }
    for (cursor, encoded) in states {
      let state = try EventJSON.decode(LineageState.self, from: encoded)
      try fold(state, encoded, cursor.customer, transaction)
    }
    return states.last?.cursor
  }

  private static func fold(
    _ state: LineageState, _ encoded: [UInt8], _ customer: String, _ transaction: Transaction
  ) throws {
    let known = try Purchases.row(transaction, customer, state.lineage)
    guard known.map({ state.isNewer(than: $0) }) ?? true else { return }
    if state.holding == .left && state.cause.kind == "erasure" {
      try Purchases.remove(transaction, customer, state.lineage)
      return
    }
    try Purchases.save(
      transaction, customer, state, encoded: encoded,
      (known?.sightings ?? Sightings()).seeing(state), unsettled: [])
  }
}
