import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// Takes a proof for an order, once: the same text posted again is the same proof.
struct SubmitProof: Sendable {
  /// What the app posts.
  struct Input: Decodable, Sendable {
    let signedTransaction: String
  }

  /// A proof and where it stands.
  struct Result: Sendable {
    let proofId: String
    let order: Order
    let outcome: ProofOutcome?
  }

  let store: Store
  let waiters: Waiters<String>
  private let submitted: Counter
  private let repeated: Counter

  init(store: Store, waiters: Waiters<String>, metrics: Metrics) {
    self.store = store
    self.waiters = waiters
    submitted = metrics.counter("order_proofs_total", "Proofs that were taken.")
    repeated = metrics.counter("order_proofs_repeated_total", "Proofs that were posted before.")
  }

  /// Takes the proof and waits, at most for the given time, until it has its outcome.
  ///
  /// - Throws: `Problem` for text that is no signed transaction, and for an unknown order.
  func run(_ input: Input, orderId: String, wait: Duration, traceparent: String?) async throws
    -> Result
  {
    let signed = input.signedTransaction
    try SignedText.check(signed)
    let proofId = UUIDs.version5(
      namespace: EventID.namespace, name: "proof\n\(orderId)\n\(SHA256.hex(signed))")

    let (first, isNew) = try await store.change { change in
      try Self.take(change, proofId, signed, orderId, traceparent)
    }
    (isNew ? submitted : repeated).add()
    guard first.outcome == nil, wait > .zero else { return first }

    let deadline = Deadline.after(wait)
    while true {
      // The place in the line comes before the look at the state, so that nothing is missed between.
      let ticket = waiters.enter(orderId, group: first.order.customer)
      defer { waiters.leave(ticket) }
      let now = try await current(proofId, orderId)
      guard now.outcome == nil, !deadline.hasPassed else { return now }
      if await waiters.wait(ticket, atMost: deadline.remaining) != .notified {
        return try await current(proofId, orderId)
      }
    }
  }

  private static func take(
    _ change: Change, _ proofId: String, _ signed: String, _ orderId: String,
    _ traceparent: String?
  ) throws -> (Result, isNew: Bool) {
    guard var order = try OrderStore.order(change.transaction, orderId) else {
      throw Problem.unknownOrder(orderId)
    }
    if let known = try ProofStore.proof(change.transaction, proofId) {
      return (Result(proofId: proofId, order: order, outcome: known.outcome), false)
    }
    guard try ProofStore.count(change.transaction, order: orderId) < ProofStore.limitPerOrder
    else { throw Problem.tooManyProofs }
    let proof = Proof(
      id: proofId, orderId: orderId, customer: order.customer, bundleId: order.bundleId,
      kind: .signedTransaction, content: signed,
      submittedAt: change.now)
    try ProofStore.insert(change.transaction, proof)
    try change.publish(
      .proofs, key: order.customer, type: .proofSubmitted, subject: proofId, revision: 1, proof,
      traceparent: traceparent)
    if order.state != .completed && order.state != .submitted {
      order.move(to: .submitted, cause: "proof-posted", at: change.now)
      try OrderStore.save(change, order, traceparent: traceparent)
    }
    return (Result(proofId: proofId, order: order, outcome: nil), true)
  }

  private func current(_ proofId: String, _ orderId: String) async throws -> Result {
    try await store.readers.read { reader in
      guard let order = try OrderStore.order(reader, orderId) else {
        throw Problem.unknownOrder(orderId)
      }
      return Result(
        proofId: proofId, order: order, outcome: try ProofStore.proof(reader, proofId)?.outcome)
    }
  }
}

/// What text from an app must look like before anything is stored.
enum SignedText {
  /// - Throws: `Problem` `malformed-proof` naming what the text is instead.
  static func check(_ text: String) throws(Problem) {
    func malformed(_ detail: String) -> Problem {
      Problem(
        status: 422, type: "malformed-proof", title: "Not a signed transaction", detail: detail,
        members: ["field": "signedTransaction"])
    }
    guard !text.isEmpty else { throw malformed("signedTransaction is empty.") }
    guard text.utf8.count <= Proof.maximumSignedBytes else {
      throw malformed("signedTransaction is longer than \(Proof.maximumSignedBytes) bytes.")
    }
    if text.hasPrefix("MI") {
      throw malformed(
        "signedTransaction looks like an app receipt; post Transaction.jwsRepresentation of "
          + "StoreKit 2.")
    }
    if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      throw malformed(
        "signedTransaction looks like a transaction id; post Transaction.jwsRepresentation of "
          + "StoreKit 2.")
    }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ Base64URL.decode(Array($0))?.isEmpty == false })
    else {
      throw malformed(
        "signedTransaction is not three parts of base64url separated by dots; post "
          + "Transaction.jwsRepresentation of StoreKit 2.")
    }
  }
}
