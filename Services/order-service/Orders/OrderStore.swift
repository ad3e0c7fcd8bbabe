import Events
import Pipeline
import SQLite

/// The orders, and every move that they made.
enum OrderStore {
  static func order(_ rows: some StoreRows, _ id: String) throws -> Order? {
    try rows.first("SELECT body FROM orders WHERE id = ?", id) { row in
      try EventJSON.decode(Order.self, from: row.blob(0))
    }
  }

  /// Whether a transaction has completed an order other than the given one.
  static func hasCompletedAnother(
    _ rows: some StoreRows, _ transactionId: String, than id: String
  ) throws -> Bool {
    try rows.exists(
      "SELECT 1 FROM orders WHERE transaction_id = ? AND id <> ? LIMIT 1", transactionId, id)
  }

  /// A customer's orders for a product that wait for their purchase and were opened by a time, the
  /// oldest first; 20 at most.
  static func open(
    _ rows: some StoreRows, customer: String, bundleId: String, productId: String,
    openedBy time: Int64
  ) throws -> [Order] {
    try rows.query(
      """
      SELECT body FROM orders INDEXED BY orders_by_customer
      WHERE customer = ? AND created_at <= ?
        AND product_id = ? AND state IN \(OrderTables.open)
      ORDER BY created_at, id LIMIT 20
      """, customer, time, productId
    ) { row in try EventJSON.decode(Order.self, from: row.blob(0)) }
    .filter { $0.bundleId == bundleId }
  }

  /// Writes an order with its newest move and publishes it: a move and its event are one.
  static func save(
    _ change: Change, _ order: Order, notices: Notices, traceparent: String? = nil
  ) throws {
    let body = try EventJSON.encode(order)
    try change.transaction.run(
      """
      INSERT INTO orders
        (id, customer, product_id, state, created_at, expires_at, transaction_id, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET customer = excluded.customer, state = excluded.state,
        expires_at = excluded.expires_at, transaction_id = excluded.transaction_id,
        body = excluded.body
      """, order.id, order.customer, order.productId, order.state.rawValue, order.createdAt,
      order.expiresAt, order.transactionId, body)
    try OrderMoves.insert(change.transaction, order)
    try change.publish(
      .orders, key: order.customer, type: .orderChanged, subject: order.id,
      revision: order.revision, encoded: body, traceparent: traceparent)
    change.rescheduleTimers()
    notices.tell(order.id, after: change)
  }
}

extension Order {
  /// Moves the order: the next revision, a state, a time and a cause.
  mutating func move(to state: OrderState, cause: String, at now: Int64) {
    self.state = state
    self.cause = cause
    updatedAt = now
    revision += 1
  }

  /// The entity tag: the revision says it all.
  var tag: String { "\(revision)" }
}
