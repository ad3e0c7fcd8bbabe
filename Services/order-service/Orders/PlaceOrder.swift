import Catalog
import Cryptography
import Events
import HTTPServer
import JSON
import Pipeline
import ServiceRuntime

/// Opens an order: the order, whose token it is, and both events are committed together.
struct PlaceOrder: Sendable {
  /// What the app asks for.
  struct Input: Sendable {
    let customer: String
    let productId: String
    let bundleId: String?
    /// The app's version: what it may sell may hang on it.
    let appVersion: String?
    let quantity: Int64?

    init(_ body: JSONFields) throws(JSONFieldFault) {
      customer = try body.text("customer")
      productId = try body.text("productId")
      bundleId = try body.optionalText("bundleId")
      appVersion = try body.optionalText("appVersion")
      quantity = try body.optionalNumber("quantity")
    }
  }

  let store: Store
  let shop: Shop
  let notices: Notices
  private let placed: Counter
  private let repeated: Counter

  init(store: Store, shop: Shop, notices: Notices, metrics: Metrics) {
    self.store = store
    self.shop = shop
    self.notices = notices
    placed = metrics.counter("orders_placed_total", "Orders that were opened.")
    repeated = metrics.counter(
      "orders_repeated_total", "Requests that were answered with the order of their key.")
  }

  /// Opens an order, or finds the one that the same key opened.
  ///
  /// - Throws: `Problem` for input that cannot be an order.
  func run(
    _ input: Input, principal: String, idempotencyKey: String?
  ) async throws -> Order {
    try Problem.check(customer: input.customer)
    let app = try shop.app(input.bundleId)
    let product = try shop.product(input.productId, of: app)
    let version = try input.appVersion.map { text throws(Problem) -> AppVersion in
      guard let version = AppVersion(text) else {
        throw .invalidField("appVersion", "Give the app's version, such as 2.10.")
      }
      return version
    }
    let refusal: Problem? =
      !product.isSold
      ? .notForSale(product.id)
      : product.appVersions.contains(version) ? nil : .notForSale(product.id, to: version)
    // A repeated request is answered with its order, though the product may be sold no more.
    if let refusal, idempotencyKey == nil { throw refusal }
    let quantity = input.quantity ?? 1
    guard (1...10).contains(quantity), quantity == 1 || product.kind == .consumable else {
      throw Problem(
        status: 422, type: "invalid-quantity", title: "Invalid quantity",
        detail: "quantity is \(quantity); it is 1, or 1 to 10 for a consumable (StoreKit's limit).")
    }
    let lifetime = shop.lifetime(of: app.bundleId)
    let hash = SHA256.hex("\(input.customer)\n\(app.bundleId)\n\(product.id)\n\(quantity)")
    let notices = notices

    let (order, isRepeated) = try await store.change { change -> (Order, Bool) in
      if let key = idempotencyKey,
        let use = try IdempotencyKeys.use(change.transaction, principal: principal, key: key)
      {
        guard use.requestHash == hash,
          let order = try OrderStore.order(change.transaction, use.madeId)
        else { throw Problem.idempotencyKeyReused }
        return (order, true)
      }
      if let refusal { throw refusal }
      let customer = try CustomerStore.present(change.transaction, input.customer)
      let id = IDPartition.uuid(
        of: change.shard.partition(of: customer), partitions: change.shard.partitions)
      let order = Order(
        id: id, revision: 1, customer: customer, bundleId: app.bundleId, productId: product.id,
        quantity: quantity, state: .created, mismatched: false, createdAt: change.now,
        updatedAt: change.now, expiresAt: change.now + lifetime, cause: "placed")
      // Whose token it is goes first, so that the ledger mostly knows it before the purchase.
      try change.publish(
        .customers, key: customer, type: .tokenIssued, subject: id, revision: 1,
        TokenIssued(
          token: id, customer: customer, bundleId: app.bundleId, orderId: id,
          issuedAt: change.now))
      try OrderStore.save(change, order, notices: notices)
      if let key = idempotencyKey {
        try IdempotencyKeys.insert(
          change.transaction, principal: principal, key: key,
          IdempotencyKeys.Use(requestHash: hash, madeId: id), at: change.now)
      }
      return (order, false)
    }
    (isRepeated ? repeated : placed).add()
    return order
  }
}
