import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite

/// Which customers a caller may reach: all with an API key, its own with a customer's token.
enum Reach {
  /// - Throws: `Problem` 403 `other-customer`.
  static func check(_ request: Request, customer: String) throws(Problem) {
    guard let own = request.principal?.customer, !Customer.isSame(own, customer) else { return }
    throw Problem(
      status: 403, type: "other-customer", title: "Another customer",
      detail: "This token speaks for one customer, and the request is about another.")
  }

  /// Refuses a customer's own token where only the team's keys may act.
  ///
  /// - Throws: `Problem` 403 `key-only`.
  static func requireKey(_ request: Request) throws(Problem) {
    guard request.principal?.customer != nil else { return }
    throw Problem(
      status: 403, type: "key-only", title: "Not with a customer's token",
      detail: "Only an API key of the team may do this, never a customer's own token.")
  }

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
    return order
  }
}
