/// Writes what a `.storekit` file cannot hold as the `catalog.json` that stands beside it.
///
/// Everything that a product gives is written out, so that nothing hangs on defaults.
struct CatalogWriter {
  let catalog: Catalog
  /// The `.storekit` file, as the catalog is to name it.
  let storeKit: String

  var text: String {
    JSONPrinter.text(
      .members([
        "storekit": .string(storeKit),
        "products": .object(
          catalog.orderedProducts.map { product in
            JSONMember(
              key: product.id, line: 0, node: JSONNode(value: entry(product), line: 0))
          }),
        "offerings": catalog.offerings.isEmpty
          ? nil : .list(catalog.offerings.map(offering)),
      ]))
  }

  private func entry(_ product: Product) -> JSONValue {
    .members([
      "entitlements": product.kind == .consumable
        ? nil : .list(product.rights.map(\.written)),
      "credits": product.kind == .nonConsumable
        ? nil
        : .object(
          product.credits.map { credit in
            JSONMember(
              key: credit.unit, line: 0, node: JSONNode(value: credit.written, line: 0))
          }),
      "length": product.length.map { .string($0.description) },
      "sold": product.isSold ? nil : .bool(false),
      "appVersions": versions(product.appVersions),
      "prices": product.prices.isEmpty
        ? nil
        : .object(
          product.prices.map { price in
            JSONMember(
              key: price.storefront, line: 0,
              node: JSONNode(
                value: .members([
                  "displayPrice": .string(price.displayPrice), "currency": .string(price.currency),
                ]), line: 0))
          }),
      "metadata": metadata(product.metadata),
    ])
  }

  private func offering(_ offering: Offering) -> JSONValue {
    .members([
      "id": .string(offering.id),
      "description": offering.description.map { .string($0) },
      "default": offering.isDefault ? .bool(true) : nil,
      "placements": offering.placements.isEmpty
        ? nil : .list(offering.placements.map { .string($0) }),
      "appVersions": versions(offering.appVersions),
      "metadata": metadata(offering.metadata),
      "packages": .list(
        offering.packages.map { package in
          .members(["id": .string(package.id), "product": .string(package.productId)])
        }),
    ])
  }

  private func versions(_ versions: AppVersions) -> JSONValue? {
    guard versions != .all else { return nil }
    return .members([
      "from": versions.from.map { .string($0.description) },
      "to": versions.to.map { .string($0.description) },
    ])
  }

  private func metadata(_ metadata: [String: String]) -> JSONValue? {
    guard !metadata.isEmpty else { return nil }
    return .object(
      metadata.sorted { $0.key < $1.key }.map { key, value in
        JSONMember(key: key, line: 0, node: JSONNode(value: .string(value), line: 0))
      })
  }
}

extension Catalog {
  /// The catalog as an Xcode `.storekit` file; what such a file cannot hold is left out.
  public var storeKitText: String { StoreKitWriter(self).text }

  /// What the `.storekit` file cannot hold, as a `catalog.json` that names that file.
  public func catalogText(storeKit name: String) -> String {
    CatalogWriter(catalog: self, storeKit: name).text
  }
}
