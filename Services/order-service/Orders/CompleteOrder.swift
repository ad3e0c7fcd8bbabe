import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime

/// Reads `iap.transactions`: gives proofs their outcome, completes orders, wakes waiting apps.
struct CompleteOrder: RecordHandler {
  let notices: Notices
  private let completed: Counter
  private let rejected: Counter
  private let mismatched: Counter
  private let corrected: Counter

  init(notices: Notices, metrics: Metrics) {
    self.notices = notices
    completed = metrics.counter("orders_completed_total", "Orders that were completed.")
    rejected = metrics.counter("orders_rejected_total", "Orders whose proof was refused.")
    mismatched = metrics.counter(
      "orders_mismatched_total", "Orders completed by another product, quantity or app.")
    corrected = metrics.counter(
      "orders_corrected_total", "Mismatched orders whose own purchase came afterwards.")
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
    guard let decision = try ProofStore.take(outcome, change) else { return }
    if let orderId = decision.orderId {
      guard let order = try OrderStore.order(change.transaction, orderId) else { return }
      try decide(order, decision.outcomes, change)
      notices.tell(orderId, after: change)
      notices.tell(outcome.proofId, after: change)
    } else if let customer = decision.customer {
      notices.tell(Notices.restores(of: customer), after: change)
    }
  }

  /// Applies the outcomes of a proof that is decided in all of its parts.
  private func decide(_ order: Order, _ outcomes: [ProofOutcome], _ change: Change) throws {
    let good = outcomes.filter(\.outcome.isGood)
    let cause = "proof-outcome"
    // A transaction that was posted for an order is meant for it; of a receipt only the order's own is.
    if outcomes.first?.part == nil, let only = good.first {
      return try complete(order, Purchase(only), cause: cause, change)
    }
    let best = try MatchPurchase.best(of: good.map { Purchase($0) }, for: order) { purchase in
      try isAnothers(purchase, order, change)
    }
    if let best { return try complete(order, best, cause: cause, change) }
    // A refused proof says nothing about an order that a valid one has completed.
    guard order.state == .submitted else { return }
    var order = order
    let refused = outcomes.first { !$0.outcome.isGood }
    order.rejection =
      good.isEmpty
      ? refused?.reason ?? refused?.outcome.rawValue : ProofDecision.notInReceipt
    order.move(to: .rejected, cause: cause, at: change.now)
    try OrderStore.save(change, order, notices: notices)
    change.count(rejected)
  }

  /// A transaction that bears a token of ours completes an order, though no proof was posted.
  private func seen(_ state: LineageState, _ change: Change) throws {
    var checked: Set<String> = []
    for transaction in state.transactions {
      guard let token = transaction.appAccountToken else { continue }
      let purchase = Purchase(transaction, of: state.lineage)
      if checked.insert(token).inserted,
        let order = try OrderStore.order(change.transaction, token)
      {
        guard Customer.isSame(order.customer, state.customer) else { continue }
        try complete(order, purchase, cause: "transaction-seen", change)
      } else if transaction.transactionReason != "RENEWAL" {
        try completeOldest(
          purchase, state.lineage, of: state.customer, boughtAt: transaction.purchaseDate, change)
      }
    }
  }

  /// How far Apple's clock and ours may be apart when a purchase is put after the order of its product.
  private static let clockTolerance: Int64 = 5 * 60_000

  /// A token of the whole account says whose, but not for which order: the oldest open one of that
  /// customer and product is completed, or else one that has only another order's purchase.
  private func completeOldest(
    _ purchase: Purchase, _ lineage: LineageID, of customer: String, boughtAt: Int64,
    _ change: Change
  ) throws {
    let rows = change.transaction
    guard let token = purchase.token, try AccountTokens.exists(rows, token),
      let id = purchase.transactionId, let productId = purchase.productId,
      // Each state of a lineage holds its old purchases too: one completes one order.
      try !OrderStore.isUsed(rows, id, forProduct: productId)
    else { return }
    let waiting = try OrderStore.waiting(
      rows,
      OrderStore.Wanted(
        customer: customer, bundleId: lineage.bundleId, productId: productId, boughtAt: boughtAt,
        tolerance: Self.clockTolerance))
    // A proof that was posted names its order, and its outcome follows.
    guard !waiting.contains(where: { $0.state == .submitted }), let oldest = waiting.first
    else { return }
    try complete(oldest, purchase, cause: "account-token-seen", change)
  }

  /// Completes an order, or gives a mismatched one a purchase that is more its own.
  private func complete(_ order: Order, _ purchase: Purchase, cause: String, _ change: Change)
    throws
  {
    let isCorrection = order.state == .completed
    guard !isCorrection || order.mismatched else { return }
    let match: OrderMatch =
      try isAnothers(purchase, order, change)
      ? .anothers : MatchPurchase.fits(purchase, order) ? .own : .different
    if isCorrection {
      guard try match < OrderStore.match(change.transaction, order.id) else { return }
    }
    var order = order
    order.transactionId = purchase.transactionId
    order.lineage = purchase.lineage
    order.rejection = nil
    order.mismatched = match != .own
    order.move(to: .completed, cause: cause, at: change.now)
    try OrderStore.save(change, order, notices: notices)
    try OrderStore.note(change.transaction, match, of: order.id)
    change.count(isCorrection ? corrected : completed)
    if order.mismatched, !isCorrection { change.count(mismatched) }
  }

  /// Whether the purchase was made for another order, or is the one that another order asked for.
  private func isAnothers(_ purchase: Purchase, _ order: Order, _ change: Change) throws -> Bool {
    if let token = purchase.token, token != order.id,
      try OrderStore.order(change.transaction, token) != nil
    {
      return true
    }
    guard let id = purchase.transactionId else { return false }
    return try OrderStore.isOwn(change.transaction, id, ofAnotherThan: order.id)
  }
}

extension Outcome {
  /// Whether the purchase is recorded as the customer's: `accepted` or `already-recorded`.
  var isGood: Bool { self == .accepted || self == .alreadyRecorded }
}
