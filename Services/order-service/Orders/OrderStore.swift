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

  /// Whether a transaction is what an order other than the given one asked for, and has completed it.
  static func isOwn(
    _ rows: some StoreRows, _ transactionId: String, ofAnotherThan id: String
  ) throws -> Bool {
    try rows.exists(
      """
      SELECT 1 FROM orders WHERE transaction_id = ? AND mismatch = \(OrderMatch.own.rawValue)
        AND id <> ? LIMIT 1
      """, transactionId, id)
  }

  /// Whether a transaction has completed an order as its own, or any order of a product.
  static func isUsed(
    _ rows: some StoreRows, _ transactionId: String, forProduct productId: String
  ) throws -> Bool {
    try rows.exists(
      """
      SELECT 1 FROM orders WHERE transaction_id = ?
        AND (mismatch = \(OrderMatch.own.rawValue) OR product_id = ?) LIMIT 1
      """, transactionId, productId)
  }

  /// How well the purchase fits that completed an order.
  static func match(_ rows: some StoreRows, _ id: String) throws -> OrderMatch {
    try rows.first("SELECT mismatch FROM orders WHERE id = ?", id) { row in
      OrderMatch(rawValue: row.int(0)) ?? .own
    } ?? .own
  }

  /// Notes how well the purchase fits that completed an order.
  static func note(_ transaction: Transaction, _ match: OrderMatch, of id: String) throws {
    try transaction.run("UPDATE orders SET mismatch = ? WHERE id = ?", match.rawValue, id)
  }

  /// For which orders a purchase is wanted whose token names none.
  struct Wanted: Sendable {
    let customer: String
    let bundleId: String
    let productId: String
    /// When it was bought, UTC milliseconds.
    let boughtAt: Int64
    /// How far Apple's clock and ours may be apart, milliseconds.
    let tolerance: Int64
  }

  /// The orders that wait for a purchase, the oldest first, 20 at most.
  ///
  /// They are the open ones; if none is, those of its time that have only another order's purchase.
  static func waiting(_ rows: some StoreRows, _ wanted: Wanted) throws -> [Order] {
    let open = try rows.query(
      """
      SELECT body FROM orders INDEXED BY orders_by_customer
      WHERE customer = ? AND created_at <= ?
        AND product_id = ? AND state IN \(OrderTables.open)
      ORDER BY created_at, id LIMIT 20
      """, wanted.customer, wanted.boughtAt + wanted.tolerance, wanted.productId
    ) { row in try EventJSON.decode(Order.self, from: row.blob(0)) }
    .filter { $0.bundleId == wanted.bundleId }
    guard open.isEmpty else { return open }
    return try rows.query(
      """
      SELECT body FROM orders INDEXED BY orders_by_customer
      WHERE customer = ? AND created_at <= ? AND expires_at >= ?
        AND product_id = ? AND mismatch = \(OrderMatch.anothers.rawValue)
      ORDER BY created_at, id LIMIT 20
      """, wanted.customer, wanted.boughtAt + wanted.tolerance, wanted.boughtAt - wanted.tolerance,
      wanted.productId
    ) { row in try EventJSON.decode(Order.self, from: row.blob(0)) }
    .filter { $0.bundleId == wanted.bundleId }
  }

  /// Gives an order to another customer, before it is saved with the move that says so.
  static func give(_ transaction: Transaction, _ id: String, to customer: String) throws {
    try transaction.run("UPDATE orders SET customer = ? WHERE id = ?", customer, id)
  }

  /// Writes an order with its newest move and publishes it: a move and its event are one.
  static func save(
    _ change: Change, _ order: Order, notices: Notices
  ) throws {
    let body = try EventJSON.encode(order)
    if order.revision == 1 {
      try put(change.transaction, order, body)
    } else {
      // Only what moves: each index of a column that is named here is written again.
      try change.transaction.run(
        """
        UPDATE orders SET state = ?, expires_at = ?, transaction_id = ?, body = ? WHERE id = ?
        """, order.state.rawValue, order.expiresAt, order.transactionId, body, order.id)
    }
    try OrderMoves.insert(change.transaction, order)
    try change.publish(
      .orders, key: order.customer, type: .orderChanged, subject: order.id,
      revision: order.revision, encoded: body)
    let canExpire = OrderTables.expiringStates.contains(order.state)
    change.timersAreDue(at: canExpire ? order.expiresAt : nil)
    notices.tell(order.id, after: change)
  }

  /// Puts an order's row in the place of what was there, whatever it was: a new one, or in a rebuild.
  static func put(_ transaction: Transaction, _ order: Order, _ body: [UInt8]) throws {
    try transaction.run(
      """
      INSERT INTO orders
        (id, customer, product_id, state, created_at, expires_at, transaction_id, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET customer = excluded.customer, state = excluded.state,
        expires_at = excluded.expires_at, transaction_id = excluded.transaction_id,
        body = excluded.body
      """, order.id, order.customer, order.productId, order.state.rawValue, order.createdAt,
      order.expiresAt, order.transactionId, body)
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
