import Catalog
import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Applies facts to lineages: what is new changes the lineage, what is known or older does not; finds
/// the customer, publishes the lineage's new state, and gives every proof its outcome.
struct Ledger: Sendable {
  private let policies: @Sendable (String, String) -> Policies
  private let linkWait: Int64
  private let facts: Counter
  private let unchanged: Counter
  private let moves: Counter
  private let provisional: Counter
  private let waits: Counter

  init(
    policies: @escaping @Sendable (String, String) -> Policies, linkWait: Int64, metrics: Metrics
  ) {
    self.policies = policies
    self.linkWait = linkWait
    facts = metrics.counter("ledger_facts_total", "Facts that were applied to a lineage.")
    unchanged = metrics.counter(
      "ledger_unchanged_total", "Facts that were known, or older than what is known.")
    moves = metrics.counter("ledger_moves_total", "Lineages that moved to another customer.")
    provisional = metrics.counter(
      "ledger_provisional_total", "Lineages that were given a provisional customer.")
    waits = metrics.counter(
      "ledger_waits_total", "Facts that had to wait for their token to become known.")
  }

  /// Applies a fact, or lets it wait behind those of its lineage that wait for their token.
  func record(_ fact: FactContents, _ change: Change) throws {
    if try WaitingFacts.isWaiting(change.transaction, fact.lineage) {
      try WaitingFacts.insert(change, fact, dueAt: change.now + linkWait)
      return
    }
    try apply(fact, change, mayWait: linkWait > 0)
  }

  /// Applies a fact; with `mayWait`, one whose token is not known is put to wait.
  func apply(_ fact: FactContents, _ change: Change, mayWait: Bool) throws {
    let known = try LineageStore.lineage(change.transaction, fact.lineage)
    var lineage = known ?? Lineage(fact.lineage)
    let merge = lineage.merge(fact)
    let decision = LinkCustomer(
      lineage: known ?? lineage, fact: fact, isNewTransaction: merge.isNewTransaction,
      tokenCustomer: try fact.token.flatMap { try Tokens.customer(change.transaction, of: $0) },
      mayWait: mayWait,
      policy: policies(fact.lineage.bundleId, fact.lineage.environment).transfer, now: change.now
    ).decide()

    switch decision {
    case .wait:
      change.count(waits)
      try WaitingFacts.insert(change, fact, dueAt: change.now + linkWait)
      return
    case .owner(let owner):
      if known == nil && Customer.isProvisional(owner) { change.count(provisional) }
      if merge.hasChanged || known == nil {
        try publish(&lineage, owner: owner, fact.cause, change)
      } else {
        change.count(unchanged)
      }
      try decideProof(fact, lineage, owner: owner, isNews: merge.isNewTransaction, change)
    case .move(let claimant):
      try move(&lineage, to: claimant, signedDate: fact.signedDate, fact.cause, change)
      try decideProof(fact, lineage, owner: claimant, isNews: true, change)
    }
    change.count(facts)
  }

  /// A token became known: facts that waited for it are applied, provisional lineages are claimed.
  func tokenKnown(_ issued: TokenIssued, _ change: Change) throws {
    try Tokens.insert(change.transaction, issued)
    guard let customer = try Tokens.customer(change.transaction, of: issued.token) else { return }
    for id in try LineageStore.provisionalLineages(change.transaction, token: issued.token) {
      guard var lineage = try LineageStore.lineage(change.transaction, id) else { continue }
      try move(
        &lineage, to: customer, signedDate: nil, LineageCause(kind: "token-known"), change)
    }
    for lineage in try WaitingFacts.lineages(change.transaction, token: issued.token) {
      try release(lineage, change, mayWait: true)
    }
  }

  /// Applies the facts of a lineage that wait, in order.
  func release(_ lineage: LineageID, _ change: Change, mayWait: Bool) throws {
    for (id, fact) in try WaitingFacts.facts(change.transaction, lineage) {
      try WaitingFacts.remove(change.transaction, id: id)
      try apply(fact, change, mayWait: mayWait)
    }
  }

  private func publish(
    _ lineage: inout Lineage, owner: String, _ cause: LineageCause, _ change: Change
  ) throws {
    lineage.owner = owner
    lineage.revision += 1
    let state = lineage.state(for: owner, .held, cause, at: change.now)
    let encoded = try EventJSON.encode(state)
    try LineageStore.save(change.transaction, lineage, state, encoded: encoded)
    try send(state, encoded, change)
  }

  /// The old owner is told that it left, the new one that it is theirs, at the same revision.
  private func move(
    _ lineage: inout Lineage, to customer: String, signedDate: Int64?, _ cause: LineageCause,
    _ change: Change
  ) throws {
    let old = lineage.owner
    // Claiming a provisional lineage is no move: it had no owner who could ask for it back.
    if let old, !Customer.isProvisional(old) {
      lineage.movedSignedDate = signedDate ?? lineage.movedSignedDate
      change.count(moves)
    }
    try publish(&lineage, owner: customer, cause, change)
    if let old {
      let left = lineage.state(for: old, .left, cause, at: change.now)
      try send(left, try EventJSON.encode(left), change)
    }
  }

  private func send(_ state: LineageState, _ encoded: [UInt8], _ change: Change) throws {
    try change.publish(
      .transactions, key: state.customer, type: .lineageChanged,
      subject: state.lineage.description,
      revision: "\(state.revision)/\(state.holding.rawValue)", encoded: encoded)
  }

  private func decideProof(
    _ fact: FactContents, _ lineage: Lineage, owner: String, isNews: Bool, _ change: Change
  ) throws {
    guard let proof = fact.proof else { return }
    let isOwner = Customer.isSame(owner, proof.customer)
    let outcome: Outcome = !isOwner ? .belongsToAnother : isNews ? .accepted : .alreadyRecorded
    try ProofOutcomes.decide(
      change,
      ProofOutcome(
        proofId: proof.id, orderId: proof.orderId, customer: proof.customer, outcome: outcome,
        reason: isOwner ? nil : "belongs-to-another",
        detail: isOwner
          ? nil
          : "the purchase belongs to another customer, and the transfer policy keeps it there",
        lineage: lineage.id.description, revision: lineage.revision,
        transactionId: fact.transaction?.transactionId, productId: fact.transaction?.productId,
        quantity: fact.transaction?.quantity, appAccountToken: fact.transaction?.appAccountToken,
        revocationDate: lineage.transaction(fact.transaction?.transactionId)?.revocationDate,
        decidedAt: change.now))
  }
}
