import Events
import Kafka
import Pipeline
import SQLite

/// Folds what the ledger has published on `iap.transactions`: lineages by revision, outcomes by proof.
enum FoldPublished {
  /// Causes by which an owner changes without a claim.
  static let obeyed: Set<String> = ["merge", "erasure", "token-known", "transfer"]

  static func collect(_ record: ReceivedRecord, _ shard: Shard) throws -> RecordWork? {
    let encoded = record.value ?? []
    if let state = try record.decode(LineageState.self, type: .lineageChanged) {
      guard shard.owns(key: state.lineage.description) else { return nil }
      return { change in try take(state, encoded, change.transaction) }
    }
    // Those of other shards too: which had them before a re-shard nobody can say, and none may be decided
    // twice.
    guard let outcome = try record.decode(ProofOutcome.self, type: .proofDecided) else {
      return nil
    }
    return { change in
      try change.transaction.run(
        """
        INSERT INTO proof_outcomes (proof_id, part) VALUES (?, ?) ON CONFLICT DO NOTHING
        """, outcome.proofId, outcome.part?.index ?? 0)
    }
  }

  private static func take(
    _ state: LineageState, _ encoded: [UInt8], _ transaction: Transaction
  ) throws {
    let name = state.lineage.description
    let isHeld = state.holding == .held
    try transaction.run(
      """
      INSERT INTO rebuild_holders (lineage, customer, revision, is_held, is_shared)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (lineage, customer) DO UPDATE SET revision = excluded.revision,
        is_held = excluded.is_held, is_shared = excluded.is_shared
        WHERE (excluded.revision, excluded.is_held) > (revision, is_held)
      """, name, state.customer, state.revision, isHeld, state.isShared == true)
    guard isHeld else {
      if let fact = state.cause.fact, !obeyed.contains(state.cause.kind),
        !Customer.isProvisional(state.customer)
      {
        try transaction.run(
          "INSERT INTO rebuild_moves (fact) VALUES (?) ON CONFLICT DO NOTHING", fact)
      }
      return
    }
    guard state.isShared != true else { return }
    try transaction.run(
      """
      INSERT INTO rebuild_owners (lineage, revision, customer, kind, fact, decided_at)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
      """, name, state.revision, state.customer, state.cause.kind, state.cause.fact,
      state.decidedAt)
    try transaction.run(
      """
      INSERT INTO lineages (lineage, owner, revision, state) VALUES (?, ?, ?, ?)
      ON CONFLICT (lineage) DO UPDATE SET owner = excluded.owner, revision = excluded.revision,
        state = excluded.state
        WHERE excluded.revision > revision
      """, name, state.customer, state.revision, encoded)
  }
}
