import Catalog
import Events
import Kafka
import Pipeline
import ServiceRuntime

/// Reads `iap.transactions`: folds lineage states by revision and recomputes their customer.
struct ApplyTransaction: RecordHandler {
  private let recompute: Recompute
  private let balances: Balances
  private let log: Log
  private let metrics: Metrics
  private let stale: Counter

  init(recompute: Recompute, balances: Balances, log: Log, metrics: Metrics) {
    self.recompute = recompute
    self.balances = balances
    self.log = log
    self.metrics = metrics
    stale = metrics.counter(
      "lineage_states_known_total", "Lineage states that were known, or older than what is known.")
  }

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let state = try record.decode(LineageState.self, type: .lineageChanged) else {
      return nil
    }
    let encoded = record.value ?? []
    return { change in try apply(state, encoded, change) }
  }

  private func apply(_ state: LineageState, _ encoded: [UInt8], _ change: Change) throws {
    if let known = try EntitlementStore.revision(change.transaction, state),
      known >= state.revision
    {
      change.count(stale)
      return
    }
    countUnknownProducts(state)
    try EntitlementStore.savePurchase(
      change.transaction, state, encoded: encoded,
      givesRights: state.transactions.contains { $0.type != ProductKind.consumable.appStoreType })
    let entries = try balances.apply(state, change)
    try recompute.run(state.customer, ChangeCause(state), entries, at: state.decidedAt, change)
  }

  /// A product that the catalog does not know gives nothing, and raises an alarm.
  private func countUnknownProducts(_ state: LineageState) {
    for product in Set(state.transactions.map(\.productId))
    where recompute.rules.product(product, of: state.lineage.bundleId) == nil {
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

extension ChangeCause {
  /// What a lineage state means for its customer, in a word.
  init(_ state: LineageState) {
    let kind: String
    if state.holding == .left {
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
        default: "lineage"
        }
    }
    self.init(
      kind: kind, lineage: state.lineage.description, revision: state.revision,
      transactionId: state.transactions.last?.transactionId)
  }
}
