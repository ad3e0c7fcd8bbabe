import Catalog
import Cryptography
import HTTPServer
import ServiceRuntime

/// `GET /v1/products`: what an app sells.
struct ProductRoutes: Sendable {
  let shop: Shop

  func add(to router: inout Router) {
    router.on(.get, "/v1/products", scope: .orders, tokens: .noCustomer) { request in
      let app = try shop.app(request.queryValue("bundleId"))
      let products = shop.catalogs[app.bundleId]?.value.orderedProducts ?? []
      let response = Response.json(
        ProductList(bundleId: app.bundleId, products: products.map(ProductAnswer.init)))
      return response.tagged(SHA256.hex(response.body), for: request)
    }
  }
}

private struct ProductList: Encodable {
  let bundleId: String
  let products: [ProductAnswer]
}

/// A product as the app sees it.
private struct ProductAnswer: Encodable {
  let id: String
  /// Apple's word for the kind of product.
  let type: String
  let displayPrice: String
  let subscriptionGroup: String?
  let period: String?
  let entitlements: [String]
  let credits: [String: Int64]

  init(_ product: Product) {
    id = product.id
    type = product.kind.appStoreType
    displayPrice = product.displayPrice
    subscriptionGroup = product.subscription?.groupID
    period = (product.subscription?.period ?? product.length)?.description
    entitlements = product.entitlements
    credits = Dictionary(
      product.credits.map { ($0.unit, $0.amount) }, uniquingKeysWith: { first, _ in first })
  }
}
