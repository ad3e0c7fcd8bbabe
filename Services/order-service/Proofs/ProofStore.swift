import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite

/// What became of a proof, in all of its parts.
struct ProofDecision: Sendable, Equatable {
  /// Why an order is refused though its receipt is genuine: what was ordered is not among what it
  /// lists.
  static let notInReceipt = "not-in-receipt"

  /// The order to which it was posted; nil for a restore.
  let orderId: String?
  /// Who restored; nil for the proof of an order.
  let customer: String?
  /// One for each part, in their order.
  let outcomes: [ProofOutcome]

  /// The one that says most for the customer: accepted, already recorded, another's, rejected.
  var best: ProofOutcome? {
    let ranks: [Outcome] = [.accepted, .alreadyRecorded, .belongsToAnother]
    return ranks.lazy.compactMap { rank in outcomes.first { $0.outcome == rank } }.first
      ?? outcomes.first
  }
}

/// The proofs that were posted, and what became of them.
enum ProofStore {
  /// No order takes more proofs than this; every renewal of a subscription is one, if the app posts it.
  static let limitPerOrder: Int64 = 1000
  /// No customer restores more proofs than this.
  static let limitPerCustomer: Int64 = 5000

  struct Row: Sendable {
    let orderId: String?
    let customer: String?
    let submittedAt: Int64
    /// The outcome that says most; nil while the proof is not decided in all of its parts.
    let outcome: ProofOutcome?
  }

  static func proof(_ rows: some StoreRows, _ id: String) throws -> Row? {
    try rows.first(
      "SELECT order_id, customer, submitted_at, outcome FROM proofs WHERE id = ?", id
    ) { row in
      Row(
        orderId: row.optionalText(0), customer: row.optionalText(1), submittedAt: row.int(2),
        outcome: try row.optionalBlob(3).map {
          try EventJSON.decode(ProofOutcome.self, from: $0)
        })
    }
  }

  /// The outcomes of the parts of a proof that is about several lineages.
  static func parts(_ rows: some StoreRows, _ id: String) throws -> [ProofOutcome] {
    try rows.query("SELECT outcome FROM proof_parts WHERE proof_id = ? ORDER BY part", id) { row in
      try EventJSON.decode(ProofOutcome.self, from: row.blob(0))
    }
  }

  /// Stores and publishes a proof, once.
  ///
  /// - Throws: `Problem` `too-many-proofs`.
  static func submit(_ change: Change, _ proof: Proof) throws {
    let rows = change.transaction
    if let order = proof.orderId {
      let count = try rows.first("SELECT COUNT(*) FROM proofs WHERE order_id = ?", order) {
        $0.int(0)
      }
      guard count ?? 0 < limitPerOrder else { throw Problem.tooManyProofs(ofOrder: true) }
    } else {
      let count = try rows.first(
        "SELECT COUNT(*) FROM proofs WHERE customer = ?", proof.customer
      ) { $0.int(0) }
      guard count ?? 0 < limitPerCustomer else { throw Problem.tooManyProofs(ofOrder: false) }
    }
    try rows.run(
      "INSERT INTO proofs (id, order_id, customer, submitted_at) VALUES (?, ?, ?, ?)", proof.id,
      proof.orderId, proof.orderId == nil ? proof.customer : nil, proof.submittedAt)
    try change.publish(
      .proofs, key: proof.customer, type: .proofSubmitted, subject: proof.id, revision: 1, proof)
  }

  /// Takes an outcome in; gives the decision when it is the last part that was missing.
  static func take(_ outcome: ProofOutcome, _ change: Change) throws -> ProofDecision? {
    let rows = change.transaction
    guard let proof = try proof(rows, outcome.proofId), proof.outcome == nil else { return nil }
    var outcomes = [outcome]
    if let part = outcome.part {
      try rows.run(
        "INSERT INTO proof_parts (proof_id, part, outcome) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        outcome.proofId, part.index, try EventJSON.encode(outcome))
      outcomes = try parts(rows, outcome.proofId)
      guard Int64(outcomes.count) >= part.count else { return nil }
    }
    let decision = ProofDecision(
      orderId: proof.orderId, customer: proof.customer, outcomes: outcomes)
    try rows.run(
      "UPDATE proofs SET outcome = ? WHERE id = ? AND outcome IS NULL",
      try EventJSON.encode(decision.best ?? outcome), outcome.proofId)
    return decision
  }
}

/// The id of a proof: made of where it was posted and its content, so that the same text posted again
/// is the same proof.
enum ProofID {
  /// After this time a refused proof that is posted again is verified anew: what was wrong may have
  /// been the configuration, or a purchase that Apple did not show yet.
  static let patience: Int64 = 3_600_000
  /// How often one text is verified at most.
  static let tries = 10

  static func make(_ place: String, _ proof: PostedProof, attempt: Int) -> String {
    let name = "proof\n\(place)\n\(proof.hash)"
    return UUIDs.version5(
      namespace: EventID.namespace, name: attempt == 1 ? name : "\(name)\n\(attempt)")
  }

  /// The id of the newest try of a text, or of the next one when that was refused long ago.
  static func current(_ rows: some StoreRows, _ place: String, _ proof: PostedProof, at now: Int64)
    throws -> (id: String, row: ProofStore.Row?)
  {
    for attempt in 1...tries {
      let id = make(place, proof, attempt: attempt)
      guard let row = try ProofStore.proof(rows, id) else { return (id, nil) }
      guard attempt < tries, let outcome = row.outcome, !outcome.outcome.isGood,
        row.submittedAt <= now - patience
      else { return (id, row) }
    }
    return (make(place, proof, attempt: tries), nil)
  }
}
