import AppStore
import Cryptography
import Events
import Kafka
import Pipeline
import ServiceRuntime

/// Proves a proof: what is genuine goes to `iap.appstore` as received, what is not has its outcome.
struct ProveProof: RecordHandler {
  private let verifier: SignedDataVerifier
  private let metrics: Metrics

  init(verifier: SignedDataVerifier, metrics: Metrics) {
    self.verifier = verifier
    self.metrics = metrics
  }

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let proof = try record.decode(Proof.self, type: .proofSubmitted) else { return nil }
    guard proof.kind == .signedTransaction else {
      return reject(
        proof, "unsupported-proof", "a proof of kind '\(proof.kind.rawValue)' cannot be verified")
    }
    do {
      let verified = try verifier.verifyTransaction(
        proof.content, expectedBundle: proof.bundleId)
      let payload = verified.payload
      guard let original = payload.originalTransactionId, payload.transactionId != nil,
        payload.productId != nil, payload.purchaseDate != nil
      else {
        return reject(
          proof, "incomplete-transaction",
          "the transaction lacks its id, original id, product or purchase date")
      }
      let lineage = LineageID(
        bundleId: proof.bundleId, environment: verified.environment.rawValue,
        originalTransactionId: original)
      count("proved")
      return { change in
        let fact = AppStoreFact(
          source: .proof, signed: proof.content,
          hash: SHA256.hex(proof.content), bundleId: lineage.bundleId,
          environment: lineage.environment, lineage: lineage.description,
          proof: .init(id: proof.id, orderId: proof.orderId, customer: proof.customer),
          receivedAt: change.now)
        let key = FactWriter.key(of: fact)
        try change.publish(
          .appstore, key: key, type: .appStoreFact, subject: key,
          revision: FactWriter.revision(of: fact), fact)
      }
    } catch {
      return reject(proof, error.code.rawValue, error.description)
    }
  }

  private func reject(_ proof: Proof, _ reason: String, _ detail: String) -> RecordWork {
    count(reason)
    return { change in
      try ProofOutcomes.decide(
        change,
        ProofOutcome(
          proofId: proof.id, orderId: proof.orderId, customer: proof.customer,
          outcome: .rejected, reason: reason, detail: detail, decidedAt: change.now))
    }
  }

  private func count(_ result: String) {
    metrics.counter(
      "proofs_total", "Proofs by what verification said.", labels: ["result": result]
    ).add()
  }
}
