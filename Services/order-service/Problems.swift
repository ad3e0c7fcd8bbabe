import Events
import HTTPServer

extension Problem {
  static func invalidCustomer(_ fault: Customer.Fault) -> Problem {
    let detail =
      switch fault {
      case .empty: "customer is empty; give the app's own user id."
      case .tooLong: "customer is longer than \(Customer.maximumBytes) bytes."
      case .controlCharacter: "customer contains a control character."
      case .dotSegment: "customer is '.' or '..', which cannot stand in the path of a URL."
      case .reserved: "customer begins with '$'; such ids are Purser's own."
      }
    return Problem(
      status: 422, type: "invalid-customer", title: "Invalid customer id", detail: detail)
  }

  static func unknownOrder(_ id: String) -> Problem {
    Problem(
      status: 404, type: "unknown-order", title: "Unknown order",
      detail: "There is no order '\(id.prefix(100))'.")
  }

  static let idempotencyKeyReused = Problem(
    status: 422, type: "idempotency-key-reused", title: "Idempotency-Key used before",
    detail: "This Idempotency-Key opened an order with another body; use a new key.")

  static let tooManyProofs = Problem(
    status: 429, type: "too-many-proofs", title: "Too many proofs",
    detail: "This order has \(ProofStore.limitPerOrder) proofs already; open a new order.")
}
