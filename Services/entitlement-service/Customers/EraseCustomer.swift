import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Forgets a customer: what is left is the version, which never restarts.
struct EraseCustomer: Sendable {
  let recompute: Recompute
  private let erasures: Counter

  init(recompute: Recompute, metrics: Metrics) {
    self.recompute = recompute
    erasures = metrics.counter("customer_erasures_total", "Customers that were erased.")
  }

  /// Erases once for each erasure: a second telling changes nothing.
  func apply(_ event: CustomerErased, _ change: Change) throws {
    let transaction = change.transaction
    var row = try CustomerRow.exactly(transaction, event.customer)
    guard row.erasedAt.map({ $0 < event.decidedAt }) ?? true else { return }
    change.count(erasures)
    let customer = row.customer
    let brought = try transaction.query(
      """
      SELECT DISTINCT lineage FROM balance_entries
      WHERE customer = ? AND lineage IS NOT NULL ORDER BY lineage
      """, customer
    ) { LineageID($0.text(0)) }.compactMap { $0 }
    try Self.forget(transaction, customer)
    row.erasedAt = event.decidedAt
    try row.save(
      change, version: row.version, evaluatedAt: row.evaluatedAt ?? 0, dueAt: nil)
    try transaction.run(
      "UPDATE customers SET erased_at = ? WHERE customer = ?", event.decidedAt, customer)
    try recompute.run(
      row, ChangeCause(kind: "erasure", author: event.author, reason: event.reason), [.erased],
      at: event.decidedAt, change)
    // The story goes too, here and of those who were merged into this customer; its end stays.
    try transaction.run(
      """
      DELETE FROM timeline WHERE customer = ?1 AND type <> ?2
        OR customer IN (SELECT customer FROM customers WHERE merged_into = ?1)
      """, customer, EventType.entitlementsErased.rawValue)
    try Self.forgetRights(transaction, customer)
    try recompute.hooks?.forget(change, customer)
    try change.forgetInAudit(customer)
    for lineage in brought { try settleWaiting(lineage, event, change) }
  }

  /// Those who waited for what the customer had are waiting no longer.
  private func settleWaiting(_ lineage: LineageID, _ event: CustomerErased, _ change: Change) throws
  {
    let credits = CreditPurchases(rules: recompute.rules.current)
    for customer in try Purchases.waiting(change.transaction, lineage) {
      let entries = try credits.settleWaiting(of: customer, lineage, change)
      guard !entries.isEmpty else { continue }
      try recompute.run(
        try CustomerRow.exactly(change.transaction, customer), ChangeCause(kind: "erasure"),
        entries.map(News.entry), change)
    }
  }

  /// Removes what a customer has, but for rights and story, which the last events are told from.
  static func forget(_ transaction: Transaction, _ customer: String) throws {
    // What a purchase brought it brings never again, whoever claims the purchase later.
    try transaction.run(
      """
      INSERT OR IGNORE INTO credited_before (lineage, transaction_id)
      SELECT DISTINCT lineage, transaction_id FROM balance_entries
      WHERE customer = ? AND kind = 'credit' AND lineage IS NOT NULL
      """, customer)
    for table in [
      "purchases", "grants", "balances", "balance_entries", "balance_lots", "spends",
      "refund_settings", "refund_requests",
    ] {
      try transaction.run("DELETE FROM \(table) WHERE customer = ?", customer)
    }
  }

  /// Removes the rights of a customer, and of those who were merged into it.
  static func forgetRights(_ transaction: Transaction, _ customer: String) throws {
    try transaction.run(
      "DELETE FROM entitlements WHERE customer = ?1 OR customer IN "
        + "(SELECT customer FROM customers WHERE merged_into = ?1)", customer)
  }
}
