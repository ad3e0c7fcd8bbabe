import Catalog
import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Applies facts to lineages: what is new changes the lineage, what is known or older does not; finds
/// the customer, publishes the lineage's new state, and gives every proof its outcome.
struct Ledger: Sendable {
  let policies: @Sendable (String, String) -> Policies
  private let linkWait: Int64
  /// Nil where nobody asks Apple.
  let traces: AppleTraces?
  private let counters: LedgerCounters

  init(
    policies: @escaping @Sendable (String, String) -> Policies, linkWait: Int64,
    traces: AppleTraces? = nil, metrics: Metrics
  ) {
    self.policies = policies
    self.linkWait = linkWait
    self.traces = traces
    counters = LedgerCounters(metrics)
  }

  /// Applies a fact, or lets it wait behind those of its lineage that wait for their token.
  func record(_ fact: FactContents, _ change: Change) throws {
    if try !WaitingFacts.isWaiting(change.transaction, fact.lineage),
      try apply(fact, change, mayWait: linkWait > 0)
    {
      return
    }
    change.count(counters.waits)
    try WaitingFacts.insert(change, fact, dueAt: change.now + linkWait)
  }

  /// Applies the facts of a lineage that wait, in order, up to one that must wait on.
  ///
  /// - Parameter dueBy: Those that fell due until then wait no longer.
  func release(_ lineage: LineageID, _ change: Change, dueBy: Int64 = .min) throws {
    for waiting in try WaitingFacts.facts(change.transaction, lineage) {
      guard try apply(waiting.fact, change, mayWait: waiting.dueAt > dueBy) else { return }
      try WaitingFacts.remove(change.transaction, id: waiting.id)
    }
  }

  /// Applies a fact; false, and without effect, when it must wait for its token.
  private func apply(_ fact: FactContents, _ change: Change, mayWait: Bool) throws -> Bool {
    let change = change.since(fact.wayStart)
    let known = try LineageStore.lineage(change.transaction, fact.lineage)
    var before = known ?? Lineage(fact.lineage)
    if known == nil, let moved = try Transfers.find(change.transaction, fact.lineage) {
      // Support spoke before the first fact came.
      before.owner = moved.customer
      before.movedSignedDate = moved.decidedAt
    }
    var lineage = before
    let merge = lineage.merge(fact)
    let policy = policies(fact.lineage.bundleId, fact.lineage.environment).transfer
    let prover = try fact.proof.map { try Customers.current(change.transaction, $0.customer) }
    let isProverErased =
      try prover.map {
        try Customers.isErased(change.transaction, $0, after: fact.receivedAt)
      } ?? false
    let decision = LinkCustomer(
      owner: before.owner, lineage: before.transactions.isEmpty ? lineage : before, fact: fact,
      isNewPurchase: merge.isNewPurchase,
      token: try Tokens.owner(change.transaction, of: fact.token),
      prover: isProverErased ? nil : prover, mayWait: mayWait, policy: policy, now: change.now
    ).decide()
    switch decision {
    case .wait: return false
    case .owner(let owner): lineage.owner = owner
    case .move(let claimant):
      lineage.owner = claimant
      lineage.movedSignedDate = fact.signedDate
      change.count(counters.moves)
    case .share(let owner, let sharer):
      lineage.owner = owner
      lineage.share(with: sharer)
    }
    let isNews = merge.isNewTransaction || !lineage.hasSameHolders(as: before)
    let isRequest = try ConsumptionRequests.insert(change.transaction, fact)
    if known == nil || merge.hasChanged || isNews || isRequest {
      try publish(&lineage, before: before, fact.cause, change)
    } else {
      change.count(counters.unchanged)
    }
    if let proof = fact.proof, let prover {
      let verdict = Verdict(
        fact, lineage, prover: prover, isNews: isNews, isProverErased: isProverErased,
        policy: policy)
      try ProofOutcomes.decide(
        change, ProofOutcome(verdict, proof, prover: prover, fact, lineage, at: change.now))
    }
    change.count(counters.facts)
    return true
  }

  /// Publishes a lineage's next revision to all who have it, and to those who had it and do not.
  func publish(
    _ lineage: inout Lineage, before: Lineage, _ cause: LineageCause, _ change: Change
  ) throws {
    let owner = lineage.owner ?? Customer.provisional(for: lineage.id)
    lineage.owner = owner
    if policies(lineage.id.bundleId, lineage.id.environment).transfer != .share {
      lineage.sharers = []
    }
    lineage.sharers.removeAll { Customer.isSame($0, owner) }
    lineage.revision += 1
    try traces?.changed(lineage, isNew: lineage.revision == 1, cause, change)
    if before.owner == nil && Customer.isProvisional(owner) { change.count(counters.provisional) }
    let state = lineage.state(for: owner, .held, cause, at: change.now)
    let encoded = try EventJSON.encode(state)
    try LineageStore.save(
      change.transaction, lineage, owner: owner, before: before, encoded: encoded)
    try send(state, encoded, change)
    for customer in lineage.sharers {
      var shared = lineage.state(for: customer, .held, cause, at: change.now)
      shared.isShared = true
      try send(shared, try EventJSON.encode(shared), change)
    }
    // A lineage that is published for the first time has left nobody, whatever support has said.
    guard before.revision > 0 else { return }
    for customer in before.holders where !lineage.holders.contains(same: customer) {
      let left = lineage.state(for: customer, .left, cause, at: change.now)
      try send(left, try EventJSON.encode(left), change)
    }
  }

  /// Publishes a state to its customer.
  func send(_ state: LineageState, _ encoded: [UInt8], _ change: Change) throws {
    // Several customers may have or leave a lineage at one revision.
    try change.publish(
      .transactions, key: state.customer, type: .lineageChanged,
      subject: state.lineage.description,
      revision: "\(state.revision)/\(state.holding.rawValue)/\(state.customer)", encoded: encoded)
  }
}

struct LedgerCounters: Sendable {
  let facts: Counter
  let unchanged: Counter
  let moves: Counter
  let provisional: Counter
  let waits: Counter

  init(_ metrics: Metrics) {
    facts = metrics.counter("ledger_facts_total", "Facts that were applied to a lineage.")
    unchanged = metrics.counter(
      "ledger_unchanged_total", "Facts that were known, or older than what is known.")
    moves = metrics.counter("ledger_moves_total", "Lineages that moved to another customer.")
    provisional = metrics.counter(
      "ledger_provisional_total", "Lineages that were given a provisional customer.")
    waits = metrics.counter(
      "ledger_waits_total", "Facts that had to wait for their token to become known.")
  }
}

extension ProofOutcome {
  init(
    _ verdict: Verdict, _ proof: AppStoreFact.ProofReference, prover: String, _ fact: FactContents,
    _ lineage: Lineage, at now: Int64
  ) {
    let transaction = fact.transaction
    self.init(
      proofId: proof.id, part: proof.part, orderId: proof.orderId, customer: prover,
      outcome: verdict.outcome, reason: verdict.reason, detail: verdict.detail,
      lineage: lineage.id.description, revision: lineage.revision,
      transactionId: transaction?.transactionId, productId: transaction?.productId,
      quantity: transaction?.quantity, appAccountToken: transaction?.appAccountToken,
      revocationDate: lineage.transaction(transaction?.transactionId)?.revocationDate,
      decidedAt: now)
  }
}
