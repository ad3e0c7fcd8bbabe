import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Computes all customers anew after the catalog or a policy has changed, so that it holds for earlier
/// buyers too; a few customers at a time, and where it stood when the process ended.
struct ReevaluateCustomers: TimerJob {
  let name = "catalog"
  let inputs: Set<Topic> = []
  let recompute: Recompute
  private let evaluated: Counter

  /// How many customers one writer job takes: reads and other writes come between.
  static let batch = 100

  init(recompute: Recompute, metrics: Metrics) {
    self.recompute = recompute
    evaluated = metrics.counter(
      "catalog_reevaluated_total", "Customers that were computed anew after a change of catalog.")
  }

  /// Notes in a store without customers that its catalog holds for all of them.
  static func begin(_ change: Change, hash: String) throws {
    try change.transaction.run(
      """
      INSERT INTO sweeps (id, applied, wanted, cursor)
      SELECT 1, ?1, ?1, '' WHERE NOT EXISTS (SELECT 1 FROM customers)
        AND NOT EXISTS (SELECT 1 FROM sweeps)
      """, hash)
  }

  func nextDue(_ reader: Reader) throws -> Int64? {
    let applied = try reader.first("SELECT applied FROM sweeps WHERE id = 1") { $0.optionalText(0) }
    return applied == recompute.rules.hash ? nil : 0
  }

  func fire(_ change: Change, dueBy: Int64, limit: Int) throws -> Int {
    let transaction = change.transaction
    let hash = recompute.rules.hash
    let sweep = try transaction.first(
      "SELECT applied, wanted, cursor FROM sweeps WHERE id = 1"
    ) { row in
      (applied: row.optionalText(0), wanted: row.optionalText(1), cursor: row.text(2))
    }
    guard sweep?.applied != hash else { return 0 }
    // A catalog that changed again begins again.
    let cursor = sweep?.wanted == hash ? sweep?.cursor ?? "" : ""
    let customers = try transaction.query(
      "SELECT customer FROM customers WHERE customer > ? ORDER BY customer LIMIT ?", cursor,
      Int64(min(limit, Self.batch))
    ) { $0.text(0) }
    for customer in customers { try reevaluate(customer, change) }
    let isDone = customers.count < min(limit, Self.batch)
    try transaction.run(
      """
      INSERT INTO sweeps (id, applied, wanted, cursor) VALUES (1, ?1, ?2, ?3)
      ON CONFLICT (id) DO UPDATE SET applied = ?1, wanted = ?2, cursor = ?3
      """, isDone ? hash : sweep?.applied, hash, isDone ? "" : customers.last ?? "")
    change.count(evaluated, customers.count)
    return max(1, customers.count)
  }

  /// Time stays where it is for the customer: whatever ran out meanwhile is the timer's to say.
  private func reevaluate(_ customer: String, _ change: Change) throws {
    let row = try CustomerRow.exactly(change.transaction, customer)
    guard row.mergedInto == nil else { return }
    let credits = CreditPurchases(rules: recompute.rules.current)
    let entries = try Purchases.unsettled(change.transaction, customer).flatMap {
      try credits.settleWaiting(of: customer, $0, change)
    }
    try recompute.run(row, ChangeCause(kind: "catalog"), entries.map(News.entry), change)
  }
}
