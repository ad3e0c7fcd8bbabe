import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Forgets a customer: what is left is the version, which never restarts, under a hash of the id.
struct EraseCustomer: Sendable {
  let recompute: Recompute
  private let erasures: Counter

  init(recompute: Recompute, metrics: Metrics) {
    self.recompute = recompute
    erasures = metrics.counter("customer_erasures_total", "Customers that were erased.")
  }

  /// Erases once for each erasure: a second telling changes nothing.
  ///
  /// Those who were merged into the customer end with it: their own erasures come by other partitions.
  func apply(_ event: CustomerErased, _ change: Change) throws {
    let row = try CustomerRow.exactly(change.transaction, event.customer)
    guard row.erasedAt.map({ $0 < event.decidedAt }) ?? true else { return }
    for alias in try Self.aliases(change.transaction, row.customer) {
      try erase(try CustomerRow.exactly(change.transaction, alias), event, change)
    }
    try erase(row, event, change)
  }

  private func erase(_ row: CustomerRow, _ event: CustomerErased, _ change: Change) throws {
    let transaction = change.transaction
    var row = row
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
    row.mergedInto = nil
    row.dueAt = nil
    try row.save(
      change, version: row.version, evaluatedAt: row.evaluatedAt ?? 0, dueAt: nil)
    try recompute.run(
      row, ChangeCause(kind: "erasure", author: event.author, reason: event.reason), [.erased],
      at: event.decidedAt, change)
    // What the last events were told from goes too, and the story with its end.
    try transaction.run("DELETE FROM timeline WHERE customer = ?", customer)
    try transaction.run("DELETE FROM entitlements WHERE customer = ?", customer)
    // A catalog that is on its way through all customers may stand here.
    try transaction.run(
      """
      UPDATE sweeps SET cursor =
        coalesce((SELECT max(customer) FROM customers WHERE customer < ?1), '')
      WHERE cursor = ?1
      """, customer)
    try WebhookQueue.forget(change, customer)
    try change.forgetInAudit(customer)
    try change.forgetWaiting(of: customer)
    for lineage in brought { try settleWaiting(lineage, event, change) }
  }

  /// Those who were merged into a customer.
  static func aliases(_ transaction: Transaction, _ customer: String) throws -> [String] {
    try transaction.query(
      "SELECT customer FROM customers WHERE merged_into = ? ORDER BY customer", customer
    ) { $0.text(0) }
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
}
