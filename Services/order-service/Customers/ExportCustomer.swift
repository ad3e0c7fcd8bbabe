import Catalog
import Events
import HTTPServer
import Pipeline
import SQLite

/// `GET /v1/customers/{customer}/export`: everything that order-service keeps of one customer.
///
/// Purchases, rights and balances are entitlement-service's to tell, which has an export of its own.
struct ExportCustomer: Sendable {
  /// No list of an export is longer; what is cut is named in `truncated`.
  static let limit = 10_000

  let store: Store
  let shop: Shop

  func add(to router: inout Router) {
    router.on(.get, "/v1/customers/{customer}/export", scope: .admin) { request in
      let id = request.parameter("customer")
      try Problem.check(customer: id)
      let bundleIds = shop.apps.all.map(\.bundleId)
      return .json(
        try await store.readers.read { reader in
          try Self.export(id, bundleIds: bundleIds, limit: Self.limit, reader)
        })
    }
  }

  struct Export: Encodable, Sendable {
    let customer: String
    /// The merges that made other ids this customer's, with author, reason and time.
    var merges: [CustomerMerged] = []
    var accountTokens: [AccountTokens.Token] = []
    var orders: [Entry] = []
    var proofs: [Proof] = []
    var restores: [Restore] = []
    var transfers: [LineageTransferred] = []
    /// By which is told which offers the customer may have.
    var subscriptions: [Subscription] = []
    /// The lists that were longer than `limit`.
    var truncated: [String] = []

    /// An order and every move that it made.
    struct Entry: Encodable, Sendable {
      let order: OrderAnswer
      let moves: [OrderMove]
    }

    /// A proof that was posted: the text itself went to verify-service and is not kept.
    struct Proof: Encodable, Sendable {
      let id: String
      let orderId: String?
      let submittedAt: Int64
      let outcome: ProofOutcome?
    }

    struct Subscription: Encodable, Sendable {
      let lineage: String
      let groupId: String
      let hadIntroductory: Bool
      let endsAt: Int64
    }
  }

  /// - Throws: `Problem` 410 for a customer who was erased.
  static func export(_ id: String, bundleIds: [String], limit: Int, _ rows: some StoreRows) throws
    -> Export
  {
    let customer = try CustomerStore.present(rows, id)
    let most = Int64(limit + 1)
    var export = Export(customer: customer)
    func cut<Element>(_ elements: [Element], _ name: String) -> [Element] {
      if elements.count > limit { export.truncated.append(name) }
      return Array(elements.prefix(limit))
    }
    export.merges = cut(
      try CustomerStore.merges(into: customer, rows, limit: most), "merges")
    export.accountTokens = try bundleIds.flatMap {
      try AccountTokens.all(rows, customer: customer, bundleId: $0)
    }
    let orders = cut(
      try rows.query(
        "SELECT body FROM orders WHERE customer = ? ORDER BY created_at, id LIMIT ?", customer, most
      ) { row in try EventJSON.decode(Order.self, from: row.blob(0)) }, "orders")
    export.orders = try orders.map { order in
      Export.Entry(
        order: OrderAnswer(order), moves: try OrderMoves.after(0, of: order.id, rows))
    }
    export.proofs = cut(
      try rows.query(
        """
        SELECT id, order_id, submitted_at, outcome FROM proofs
        WHERE customer = ?1 OR order_id IN (SELECT id FROM orders WHERE customer = ?1)
        ORDER BY submitted_at, id LIMIT ?2
        """, customer, most
      ) { row in
        Export.Proof(
          id: row.text(0), orderId: row.optionalText(1), submittedAt: row.int(2),
          outcome: try row.optionalBlob(3).map {
            try EventJSON.decode(ProofOutcome.self, from: $0)
          })
      }, "proofs")
    export.restores = cut(
      try rows.query(
        "SELECT body FROM restores WHERE customer = ? ORDER BY id LIMIT ?", customer, most
      ) { row in try EventJSON.decode(Restore.self, from: row.blob(0)) }, "restores")
    export.transfers = cut(try TransferLineage.all(rows, customer, limit: most), "transfers")
    export.subscriptions = cut(
      try rows.query(
        """
        SELECT lineage, group_id, had_introductory, ends_at FROM subscriptions_seen
        WHERE customer = ? ORDER BY lineage LIMIT ?
        """, customer, most
      ) { row in
        Export.Subscription(
          lineage: row.text(0), groupId: row.text(1), hadIntroductory: row.bool(2),
          endsAt: row.int(3))
      }, "subscriptions")
    return export
  }
}
