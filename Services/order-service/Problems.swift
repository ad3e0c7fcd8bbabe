import Catalog
import Events
import HTTPServer

extension Problem {
  /// - Throws: `Problem` `invalid-customer`.
  static func check(customer: String) throws(Problem) {
    do {
      try Customer.check(customer)
    } catch {
      throw invalidCustomer(error)
    }
  }

  /// A reason is kept with what was decided, for whoever asks later.
  ///
  /// - Throws: `Problem` `invalid-reason`.
  static func check(reason: String) throws(Problem) {
    guard !reason.allSatisfy(\.isWhitespace), reason.utf8.count <= 1000 else {
      throw Problem(
        status: 422, type: "invalid-reason", title: "Reason needed",
        detail: "Say in reason, in 1 to 1000 bytes, why this is done; it is kept with the decision."
      )
    }
  }

  /// 400: a member of the body cannot be used.
  static func invalidField(_ field: String, _ remedy: String) -> Problem {
    Problem(
      status: 400, type: "invalid-field", title: "Invalid field", detail: "$.\(field): \(remedy)",
      members: ["path": .string("$.\(field)")])
  }

  private static func invalidCustomer(_ fault: Customer.Fault) -> Problem {
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

  static func notForSale(_ product: String) -> Problem {
    Problem(
      status: 422, type: "not-for-sale", title: "Not for sale",
      detail:
        "'\(product)' is not sold any more (\"sold\": false in the catalog). Read the products "
        + "again; who bought it keeps it and may restore it.")
  }

  static func notForSale(_ product: String, to version: AppVersion?) -> Problem {
    let whom =
      version.map { "to version \($0) of the app" } ?? "to an app that does not say its appVersion"
    return Problem(
      status: 422, type: "not-for-sale", title: "Not for sale",
      detail: "'\(product)' is not sold \(whom): its appVersions in the catalog leave that out. "
        + "Read the products with the same appVersion, and order what they list.")
  }

  static func unknownOrder(_ id: String) -> Problem {
    Problem(
      status: 404, type: "unknown-order", title: "Unknown order",
      detail: "There is no order '\(id.prefix(100))'.")
  }

  static func orderCompleted(_ order: Order) -> Problem {
    Problem(
      status: 409, type: "order-completed", title: "The order is paid",
      detail: "Transaction \(order.transactionId ?? "") has completed it; only a refund by Apple "
        + "takes that back.",
      members: ["orderState": .string(order.state.rawValue)])
  }

  static let tooManyMoves = Problem(
    status: 429, type: "too-many-moves", title: "Too many moves",
    detail: "This order was moved \(MoveOrder.limit) times; open a new one.")

  static let idempotencyKeyReused = Problem(
    status: 422, type: "idempotency-key-reused", title: "Idempotency-Key used before",
    detail: "This Idempotency-Key was used with another body; use a new key.")

  static func tooManyProofs(ofOrder: Bool) -> Problem {
    Problem(
      status: 429, type: "too-many-proofs", title: "Too many proofs",
      detail: ofOrder
        ? "This order has \(ProofStore.limitPerOrder) proofs already; post the text to /v1/restores."
        : "This customer has restored \(ProofStore.limitPerCustomer) proofs already.")
  }

  static let customerErased = Problem(
    status: 410, type: "customer-erased", title: "The customer was erased",
    detail: "This id was erased at its owner's wish and stays so; a new account needs a new id.")

  static func customerMerged(_ merge: CustomerMerged) -> Problem {
    Problem(
      status: 409, type: "customer-merged", title: "The customer was merged",
      detail: "This id was merged into another, which is meant whenever this one is named.",
      members: ["into": .string(merge.into)])
  }

  static let mergeCycle = Problem(
    status: 409, type: "merge-cycle", title: "The two are one customer",
    detail: "The id to merge into is this customer, or was merged into it.")

  static let mergeAcrossShards = Problem(
    status: 409, type: "merge-across-shards", title: "The two are on different shards",
    detail: "What a customer has lies on one shard, and these two have different ones. Only "
      + "customers of one shard can be merged; see docs/operations.md, Shards.")

  static let tooManyMerges = Problem(
    status: 409, type: "too-many-merges", title: "Too many merges",
    detail: "\(MergeCustomers.limit) ids lead to this customer already.")

  static func tokenTaken(_ detail: String) -> Problem {
    Problem(status: 409, type: "token-taken", title: "The token cannot be used", detail: detail)
  }

  static func unknownLineage(_ text: String) -> Problem {
    Problem(
      status: 422, type: "unknown-lineage", title: "No lineage of a configured app",
      detail:
        "'\(text.prefix(200))' is not bundleId/environment/originalTransactionId of an app and "
        + "environment in purser.json.")
  }
}
