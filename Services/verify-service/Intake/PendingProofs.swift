import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Proofs about which Apple must be asked: a row each, with the time of the next try.
enum PendingProofs {
  static let tables = """
    CREATE TABLE pending_proofs (
      proof_id TEXT PRIMARY KEY,
      proof BLOB NOT NULL,
      since INTEGER NOT NULL,
      tries INTEGER NOT NULL,
      next_at INTEGER NOT NULL,
      fault TEXT,
      traceparent TEXT
    ) WITHOUT ROWID;
    CREATE INDEX pending_proofs_by_next ON pending_proofs (next_at);
    """

  /// One of them.
  struct Row: Sendable {
    let proof: Proof
    /// When it first had to wait, UTC milliseconds.
    let since: Int64
    /// How often Apple was asked without a result.
    let tries: Int64
    /// The trace of the request that brought it.
    let trace: TraceContext?
  }

  static func insert(_ change: Change, _ proof: Proof) throws {
    try change.transaction.run(
      """
      INSERT INTO pending_proofs (proof_id, proof, since, tries, next_at, traceparent)
      VALUES (?, ?, ?, 0, ?, ?)
      ON CONFLICT (proof_id) DO NOTHING
      """, proof.id, try EventJSON.encode(proof), change.now, change.now,
      change.trace?.traceparent)
  }

  /// Those whose time has come, the longest due first.
  static func due(_ reader: Reader, by now: Int64, limit: Int) throws -> [Row] {
    try reader.query(
      """
      SELECT proof, since, tries, traceparent FROM pending_proofs WHERE next_at <= ?
      ORDER BY next_at LIMIT ?
      """, now, Int64(limit)
    ) { row in
      Row(
        proof: try EventJSON.decode(Proof.self, from: row.blob(0)), since: row.int(1),
        tries: row.int(2),
        trace: row.optionalText(3).flatMap { TraceContext(traceparent: $0) })
    }
  }

  static func count(_ reader: Reader) throws -> Int64 {
    try reader.first("SELECT count(*) FROM pending_proofs") { $0.int(0) } ?? 0
  }

  /// Puts off the next try.
  static func retry(_ change: Change, _ row: Row, at next: Int64, fault: String) throws {
    try change.transaction.run(
      "UPDATE pending_proofs SET tries = ?, next_at = ?, fault = ? WHERE proof_id = ?",
      row.tries + 1, next, String(fault.prefix(300)), row.proof.id)
  }

  /// Decides the proofs of an erased customer, about which nobody need be asked any more.
  static func forget(_ change: Change, _ customer: String) throws {
    let proofs = try change.transaction.query(
      "SELECT proof FROM pending_proofs WHERE CAST(proof AS TEXT) ->> '$.customer' = ?", customer
    ) { try EventJSON.decode(Proof.self, from: $0.blob(0)) }
    for proof in proofs where try remove(change, proof) {
      try ProofOutcomes.rejectErased(change, proof)
    }
  }

  /// Ends the wait of a proof; false when it waits no more.
  static func remove(_ change: Change, _ proof: Proof) throws -> Bool {
    try change.transaction.run("DELETE FROM pending_proofs WHERE proof_id = ?", proof.id) > 0
  }
}

/// When Apple is asked again about a proof.
enum PendingPace {
  /// No pause is longer, but for one that Apple asks for.
  static let longestPause: Int64 = 10 * 60_000
  /// After so long without a result a proof is given up.
  static let longestWait: Int64 = 7 * 24 * 3600 * 1000

  /// The pause in milliseconds after `tries` tries: doubling from two seconds, half of it by chance.
  static func pause(tries: Int64, asked: Duration?, random: Double) -> Int64 {
    let bound = min(2000 << min(tries, 20), longestPause)
    let jittered = bound / 2 + Int64(Double(bound / 2) * random)
    let askedFor = asked.map { $0.components.seconds * 1000 } ?? 0
    return max(jittered, min(askedFor, 24 * 3600 * 1000))
  }
}
