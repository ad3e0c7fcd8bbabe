import AppStore
import Catalog
import Cryptography
import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime

/// Proves a proof: what is genuine goes to `iap.appstore` as received, what is not has its outcome,
/// and what only Apple can tell waits in a row of its own.
struct ProveProof: RecordHandler {
  private let judge: ProofJudge
  private let worker: IntakeWorker
  private let metrics: Metrics

  init(judge: ProofJudge, worker: IntakeWorker, metrics: Metrics) {
    self.judge = judge
    self.worker = worker
    self.metrics = metrics
  }

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let proof = try record.decode(Proof.self, type: .proofSubmitted) else { return nil }
    let judgement = judge.judge(proof)
    metrics.countProof(judgement)
    return { [worker] change in
      // Told again, as after a rebuild: it has its outcome, or waits for it.
      guard try !ProofOutcomes.isBegun(change.transaction, proof.id) else { return }
      switch judgement {
      case .proved(let proved): try proved.publish(for: proof, change)
      case .rejected(let reason, let detail):
        try ProofOutcomes.reject(change, proof, reason, detail)
      case .askApple:
        // Erased since it was posted: nothing of it may wait here, where it names the customer.
        let customer = try Customers.current(change.transaction, proof.customer)
        guard
          try !Customers.isErased(change.transaction, customer, after: proof.submittedAt)
        else { return try ProofOutcomes.rejectErased(change, proof) }
        try PendingProofs.insert(change, proof)
        worker.wake(after: change)
      }
    }
  }
}

/// What is to become of a proof.
enum Judgement: Sendable {
  /// It is genuine: this is what it proves.
  case proved(ProvedFacts)
  /// It will never be accepted.
  case rejected(reason: String, detail: String)
  /// Only Apple can tell, or Apple is to be asked as well.
  case askApple

  /// The word that metrics show.
  var word: String {
    switch self {
    case .proved: "proved"
    case .rejected(let reason, _): reason
    case .askApple: "asks-apple"
    }
  }
}

extension Metrics {
  func countProof(_ judgement: Judgement) {
    counter(
      "proofs_total", "Proofs by what verification said.", labels: ["result": judgement.word]
    ).add()
  }
}

extension ProofOutcomes {
  /// Whether anything was decided about a proof, or one of its parts.
  static func isBegun(_ transaction: Transaction, _ proofId: String) throws -> Bool {
    try transaction.exists("SELECT 1 FROM proof_outcomes WHERE proof_id = ? LIMIT 1", proofId)
  }

  /// Decides a proof whose customer was erased after it was posted.
  static func rejectErased(_ change: Change, _ proof: Proof) throws {
    try reject(change, proof, "customer-erased", Verdict.customerErased)
  }

  /// Decides that a proof is not accepted.
  static func reject(_ change: Change, _ proof: Proof, _ reason: String, _ detail: String) throws {
    try decide(
      change,
      ProofOutcome(
        proofId: proof.id, orderId: proof.orderId, customer: proof.customer, outcome: .rejected,
        reason: reason, detail: detail, decidedAt: change.now))
  }
}
