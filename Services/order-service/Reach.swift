import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite

/// The orders that a caller may reach: all with an API key, the customer's own with its token.
enum Reach {
  /// The id in the path; Swift's `UUID` writes it in upper case, Purser in lower.
  static func orderId(_ request: Request) -> String {
    let id = request.parameter("id")
    return UUIDs.normalized(id) ?? id
  }

  /// The order in the path.
  ///
  /// - Throws: `Problem` 404 `unknown-order`, also for another customer's: nobody learns that it is
  ///   there.
  static func order(_ request: Request, _ store: Store) async throws -> Order {
    let (id, own) = (orderId(request), request.principal?.customer)
    let order = try await store.readers.read { reader -> Order? in
      guard let order = try OrderStore.order(reader, id) else { return nil }
      guard let own else { return order }
      return Customer.isSame(try CustomerStore.root(reader, own), order.customer) ? order : nil
    }
    guard let order else { throw Problem.unknownOrder(id) }
    // A token's customer was counted before.
    if own == nil { try request.admit(customer: order.customer) }
    return order
  }
}
