import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Puts two customers together: all that the first has belongs to the second from now on.
///
/// Purchases come through lineage states too, before or after this; the newest revision counts, and
/// what each purchase brought moves with the ledger, so that nothing is credited twice.
struct MergeCustomer: Sendable {
  let recompute: Recompute
  private let merges: Counter

  init(recompute: Recompute, metrics: Metrics) {
    self.recompute = recompute
    merges = metrics.counter("customer_merges_total", "Customers that ended in another.")
  }

  /// Merges once: a second telling changes nothing.
  func apply(_ event: CustomerMerged, _ change: Change) throws {
    let transaction = change.transaction
    let old = try CustomerRow.exactly(transaction, event.customer)
    let new = try CustomerRow.load(transaction, event.into)
    // A circle is impossible by order-service's word; it must not eat a customer all the same.
    guard old.mergedInto == nil, !Customer.isSame(old.customer, new.customer) else { return }
    // The one who stayed was erased after the merge, and that was read first: the erasure of the one
    // who ended stands behind this, and nothing may come back until then.
    guard old.erasedAt == nil, new.erasedAt == nil else { return }
    change.count(merges)
    let cause = ChangeCause(kind: "merge", author: event.author, reason: event.reason)

    try movePurchases(transaction, from: old.customer, to: new.customer)
    let moved = try Self.moveBalances(transaction, from: old.customer, to: new.customer)
    try Self.moveRest(transaction, from: old.customer, to: new.customer)

    // The row of the old one is written even if nothing was ever known of it: it is an alias then.
    try old.save(
      change, version: old.version, evaluatedAt: old.evaluatedAt ?? 0, dueAt: nil)
    try recompute.run(
      old, cause,
      moved.map { News.moved(Self.zero($0.balance), delta: -$0.delta) }
        + [.merged(into: new.customer)], at: event.decidedAt, change)
    try Self.lead(transaction, old.customer, to: new.customer)

    let credits = CreditPurchases(rules: recompute.rules.current)
    let credited = try Purchases.unsettled(transaction, new.customer).flatMap {
      try credits.settleWaiting(of: new.customer, $0, change)
    }
    try recompute.run(
      new, cause,
      moved.map { News.moved($0.balance, delta: $0.delta) } + credited.map(News.entry),
      at: event.decidedAt, change)
    let waiters = recompute.waiters
    transaction.afterCommit { waiters.notify(event.customer) }
  }

  /// Notes where a customer, and those who were merged into it, ended.
  static func lead(_ transaction: Transaction, _ old: String, to new: String) throws {
    try transaction.run(
      "UPDATE customers SET merged_into = ? WHERE customer = ? OR merged_into = ?", new, old, old)
  }

  private static func zero(_ balance: Balance) -> Balance {
    Balance(unit: balance.unit, environment: balance.environment, amount: 0)
  }

  /// Of a lineage that both know the newer revision stays; at one revision the one who has it.
  private func movePurchases(_ transaction: Transaction, from old: String, to new: String) throws {
    try transaction.run(
      """
      DELETE FROM purchases AS mine WHERE customer = ?1 AND EXISTS (
        SELECT 1 FROM purchases AS theirs WHERE theirs.customer = ?2
          AND theirs.lineage = mine.lineage
          AND (theirs.revision > mine.revision
            OR (theirs.revision = mine.revision AND theirs.is_held >= mine.is_held)))
      """, old, new)
    try transaction.run(
      """
      DELETE FROM purchases AS theirs WHERE customer = ?2 AND EXISTS (
        SELECT 1 FROM purchases AS mine WHERE mine.customer = ?1
          AND mine.lineage = theirs.lineage)
      """, old, new)
    try transaction.run(
      "UPDATE purchases SET customer = ?2 WHERE customer = ?1", old, new)
  }

  /// Moves the ledger; gives the balances that changed, as they are at the new customer.
  @discardableResult
  static func moveBalances(_ transaction: Transaction, from old: String, to new: String) throws
    -> [(balance: Balance, delta: Int64)]
  {
    let balances = try BalanceBook.all(transaction, old)
    try transaction.run(
      "UPDATE balance_entries SET customer = ?2 WHERE customer = ?1", old, new)
    try transaction.run("UPDATE balance_lots SET customer = ?2 WHERE customer = ?1", old, new)
    try transaction.run("DELETE FROM balances WHERE customer = ?", old)
    return try balances.compactMap { balance in
      let account = Account(
        customer: new, environment: balance.environment, unit: balance.unit)
      let (sum, overflow) = try BalanceBook.amount(transaction, account)
        .addingReportingOverflow(balance.amount)
      guard !overflow else { throw BalanceOverflow(account: account) }
      try transaction.run(
        """
        INSERT INTO balances (customer, environment, unit, amount) VALUES (?, ?, ?, ?)
        ON CONFLICT (customer, environment, unit) DO UPDATE SET amount = excluded.amount
        """, new, balance.environment, balance.unit, sum)
      try Lots.trim(transaction, account, balance: sum)
      guard balance.amount != 0 else { return nil }
      return (
        Balance(unit: balance.unit, environment: balance.environment, amount: sum),
        balance.amount
      )
    }
  }

  /// Grants, spends, and what hangs on refunds.
  static func moveRest(_ transaction: Transaction, from old: String, to new: String) throws {
    for table in ["grants", "spends"] {
      try transaction.run("UPDATE \(table) SET customer = ?2 WHERE customer = ?1", old, new)
    }
    // Consent is personal: the one that the remaining customer gave counts.
    for table in ["refund_settings", "refund_requests"] {
      try transaction.run(
        "UPDATE OR IGNORE \(table) SET customer = ?2 WHERE customer = ?1", old, new)
      try transaction.run("DELETE FROM \(table) WHERE customer = ?", old)
    }
  }
}
