import Catalog
import Cryptography
import HTTPServer
import ServiceRuntime

/// What an app is shown: asked for by version, storefront and language, and remembered as written.
struct ShopWindow: Sendable {
  /// What the answer hangs on.
  struct View: Sendable, Hashable {
    let bundleId: String
    let version: AppVersion?
    let storefront: String?
    let languages: [String]
    let placement: String?
  }

  /// An answer as it is sent.
  struct Sheet: Sendable {
    let body: [UInt8]
    let tag: String
    let language: String?
  }

  private struct Key: Sendable, Hashable {
    let kind: String
    let generation: Int
    let view: View
  }

  private let shop: Shop
  /// Few views are asked for again and again; a sheet of a large catalog is some 100 KiB.
  private let sheets = RecentMemory<Key, Sheet>(limit: 64)

  init(shop: Shop) { self.shop = shop }

  /// What a request asks to see.
  ///
  /// - Throws: `Problem` `invalid-parameter`, `unknown-app` or `missing-app`.
  func view(_ request: Request) throws(Problem) -> View {
    let app = try shop.app(request.queryValue("bundleId"))
    var version: AppVersion?
    if let text = request.queryValue("appVersion") {
      guard let read = AppVersion(text) else {
        throw .invalidParameter("appVersion", "give the app's version, such as 2.10.")
      }
      version = read
    }
    let storefront = request.queryValue("storefront")
    if let storefront {
      guard storefront.utf8.count == 3,
        storefront.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
      else {
        throw .invalidParameter("storefront", "give three capital letters, such as DEU.")
      }
    }
    let placement = request.queryValue("placement")
    if let placement, placement.utf8.count > 64 {
      throw .invalidParameter("placement", "give a placement of the catalog, at most 64 bytes.")
    }
    return View(
      bundleId: app.bundleId, version: version, storefront: storefront,
      languages: Array(request.acceptedLanguages.prefix(5)), placement: placement)
  }

  func products(_ view: View) -> Sheet {
    sheet("products", view) { catalog, language in
      .json(
        ProductList(
          bundleId: view.bundleId,
          products: catalog.products(for: view.version).map { product in
            ProductAnswer(product, view, catalog.settings, &language)
          }))
    }
  }

  func offerings(_ view: View) -> Sheet {
    sheet("offerings", view) { catalog, language in
      let offerings = catalog.offerings(for: view.version).map { offering in
        OfferingAnswer(
          offering,
          packages: offering.packages.compactMap { package in
            catalog.product(package.productId).map { product in
              PackageAnswer(
                id: package.id, product: ProductAnswer(product, view, catalog.settings, &language))
            }
          })
      }
      let current = catalog.offering(placement: view.placement, for: view.version)
      return .json(
        OfferingList(bundleId: view.bundleId, current: current?.id, offerings: offerings))
    }
  }

  private func sheet(
    _ kind: String, _ view: View, _ make: (Catalog, inout String?) -> Response
  ) -> Sheet {
    guard let (catalog, generation) = shop.catalogs[view.bundleId]?.snapshot else {
      return Sheet(body: [], tag: "", language: nil)
    }
    let key = Key(kind: kind, generation: generation, view: view)
    if let known = sheets[key] { return known }
    var language: String?
    let body = make(catalog, &language).body
    let sheet = Sheet(body: body, tag: SHA256.hex(body), language: language)
    sheets.set(sheet, for: key)
    return sheet
  }
}

private struct ProductList: Encodable {
  let bundleId: String
  let products: [ProductAnswer]
}

private struct OfferingList: Encodable {
  let bundleId: String
  let current: String?
  let offerings: [OfferingAnswer]
}

private struct OfferingAnswer: Encodable {
  let id: String
  let description: String?
  let placements: [String]
  let metadata: [String: String]
  let packages: [PackageAnswer]

  init(_ offering: Offering, packages: [PackageAnswer]) {
    id = offering.id
    description = offering.description
    placements = offering.placements
    metadata = offering.metadata
    self.packages = packages
  }
}

private struct PackageAnswer: Encodable {
  let id: String
  let product: ProductAnswer
}
