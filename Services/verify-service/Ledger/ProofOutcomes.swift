import Events
import Pipeline
import SQLite

/// The one outcome of every proof.
enum ProofOutcomes {
  /// Whether a proof has its outcome.
  static func isDecided(_ transaction: Transaction, _ proofId: String) throws -> Bool {
    try transaction.first("SELECT 1 FROM proof_outcomes WHERE proof_id = ?", proofId) { _ in true }
      ?? false
  }

  /// Decides a proof and publishes the outcome; a proof that has one keeps it.
  static func decide(_ change: Change, _ outcome: ProofOutcome) throws {
    let inserted = try change.transaction.run(
      "INSERT INTO proof_outcomes (proof_id, outcome) VALUES (?, ?) ON CONFLICT DO NOTHING",
      outcome.proofId, try EventJSON.encode(outcome))
    guard inserted > 0 else { return }
    try change.publish(
      .transactions, key: outcome.customer, type: .proofDecided, subject: outcome.proofId,
      revision: 1, outcome)
  }
}
