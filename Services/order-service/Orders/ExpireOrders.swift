import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Expires open orders whose time ran out, and forgets old idempotency keys.
///
/// An order whose proof waits for its outcome does not expire: its customer has paid, as far as is known. An
/// expired order is still completed by a valid proof.
struct ExpireOrders: TimerJob {
  let name = "expire-orders"
  let inputs: Set<Topic> = [.transactions]
  let notices: Notices

  /// Asked after every move of an order: left alone, SQLite would sort all open ones by another index.
  func nextDue(_ reader: Reader) throws -> Int64? {
    try reader.first(
      """
      SELECT expires_at FROM orders INDEXED BY orders_by_expiry WHERE state IN \(OrderTables.expiring)
      ORDER BY expires_at LIMIT 1
      """
    ) { $0.int(0) }
  }

  func fire(_ change: Change, dueBy: Int64, limit: Int) throws -> Int {
    let orders = try change.transaction.query(
      """
      SELECT body FROM orders INDEXED BY orders_by_expiry
      WHERE state IN \(OrderTables.expiring) AND expires_at <= ?
      ORDER BY expires_at LIMIT ?
      """, dueBy, Int64(limit)
    ) { row in try EventJSON.decode(Order.self, from: row.blob(0)) }
    for var order in orders {
      order.move(to: .expired, cause: "time-ran-out", at: change.now)
      try OrderStore.save(change, order, notices: notices)
    }
    try IdempotencyKeys.removeOld(change.transaction, at: change.now, limit: limit)
    return orders.count
  }
}
