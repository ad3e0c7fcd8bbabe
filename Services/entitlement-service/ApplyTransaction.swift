import Catalog
import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime

/// Reads `iap.transactions`: folds lineage states by revision and recomputes their customer.
struct ApplyTransaction: RecordHandler {
  private let recompute: Recompute
  private let log: Log
  private let metrics: Metrics
  private let stale: Counter
  private let answerRefund: AnswerRefundRequest

  init(recompute: Recompute, log: Log, metrics: Metrics) {
    self.recompute = recompute
    self.log = log
    self.metrics = metrics
    answerRefund = AnswerRefundRequest(metrics: metrics)
    stale = metrics.counter(
      "lineage_states_known_total", "Lineage states that were known, or older than what is known.")
  }

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let state = try record.decode(LineageState.self, type: .lineageChanged) else {
      return nil
    }
    let (encoded, start) = (record.value ?? [], record.wayStart)
    return { change in try apply(state, encoded, change.since(start)) }
  }

  private func apply(_ state: LineageState, _ encoded: [UInt8], _ change: Change) throws {
    let row = try CustomerRow.load(change.transaction, state.customer)
    let customer = row.customer
    let isRedirected = !Customer.isSame(customer, state.customer)
    if row.erasedAt != nil {
      // Nothing brings an erased customer back: what was decided before went with the erasure, and what
      // the ledger decided before it had read of it, it gives to a provisional customer.
      change.count(stale)
      return try settleWaiting(state.lineage, ChangeCause(state), change)
    }
    let known = try Purchases.row(change.transaction, customer, state.lineage)
    // What a merge took from the old customer is the new one's already.
    let isMovedByMerge =
      isRedirected && state.holding == .left && state.cause.kind == "merge"
    guard !isMovedByMerge, known.map({ state.isNewer(than: $0) }) ?? true else {
      change.count(stale)
      if isRedirected { try settleWaiting(state.lineage, ChangeCause(state), change) }
      return
    }
    if state.holding == .left && state.cause.kind == "erasure" {
      return try forget(state, row, change)
    }
    countUnknownProducts(state)
    let credits = CreditPurchases(rules: recompute.rules.current)
    let settlement = try credits.settle(state, for: customer, previous: known, change)
    try Purchases.save(
      change.transaction, customer, state, encoded: encoded,
      (known?.sightings ?? Sightings()).seeing(state), unsettled: settlement.unsettled)
    var news = settlement.entries.map(News.entry)
    if let report = try answerRefund.report(state, for: customer, recompute.rules.current, change) {
      news.append(.consumption(report))
    }
    try recompute.run(row, ChangeCause(state), news, at: state.decidedAt, change)
    if state.holding == .left { try settleWaiting(state.lineage, ChangeCause(state), change) }
  }

  /// Credits what had to wait until another customer no longer had it.
  private func settleWaiting(_ lineage: LineageID, _ cause: ChangeCause, _ change: Change) throws {
    let credits = CreditPurchases(rules: recompute.rules.current)
    for customer in try Purchases.waiting(change.transaction, lineage) {
      let entries = try credits.settleWaiting(of: customer, lineage, change)
      guard !entries.isEmpty else { continue }
      try recompute.run(
        try CustomerRow.exactly(change.transaction, customer), cause, entries.map(News.entry),
        change)
    }
  }

  /// What an erased customer had of a lineage goes without a trace.
  private func forget(_ state: LineageState, _ row: CustomerRow, _ change: Change) throws {
    try Purchases.remove(change.transaction, row.customer, state.lineage)
    try recompute.run(row, ChangeCause(state), at: state.decidedAt, change)
  }

  /// A product that the catalog does not know gives nothing, and raises an alarm.
  private func countUnknownProducts(_ state: LineageState) {
    let rules = recompute.rules.current
    for product in Set(state.transactions.map(\.productId))
    where rules.product(product, of: state.lineage.bundleId) == nil {
      metrics.counter(
        "unknown_product_states_total", "Lineage states with a product that no catalog has.",
        labels: ["product": product]
      ).add()
      log.error(
        "a purchase is of a product that the catalog does not know; it gives nothing",
        ["product": .string(product), "lineage": .string(state.lineage.description)])
    }
  }
}

extension LineageState {
  /// Whether it is newer than what is known; at one revision having it is newer than having left it,
  /// as when both customers of a move are one by now.
  func isNewer(than row: PurchaseRow) -> Bool {
    revision > row.revision || (revision == row.revision && holding == .held && !row.isHeld)
  }
}

extension ChangeCause {
  /// What a lineage state means for its customer, in a word.
  init(_ state: LineageState) {
    let kind: String
    if state.cause.kind == "merge" || state.cause.kind == "erasure" {
      kind = state.cause.kind
    } else if state.holding == .left {
      kind = "transfer"
    } else {
      kind =
        switch (state.cause.kind, state.cause.notificationType) {
        case ("token-known", _), ("transfer", _): "transfer"
        case ("proof", _), (_, "SUBSCRIBED"), (_, "ONE_TIME_CHARGE"): "purchase"
        case (_, "DID_RENEW"): "renewal"
        case (_, "REFUND"): "refund"
        case (_, "REFUND_REVERSED"): "refund-reversed"
        case (_, "REVOKE"): "revocation"
        case (_, "EXPIRED"), (_, "GRACE_PERIOD_EXPIRED"): "expiry"
        case (_, "CONSUMPTION_REQUEST"): "consumption-request"
        default: "lineage"
        }
    }
    self.init(
      kind: kind, lineage: state.lineage.description, revision: state.revision,
      transactionId: state.cause.transactionId ?? state.transactions.last?.transactionId,
      isImport: state.cause.kind == FactSource.historyImport.rawValue ? true : nil)
  }
}
