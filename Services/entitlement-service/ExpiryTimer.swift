import Events
import Pipeline
import SQLite

/// Recomputes customers whose rights or balances change because time passed.
struct ExpiryTimer: TimerJob {
  let name = "expiry"
  let inputs: Set<Topic> = [.transactions, .customers]
  let recompute: Recompute

  func nextDue(_ reader: Reader) throws -> Int64? {
    try reader.first(
      "SELECT due_at FROM customers WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1"
    ) { $0.int(0) }
  }

  func fire(_ change: Change, dueBy: Int64, limit: Int) throws -> Int {
    let customers = try change.transaction.query(
      "SELECT customer FROM customers WHERE due_at <= ? ORDER BY due_at LIMIT ?", dueBy,
      Int64(limit)
    ) { $0.text(0) }
    for customer in customers {
      try recompute.run(
        try CustomerRow.exactly(change.transaction, customer), ChangeCause(kind: "expiry"),
        at: dueBy, change)
    }
    return customers.count
  }
}
