import Events
import Pipeline
import SQLite

/// Which proofs have their one outcome, or their lineages have where a proof has several.
///
/// What the outcome was stands on the topic alone: here it would outlive the customer.
enum ProofOutcomes {
  static let tables = """
    CREATE TABLE proof_outcomes (
      proof_id TEXT NOT NULL,
      part INTEGER NOT NULL,
      PRIMARY KEY (proof_id, part)
    ) WITHOUT ROWID;
    """

  /// Whether a proof, or a part of it, has its outcome.
  static func isDecided(_ transaction: Transaction, _ proofId: String, part: ProofPart? = nil)
    throws -> Bool
  {
    try transaction.exists(
      "SELECT 1 FROM proof_outcomes WHERE proof_id = ? AND part = ?", proofId, part?.index ?? 0)
  }

  /// Decides a proof and publishes the outcome; a proof that has one keeps it.
  static func decide(_ change: Change, _ outcome: ProofOutcome) throws {
    let part = outcome.part?.index ?? 0
    let inserted = try change.transaction.run(
      "INSERT INTO proof_outcomes (proof_id, part) VALUES (?, ?) ON CONFLICT DO NOTHING",
      outcome.proofId, part)
    guard inserted > 0 else { return }
    try change.publish(
      .transactions, key: outcome.customer, type: .proofDecided, subject: outcome.proofId,
      revision: part == 0 ? "1" : "1/\(part)", outcome)
  }
}
