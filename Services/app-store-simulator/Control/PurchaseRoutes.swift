import AppStore
import Catalog
import HTTPServer

/// What can be bought, and buying it.
struct PurchaseRoutes: Sendable {
  let simulator: Simulator

  func add(to router: inout Router) {
    router.on(.get, "/control/products", scope: nil) { _ in
      .json(try simulator.read { ProductList($0) })
    }
    router.on(.post, "/control/purchases", scope: nil) { request in
      let body: PurchaseBody = try request.json()
      return try await ControlProblems.translating {
        let outcome = try simulator.perform(notifies: body.notify ?? true) {
          ledger, now in try ledger.buy(body.order, at: now)
        }
        let answer = try CommandAnswer(
          outcome, signer: simulator.signer, at: simulator.clock.now())
        return .json(answer, status: 201)
      }
    }
    router.on(.post, "/control/purchases/bulk", scope: nil) { request in
      let order = try BulkPurchase(try request.json())
      let lines = try await ControlProblems.translating { try await order.run(simulator) }
      return .text(lines, contentType: "application/jsonl")
    }
  }
}

/// `GET /control/products`.
private struct ProductList: Encodable {
  struct Entry: Encodable {
    let productId: String
    let type: String
    let price: Int64
    let subscriptionGroupIdentifier: String?
    let level: Int?
    let period: String?
    let introductoryOffer: String?
  }

  let bundleId: String
  let environment: String
  let currency: String
  let products: [Entry]

  init(_ ledger: Ledger) {
    bundleId = ledger.seller.bundleId
    environment = ledger.seller.environment.rawValue
    currency = ledger.seller.storefront.currency
    products = ledger.catalog.orderedProducts.map { product in
      let subscription = product.subscription
      return Entry(
        productId: product.id, type: product.kind.appStoreType, price: product.priceMilliunits,
        subscriptionGroupIdentifier: subscription?.groupID, level: subscription?.level,
        period: subscription?.period.description,
        introductoryOffer: subscription?.introductoryOffers.first.map {
          "\($0.paymentMode.appStoreDiscountType) \($0.period)"
        })
    }
  }
}
