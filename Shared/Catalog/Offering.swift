/// A named set of packages for a paywall.
public struct Offering: Sendable, Equatable {
  /// Its id, by the rule of names.
  public let id: String
  /// For people; nil if the catalog says nothing.
  public let description: String?
  /// Whether it is shown where no placement asks for another.
  public let isDefault: Bool
  /// The places in the app that it is for.
  public let placements: [String]
  /// The versions of the app that it is for.
  public let appVersions: AppVersions
  /// The app team's own words, handed on to the app.
  public let metadata: [String: String]
  /// What it offers, in the order of the paywall.
  public let packages: [Package]

  /// One choice on a paywall.
  public struct Package: Sendable, Equatable {
    /// Its id within the offering, such as `annual`.
    public let id: String
    /// The product that it sells.
    public let productId: String
  }
}

extension Catalog {
  /// The offerings that a version of the app may show.
  public func offerings(for version: AppVersion?) -> [Offering] {
    offerings.filter { offering in
      offering.appVersions.contains(version)
        && offering.packages.allSatisfy { isSold($0.productId, to: version) }
    }
  }

  /// The one to show: the first for the placement, otherwise the first default.
  public func offering(placement: String?, for version: AppVersion?) -> Offering? {
    let fitting = offerings(for: version)
    return placement.flatMap { placement in fitting.first { $0.placements.contains(placement) } }
      ?? fitting.first(where: \.isDefault)
  }

  /// The products that a version of the app may sell, in the order of the catalog.
  public func products(for version: AppVersion?) -> [Product] {
    orderedProducts.filter { $0.isSold && $0.appVersions.contains(version) }
  }

  private func isSold(_ id: String, to version: AppVersion?) -> Bool {
    product(id).map { $0.isSold && $0.appVersions.contains(version) } ?? false
  }
}

extension Offering {
  static let keys = [
    "id", "description", "default", "placements", "appVersions", "metadata", "packages",
  ]
  static let packageKeys = ["id", "product"]

  /// Nil, with faults, without id or packages.
  init?(_ reader: ObjectReader, products: Set<String>) {
    reader.reportRepeated()
    reader.reportUnknown(except: Self.keys)
    reader.require("id", remedy: "add its id")
    reader.require("packages", remedy: "add packages: [{\"id\", \"product\"}]")
    guard let id = reader.name("id"), reader.has("packages") else { return nil }
    self.id = id
    description = reader.text("description")
    isDefault = reader.bool("default") ?? false
    placements = reader.names("placements")
    appVersions = reader.appVersions()
    metadata = reader.metadata()
    var packages: [Package] = []
    for package in reader.objects("packages") {
      package.reportRepeated()
      package.reportUnknown(except: Self.packageKeys)
      package.require("id", remedy: "add its id, such as \"annual\"")
      package.require("product", remedy: "add the product id that it sells")
      guard let id = package.name("id"), let product = package.text("product") else { continue }
      if packages.contains(where: { $0.id == id }) {
        package.faults.add(
          package.place(of: "id"), "\(quoted(id)) stands in this offering twice",
          remedy: "give one of the two another id")
      }
      if !products.contains(product) {
        package.faults.add(
          package.place(of: "product"), "is \(quoted(product)), no product of this catalog",
          remedy: "correct the product id")
      }
      packages.append(Package(id: id, productId: product))
    }
    if reader.elements("packages").isEmpty {
      reader.faults.add(
        reader.place(of: "packages"), "is empty", remedy: "offer at least one product")
    }
    self.packages = packages
  }
}
