import AppStore
import Cryptography
import Events
import Pipeline

/// What a proof proves: facts for `iap.appstore`, each about one lineage.
struct ProvedFacts: Sendable {
  /// One of them.
  struct Part: Sendable {
    var lineage: LineageID
    var source: FactSource
    var signed: String
    var hash: String
    /// Whether the proof's outcome hangs on it; what else is known of the lineage has none.
    var decides = true
  }

  var parts: [Part] = []
  /// The whole receipt in base64 with its hash, kept as Apple made it; nil for signed transactions.
  var receipt: Whole?

  struct Whole: Sendable {
    var base64: String
    var hash: String
    var bundleId: String
    var environment: String
  }

  /// A signed transaction.
  init(signed: String, _ lineage: LineageID) {
    parts = [
      Part(lineage: lineage, source: .proof, signed: signed, hash: SHA256.hex(signed))
    ]
  }

  init() {}

  /// Adds what a receipt says about some lineages; a lineage that was added before decides already.
  mutating func add(_ lineages: [ReceiptLineage], evidence: String, certificate: String? = nil)
    throws
  {
    let known = Set(parts.map(\.lineage))
    for lineage in lineages {
      let recorded = RecordedReceipt(
        evidence: evidence, transactions: lineage.transactions, renewal: lineage.renewal,
        xcodeCertificate: certificate)
      let id = LineageID(
        bundleId: lineage.bundleId, environment: lineage.environment.rawValue,
        originalTransactionId: lineage.originalTransactionId)
      parts.append(
        Part(
          lineage: id, source: .receipt,
          signed: String(decoding: try EventJSON.encode(recorded), as: UTF8.self),
          hash: lineage.receiptHash, decides: !known.contains(id)))
    }
  }

  /// Publishes the facts; a receipt without purchases has its outcome at once.
  func publish(for proof: Proof, _ change: Change) throws {
    if let receipt {
      try publish(
        AppStoreFact(
          source: .receipt, signed: receipt.base64, hash: receipt.hash, bundleId: receipt.bundleId,
          environment: receipt.environment, lineage: nil, receivedAt: change.now), change)
    }
    let count = Int64(parts.count { $0.decides })
    guard count > 0 else {
      return try ProofOutcomes.reject(
        change, proof, "no-purchases", "the receipt is genuine and holds no in-app purchase")
    }
    // A receipt says what there is, be it a single purchase, not what was just bought.
    let isList = proof.kind == .receipt
    var index: Int64 = 0
    for part in parts {
      var fact = AppStoreFact(
        source: part.source, signed: part.signed, hash: part.hash, bundleId: part.lineage.bundleId,
        environment: part.lineage.environment, lineage: part.lineage.description,
        receivedAt: change.now)
      if part.decides {
        index += 1
        fact.proof = .init(
          id: proof.id, part: isList || count > 1 ? ProofPart(index: index, count: count) : nil,
          orderId: proof.orderId, customer: proof.customer,
          kind: proof.kind == .signedTransaction ? nil : proof.kind)
      }
      try publish(fact, change)
    }
  }

  private func publish(_ fact: AppStoreFact, _ change: Change) throws {
    let key = FactWriter.key(of: fact)
    try change.publish(
      .appstore, key: key, type: .appStoreFact, subject: key,
      revision: FactWriter.revision(of: fact), fact)
  }
}
