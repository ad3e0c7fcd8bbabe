/// Which product gives what: the products of an app, their rights and their credits.
///
/// A product that does not say what it gives, gives the default of its kind:
///
/// | kind | default |
/// |---|---|
/// | auto-renewable | one entitlement, named by its group's name made a slug (`Pro Plan` → `pro-plan`); by the group's id if nothing of the name is left |
/// | non-consumable, non-renewing | one entitlement, named by the product id in lower case |
/// | consumable | a credit of 1 of a unit named by the product id in lower case |
///
/// The keys `entitlements` and `credits` of `catalog.json` each replace their default; an empty list
/// or object means that nothing is given. A slug is lower case, and each run of other characters
/// than `a-z`, `0-9`, `-`, `_`, `.` becomes one `-`. Two groups or products whose default names
/// would be equal are a fault, so that nobody gets the rights of another product by accident.
public struct Catalog: Sendable, Equatable {
  /// The products by product id.
  public let products: [String: Product]
  /// The products in the order of their source: the `.storekit` file first, then `catalog.json`.
  public let orderedProducts: [Product]
  /// Named packages for paywalls, in the order of `catalog.json`.
  public let offerings: [Offering]
  /// The settings of the `.storekit` file; nil if the catalog has none.
  public let settings: StoreKitSettings?

  /// Largest size of a catalog or `.storekit` file, in bytes.
  public static let largestFile = 8 << 20

  /// The product with this id, nil if the catalog does not know it.
  public func product(_ id: String) -> Product? { products[id] }

  init(
    drafts: [ProductDraft], offerings: [Offering] = [], settings: StoreKitSettings?,
    faults: FaultCollector
  ) throws(CatalogError) {
    var names = DefaultNames(faults: faults)
    let products = drafts.map { $0.finished(names: &names) }
    try faults.throwIfAny()
    self.orderedProducts = products
    self.products = Dictionary(
      products.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    self.offerings = offerings
    self.settings = settings
  }
}
