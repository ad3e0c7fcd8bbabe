import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// Takes a proof for an order, once: the same text posted again is the same proof.
struct SubmitProof: Sendable {
  /// A proof and where it stands.
  struct Result: Sendable {
    let proofId: String
    let order: Order
    /// The outcome that says most; nil while the proof is not decided.
    let outcome: ProofOutcome?
    /// The outcomes of all lineages that a receipt lists; empty for a proof of one.
    let parts: [ProofOutcome]
  }

  /// What is posted, and by whom.
  struct Posting: Sendable {
    let proof: PostedProof
    let orderId: String
    /// The customer of the caller's token; nil for an API key.
    let own: String?
    /// How long the app waits for the outcome.
    let wait: Duration
  }

  /// What was known of a posting before it was taken.
  struct Before: Sendable {
    let result: Result
    let isKnown: Bool
  }

  let store: Store
  let notices: Notices
  private let submitted: Counter
  private let repeated: Counter

  init(store: Store, notices: Notices, metrics: Metrics) {
    self.store = store
    self.notices = notices
    submitted = metrics.counter("order_proofs_total", "Proofs that were taken.")
    repeated = metrics.counter("order_proofs_repeated_total", "Proofs that were posted before.")
  }

  /// What is known: apps post what they know at every launch, and that is answered without a write.
  ///
  /// - Throws: `Problem` for an unknown order.
  func look(_ reader: Reader, _ posting: Posting) throws -> Before {
    let order = try Reach.order(reader, posting.orderId, own: posting.own)
    let (id, row) = try ProofID.current(
      reader, order.id, posting.proof, at: store.clock.now())
    let parts = row?.outcome == nil ? [] : try ProofStore.parts(reader, id)
    return Before(
      result: Result(proofId: id, order: order, outcome: row?.outcome, parts: parts),
      isKnown: row != nil)
  }

  /// The answer to a posting of which all is known that it waits for; nil when more is to be done.
  func repeated(_ posting: Posting, _ before: Before) -> Result? {
    guard before.isKnown, before.result.outcome != nil || posting.wait <= .zero else { return nil }
    repeated.add()
    return before.result
  }

  /// Takes the proof and waits, at most for the given time, until it has its outcome.
  func run(_ posting: Posting, _ before: Before) async throws -> Result {
    let (posted, orderId, wait) = (posting.proof, before.result.order.id, posting.wait)
    if let result = repeated(posting, before) { return result }
    if before.isKnown {
      repeated.add()
      return try await outcome(of: before.result, orderId, by: .after(wait), ticket: nil)
    }
    // The place in the line comes before the proof is there, so that its outcome is not missed.
    let ticket = wait > .zero ? enter(before.result) : nil
    defer { ticket.map { notices.requests.leave($0) } }
    let notices = notices
    let (result, isNew) = try await store.change { change in
      try Self.take(change, posted, orderId, notices)
    }
    (isNew ? submitted : repeated).add()
    guard result.outcome == nil, let ticket else { return result }
    // In the rare case that another try of the same text was faster, its id is another.
    let place = result.proofId == before.result.proofId ? ticket : nil
    return try await outcome(of: result, orderId, by: .after(wait), ticket: place)
  }

  private func enter(_ result: Result) -> Waiters<String>.Ticket {
    notices.requests.enter(result.proofId, group: result.order.customer)
  }

  /// Waits until a proof has its outcome, at most until the deadline.
  ///
  /// - Parameter ticket: A place in the line that was taken before the result was read, if any.
  private func outcome(
    of result: Result, _ orderId: String, by deadline: Deadline,
    ticket: Waiters<String>.Ticket?
  ) async throws -> Result {
    var result = result
    var taken = ticket
    while true {
      let ticket: Waiters<String>.Ticket
      if let place = taken {
        ticket = place
        taken = nil
      } else {
        // The place in the line comes before the look at the state, so that nothing is missed between.
        ticket = enter(result)
        result = try await current(result.proofId, orderId)
      }
      defer { notices.requests.leave(ticket) }
      guard result.outcome == nil, !deadline.hasPassed else { return result }
      let ending = await notices.requests.wait(ticket, atMost: deadline.remaining)
      if ending != .notified { return try await current(result.proofId, orderId) }
    }
  }

  private static func take(
    _ change: Change, _ posted: PostedProof, _ orderId: String, _ notices: Notices
  ) throws -> (Result, isNew: Bool) {
    guard var order = try OrderStore.order(change.transaction, orderId) else {
      throw Problem.unknownOrder(orderId)
    }
    let (id, row) = try ProofID.current(change.transaction, orderId, posted, at: change.now)
    if let row {
      return (Result(proofId: id, order: order, outcome: row.outcome, parts: []), false)
    }
    try ProofStore.submit(
      change,
      Proof(
        id: id, orderId: orderId, customer: order.customer, bundleId: order.bundleId,
        kind: posted.kind, content: posted.content, submittedAt: change.now))
    if order.state != .completed && order.state != .submitted {
      order.move(to: .submitted, cause: "proof-posted", at: change.now)
      try OrderStore.save(change, order, notices: notices)
    }
    return (Result(proofId: id, order: order, outcome: nil, parts: []), true)
  }

  private func current(_ proofId: String, _ orderId: String) async throws -> Result {
    try await store.readers.read { reader in
      guard let order = try OrderStore.order(reader, orderId) else {
        throw Problem.unknownOrder(orderId)
      }
      let outcome = try ProofStore.proof(reader, proofId)?.outcome
      return Result(
        proofId: proofId, order: order, outcome: outcome,
        parts: outcome == nil ? [] : try ProofStore.parts(reader, proofId))
    }
  }
}
