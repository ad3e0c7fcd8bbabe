import Events
import HTTPServer
import Pipeline
import ServiceRuntime
import SQLite

/// Moves that the app or its backend asks for: cancel, and waiting for a parent's approval.
struct MoveOrder: Sendable {
  /// What is asked for; asked twice it is done once.
  enum Wish: String, Sendable {
    /// The customer gave up: StoreKit said `userCancelled`.
    case cancel
    /// StoreKit said `pending` (Ask to Buy, or the bank asks): there is no transaction yet.
    case pending
  }

  /// An order that was moved more often than this is moved by purchases only.
  static let limit: Int64 = 200

  let store: Store
  let shop: Shop
  let notices: Notices

  /// - Throws: `Problem` for an unknown order, and 409 for one that is paid.
  func run(_ wish: Wish, _ id: String) async throws -> Order {
    let known = try await store.readers.read { try OrderStore.order($0, id) }
    guard let known else { throw Problem.unknownOrder(id) }
    let lifetime = shop.lifetime(of: known.bundleId)
    let notices = notices
    return try await store.change { change in
      guard var order = try OrderStore.order(change.transaction, id) else {
        throw Problem.unknownOrder(id)
      }
      guard try Self.apply(wish, to: &order, lifetime: lifetime, at: change.now) else {
        return order
      }
      try OrderStore.save(change, order, notices: notices)
      return order
    }
  }

  /// Changes the order; false when it stands where it was wished already.
  static func apply(_ wish: Wish, to order: inout Order, lifetime: Int64, at now: Int64)
    throws(Problem) -> Bool
  {
    guard order.state != .completed else { throw Problem.orderCompleted(order) }
    switch (wish, order.state) {
    case (.cancel, .cancelled), (.pending, .pending):
      return false
    case (.pending, .submitted):
      // A transaction is on its way already, and says more than a question to a parent.
      return false
    default:
      guard order.revision < limit else { throw Problem.tooManyMoves }
    }
    switch wish {
    case .cancel:
      order.move(to: .cancelled, cause: "cancelled", at: now)
    case .pending:
      // The parent has a whole lifetime again.
      order.expiresAt = max(order.expiresAt, now + lifetime)
      order.move(to: .pending, cause: "waits-for-approval", at: now)
    }
    return true
  }
}
