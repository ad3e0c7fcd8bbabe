import Events
import SQLite

/// One move of an order: where it went, when, and why.
struct OrderMove: Codable, Sendable, Equatable {
  /// The order's revision after it.
  let revision: Int64
  let state: OrderState
  /// What moved it, such as `placed` or `proof-outcome`.
  let cause: String
  let movedAt: Int64
  /// Apple's transaction, once there is one.
  let transactionId: String?
  /// Why the last proof was refused.
  let rejection: String?
  let mismatched: Bool
}

/// The moves of orders; as many as an order has revisions.
enum OrderMoves {
  static func insert(_ transaction: Transaction, _ order: Order) throws {
    try transaction.run(
      """
      INSERT INTO order_moves
        (order_id, revision, state, cause, moved_at, transaction_id, rejection, mismatched)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, order.id, order.revision, order.state.rawValue, order.cause, order.updatedAt,
      order.transactionId, order.rejection, order.mismatched)
  }

  /// The moves after a revision, oldest first.
  static func after(_ revision: Int64, of id: String, _ rows: some StoreRows) throws
    -> [OrderMove]
  {
    try rows.query(
      """
      SELECT revision, state, cause, moved_at, transaction_id, rejection, mismatched
      FROM order_moves WHERE order_id = ? AND revision > ? ORDER BY revision
      """, id, revision
    ) { row in
      OrderMove(
        revision: row.int(0), state: OrderState(rawValue: row.text(1)), cause: row.text(2),
        movedAt: row.int(3), transactionId: row.optionalText(4), rejection: row.optionalText(5),
        mismatched: row.bool(6))
    }
  }
}
