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
    let order = try await store.readers.read { try Self.order($0, id, own: own) }
    try count(order, request)
    return order
  }

  /// The order of an id.
  ///
  /// - Parameter own: The customer of the caller's token; nil for an API key.
  /// - Throws: `Problem` 404 `unknown-order`, as above.
  static func order(_ reader: Reader, _ id: String, own: String?) throws -> Order {
    guard let order = try OrderStore.order(reader, id),
      try own.map({ Customer.isSame(try CustomerStore.root(reader, $0), order.customer) }) ?? true
    else { throw Problem.unknownOrder(id) }
    return order
  }

  /// Counts a request for the order's customer; a token's was counted before.
  ///
  /// - Throws: `Problem` where that are too many.
  static func count(_ order: Order, _ request: Request) throws(Problem) {
    if request.principal?.customer == nil { try request.admit(customer: order.customer) }
  }
}
