import Events
import Kafka
import Pipeline
import ServiceRuntime
import SQLite

/// Reads `iap.transactions`: gives proofs their outcome, completes orders, wakes waiting apps.
struct CompleteOrder: RecordHandler {
  let waiters: Waiters<String>
  private let completed: Counter
  private let rejected: Counter
  private let mismatched: Counter

  init(waiters: Waiters<String>, metrics: Metrics) {
    self.waiters = waiters
    completed = metrics.counter("orders_completed_total", "Orders that were completed.")
    rejected = metrics.counter("orders_rejected_total", "Orders whose proof was refused.")
    mismatched = metrics.counter(
      "orders_mismatched_total", "Orders completed by another product, quantity or app.")
  }

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    if let outcome = try record.decode(ProofOutcome.self, type: .proofDecided) {
      return { change in try decided(outcome, change) }
    }
    if let state = try record.decode(LineageState.self, type: .lineageChanged) {
      return { change in
        try SubscriptionHistory.note(change.transaction, state)
        if state.holding == .held { try seen(state, change) }
      }
    }
    return nil
  }

  private func decided(_ outcome: ProofOutcome, _ change: Change) throws {
    guard let proof = try ProofStore.proof(change.transaction, outcome.proofId),
      proof.outcome == nil,
      let order = try OrderStore.order(change.transaction, proof.orderId)
    else { return }
    try ProofStore.setOutcome(change.transaction, outcome)
    switch outcome.outcome {
    case .accepted, .alreadyRecorded:
      try complete(
        order,
        Purchase(
          transactionId: outcome.transactionId, lineage: outcome.lineage,
          productId: outcome.productId, quantity: outcome.quantity,
          token: outcome.appAccountToken, isRevoked: outcome.revocationDate != nil),
        cause: "proof-outcome", change)
    default:
      // A refused proof says nothing about an order that a valid one has completed.
      if order.state == .submitted {
        var order = order
        order.rejection = outcome.reason ?? outcome.outcome.rawValue
        order.move(to: .rejected, cause: "proof-outcome", at: change.now)
        try OrderStore.save(change, order)
        change.count(rejected)
      }
    }
    let (waiters, id) = (waiters, order.id)
    change.transaction.afterCommit(key: id) { waiters.notify(id) }
  }

  /// A transaction that bears an order's token completes the order, though no proof was posted.
  private func seen(_ state: LineageState, _ change: Change) throws {
    var checked: Set<String> = []
    for transaction in state.transactions {
      guard let token = transaction.appAccountToken, checked.insert(token).inserted,
        let order = try OrderStore.order(change.transaction, token),
        Customer.isSame(order.customer, state.customer), order.state != .completed
      else { continue }
      try complete(
        order,
        Purchase(
          transactionId: transaction.transactionId, lineage: state.lineage.description,
          productId: transaction.productId, quantity: transaction.quantity, token: token,
          isRevoked: transaction.revocationDate != nil),
        cause: "transaction-seen", change)
      let waiters = waiters
      change.transaction.afterCommit(key: token) { waiters.notify(token) }
    }
  }

  private struct Purchase {
    let transactionId: String?
    let lineage: String?
    let productId: String?
    let quantity: Int64?
    let token: String?
    let isRevoked: Bool
  }

  private func complete(_ order: Order, _ purchase: Purchase, cause: String, _ change: Change)
    throws
  {
    guard order.state != .completed else { return }
    var order = order
    order.transactionId = purchase.transactionId
    order.lineage = purchase.lineage
    order.rejection = nil
    order.mismatched = try isMismatch(purchase, order, change)
    order.move(to: .completed, cause: cause, at: change.now)
    try OrderStore.save(change, order)
    change.count(completed)
    if order.mismatched { change.count(mismatched) }
  }

  /// Whether the purchase is not what was ordered: another product or quantity, bought for another
  /// order, the purchase of another order already, or taken back.
  private func isMismatch(_ purchase: Purchase, _ order: Order, _ change: Change) throws -> Bool {
    if purchase.productId.map({ $0 != order.productId }) ?? false { return true }
    if purchase.quantity.map({ $0 != order.quantity }) ?? false { return true }
    if purchase.isRevoked { return true }
    if let token = purchase.token, token != order.id,
      try OrderStore.order(change.transaction, token) != nil
    {
      return true
    }
    guard let id = purchase.transactionId else { return false }
    return try OrderStore.hasCompletedAnother(change.transaction, id, than: order.id)
  }
}
