import Events
import Pipeline
import SQLite

/// The last part of a rebuild: what the ledger knows of each lineage beyond its published state.
struct FinishLineages: Sendable {
  let ledger: Ledger

  /// How many lineages one job takes.
  private static let batch = 200

  /// Finishes the next lineages; gives where the next job begins, nil at the end.
  func run(_ change: Change, after cursor: String) throws -> String? {
    let rows = try change.transaction.query(
      "SELECT lineage, state FROM lineages WHERE lineage > ? ORDER BY lineage LIMIT ?", cursor,
      Int64(Self.batch)
    ) { (name: $0.text(0), state: $0.blob(1)) }
    for (name, encoded) in rows { try finish(name, encoded, change) }
    return rows.last?.name
  }

  private func finish(_ name: String, _ encoded: [UInt8], _ change: Change) throws {
    let transaction = change.transaction
    let state = try EventJSON.decode(LineageState.self, from: encoded)
    let folded = try transaction.first(
      "SELECT state, memory FROM rebuild_receipts WHERE lineage = ? AND state IS NOT NULL", name
    ) { try LineageStore.lineage(state: $0.blob(0), memory: $0.optionalBlob(1)) }
    var lineage = Lineage(
      state, covered: folded.map { Array($0.covered.values) } ?? [],
      coveredRenewal: folded?.coveredRenewal)
    lineage.sharers = try transaction.query(
      """
      SELECT customer FROM rebuild_holders
      WHERE lineage = ? AND revision = ? AND is_held = 1 AND is_shared = 1
      """, name, state.revision
    ) { $0.text(0) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    lineage.movedSignedDate = try movedAt(state.lineage, transaction)
    let new = Lineage(state.lineage)
    try LineageStore.save(
      transaction, lineage, owner: state.customer, before: new, encoded: encoded)
    try ledger.traces?.note(lineage, state.cause, change)
    try tellThoseWhoLeft(lineage, state, change)
  }

  /// When the transaction was signed by which the lineage last moved, from the owners it had.
  private func movedAt(_ id: LineageID, _ transaction: Transaction) throws -> Int64? {
    let owners = try transaction.query(
      """
      SELECT customer, kind, decided_at,
        (SELECT signed_date FROM rebuild_moves WHERE rebuild_moves.fact = rebuild_owners.fact)
      FROM rebuild_owners WHERE lineage = ? ORDER BY revision
      """, id.description
    ) { (customer: $0.text(0), kind: $0.text(1), decidedAt: $0.int(2), signed: $0.optionalInt(3)) }
    func support(before time: Int64) throws -> Int64? {
      try transaction.first(
        "SELECT max(decided_at) FROM rebuild_transfers WHERE lineage = ? AND decided_at <= ?",
        id.description, time
      ) { $0.optionalInt(0) } ?? nil
    }
    guard let first = owners.first else { return nil }
    // Support may have spoken before the first fact came.
    var moved = try support(before: first.decidedAt)
    for (before, after) in zip(owners, owners.dropFirst())
    where !Customer.isSame(before.customer, after.customer) {
      if after.kind == "transfer" {
        moved = max(try support(before: after.decidedAt) ?? after.decidedAt, moved ?? .min)
      } else if !FoldPublished.obeyed.contains(after.kind),
        !Customer.isProvisional(before.customer)
      {
        moved = after.signed ?? moved
      }
    }
    return moved
  }

  /// Whoever had the lineage before its newest revision, and was not told that it went, is told now:
  /// the record was lost on its way.
  private func tellThoseWhoLeft(_ lineage: Lineage, _ state: LineageState, _ change: Change) throws
  {
    let left = try change.transaction.query(
      """
      SELECT customer FROM rebuild_holders WHERE lineage = ? AND revision < ? AND is_held = 1
      """, state.lineage.description, state.revision
    ) { $0.text(0) }
    for customer in left where !lineage.holders.contains(same: customer) {
      let told = lineage.state(for: customer, .left, state.cause, at: state.decidedAt)
      try ledger.send(told, try EventJSON.encode(told), change)
    }
  }
}
