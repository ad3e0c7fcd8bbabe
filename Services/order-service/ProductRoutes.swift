import HTTPServer

/// `GET /v1/products` and `/v1/offerings`: what an app may sell, and how its paywalls group it.
struct ProductRoutes: Sendable {
  let window: ShopWindow

  init(shop: Shop) { window = ShopWindow(shop: shop) }

  func add(to router: inout Router) {
    router.on(.get, "/v1/products", scope: .orders, tokens: .noCustomer) { request in
      answer(window.products(try window.view(request)), request)
    }
    router.on(.get, "/v1/offerings", scope: .orders, tokens: .noCustomer) { request in
      answer(window.offerings(try window.view(request)), request)
    }
  }

  private func answer(_ sheet: ShopWindow.Sheet, _ request: Request) -> Response {
    var response = Response.json(bytes: sheet.body)
      .with("Vary", "Accept-Language").with("Cache-Control", "private, no-cache")
    if let language = sheet.language {
      response = response.with(
        "Content-Language", String(language.map { $0 == "_" ? "-" : $0 }))
    }
    return response.tagged(sheet.tag, for: request)
  }
}
