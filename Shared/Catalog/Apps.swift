/// What `purser.json` says: which apps and environments are served, and by which policies.
///
/// ```json
/// {
///   "roots": ["AppleRootCA-G3.cer"],
///   "catalog": "catalog.json",
///   "apps": [
///     {
///       "bundleId": "com.example.app",
///       "appAppleId": 123456789,
///       "environments": {
///         "Production": {},
///         "Sandbox": { "policies": { "lateRenewal": 5 } }
///       },
///       "policies": { "transfer": "keep" },
///       "api": { "keyId": "2X9R4HXF34", "issuerId": "57246542-…", "keyFile": "SubscriptionKey.p8" },
///       "offerKey": { "keyId": "7KMNBV4R2T", "issuerId": "57246542-…", "keyFile": "Offers.p8" },
///       "sharedSecretFile": "shared-secret.txt"
///     }
///   ]
/// }
/// ```
public struct Apps: Sendable, Equatable {
  /// The apps, in the order of the file.
  public let all: [App]
  /// Files of the root certificates that signed data must lead to; paths as from the working folder.
  public let roots: [String]

  /// Makes the list; `load` and `init(json:)` check what they read.
  public init(all: [App], roots: [String]) {
    self.all = all
    self.roots = roots
  }

  /// The app with a bundle id.
  public func app(_ bundleId: String) -> App? { all.first { $0.bundleId == bundleId } }

  /// Whether any app serves Production.
  public var servesProduction: Bool { all.contains { $0.environments["Production"] != nil } }

  /// The policies of an app and environment; the defaults where none are configured.
  public func policies(_ bundleId: String, _ environment: String) -> Policies {
    app(bundleId)?.environments[environment] ?? Policies(environment: environment)
  }
}

/// One app that is served.
public struct App: Sendable, Equatable {
  /// Its bundle id.
  public let bundleId: String
  /// Its id at Apple; needed for Production.
  public let appAppleId: Int64?
  /// The environments that are served, each with its policies.
  public let environments: [String: Policies]
  /// Its catalog file; a path as from the working folder.
  public let catalog: String
  /// The certificate exported from Xcode, where that environment is served.
  public let xcodeCertificate: String?
  /// The key to Apple's API; nil where none is configured.
  public let api: APIAccess?
  /// The key that signs offers; nil where none is configured.
  public let offerKey: APIAccess?
  /// The file of the shared secret for `verifyReceipt`; a path as from the working folder.
  public let sharedSecretFile: String?
}

extension Apps {
  /// Reads a `purser.json`; `folder` is put before the relative paths in it.
  ///
  /// Throws `CatalogError` with every fault at once.
  public init(json bytes: [UInt8], file: String = "purser.json", folder: String = "")
    throws(CatalogError)
  {
    let faults = FaultCollector()
    let root = try JSONParser.parse(bytes, file: file)
    let top = Place(file: file, line: root.line, path: "")
    func path(_ name: String) -> String { name.hasPrefix("/") ? name : folder + name }
    var apps: [App] = []
    var roots: [String] = []
    if let object = ObjectReader(root, at: top, faults: faults) {
      object.reportRepeated()
      object.reportUnknown(except: ["roots", "catalog", "apps"])
      object.require("roots", remedy: "name the files of the root certificates to trust")
      object.require("apps", remedy: "list the apps to serve")
      for (node, place) in object.elements("roots") {
        guard case .string(let name) = node.value else {
          faults.add(place, "is \(node.value.kind)", remedy: "write a file name in quotes")
          continue
        }
        roots.append(path(name))
      }
      let catalog = object.text("catalog")
      for reader in object.objects("apps") {
        guard let app = App(reader, catalog: catalog, path: path) else { continue }
        if apps.contains(where: { $0.bundleId == app.bundleId }) {
          faults.add(
            reader.place(of: "bundleId"), "stands here twice", remedy: "keep one entry per app")
        }
        apps.append(app)
      }
      if object.has("roots") && object.elements("roots").isEmpty {
        faults.add(object.place(of: "roots"), "is empty", remedy: "name at least one file")
      }
      if object.has("apps") && object.elements("apps").isEmpty {
        faults.add(object.place(of: "apps"), "is empty", remedy: "list at least one app")
      }
    }
    try faults.throwIfAny()
    self.init(all: apps, roots: roots)
  }

  /// What `make` makes of each catalog file, by the bundle ids of its apps; once for each file.
  public func eachCatalog<T>(_ make: (_ path: String) -> T?) -> [String: T] {
    let made = Dictionary(
      Set(all.map(\.catalog)).sorted().map { ($0, make($0)) },
      uniquingKeysWith: { first, _ in first })
    return Dictionary(
      all.compactMap { app in (made[app.catalog] ?? nil).map { (app.bundleId, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Reads the file at `path`.
  ///
  /// Blocks. Throws `CatalogError`.
  public static func load(path: String) throws(CatalogError) -> Apps {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    return try Apps(json: try Catalog.contents(of: path), file: path, folder: folder)
  }
}

extension App {
  /// The environments that can be served.
  static let knownEnvironments = ["Production", "Sandbox", "Xcode"]

  init?(_ reader: ObjectReader, catalog: String?, path: (String) -> String) {
    let faults = reader.faults
    reader.reportRepeated()
    reader.reportUnknown(except: [
      "bundleId", "appAppleId", "environments", "policies", "catalog", "xcodeCertificate", "api",
      "offerKey",
      "sharedSecretFile",
    ])
    reader.require("bundleId", remedy: "write the app's bundle id")
    reader.require("environments", remedy: "list the environments to serve: \"Sandbox\": {}")
    let appAppleId = reader.integer("appAppleId", in: 1...Int64.max)
    var environments: [String: Policies] = [:]
    if let object = reader.object("environments") {
      object.reportRepeated()
      object.reportUnknown(except: Self.knownEnvironments)
      if object.members.isEmpty {
        faults.add(object.place, "is empty", remedy: "serve at least one environment")
      }
      for name in Self.knownEnvironments where object.has(name) {
        var policies = Policies(environment: name)
        if let common = reader.object("policies") { policies.read(common) }
        if let own = object.object(name) {
          own.reportUnknown(except: ["policies"])
          if let specific = own.object("policies") { policies.read(specific) }
        }
        environments[name] = policies
      }
    }
    if environments["Production"] != nil && appAppleId == nil {
      faults.add(
        reader.place(of: "appAppleId"), "is missing",
        remedy: "Production needs the app's Apple id, from App Store Connect")
    }
    if environments["Production"] != nil && environments["Xcode"] != nil {
      faults.add(
        reader.place(of: "environments"), "has Production and Xcode",
        remedy: "serve Xcode only where no real purchases are: its signatures prove nothing")
    }
    if environments["Xcode"] != nil {
      reader.require(
        "xcodeCertificate", remedy: "name the certificate exported from Xcode")
    }
    for (name, policies) in environments where policies.receipts.asksApple {
      if name != "Xcode" && !reader.has("sharedSecretFile") {
        faults.add(
          reader.place(of: "sharedSecretFile"),
          "is missing, and \(name) asks verifyReceipt about receipts",
          remedy: "name the file of the app's shared secret, or set the policy receipts to local")
      }
    }
    let own = reader.text("catalog") ?? catalog
    if own == nil {
      faults.add(
        reader.place(of: "catalog"), "is missing", remedy: "name a catalog here or at the top")
    }
    guard let bundleId = reader.text("bundleId"), let own else { return nil }
    if bundleId.isEmpty || bundleId.contains("/") || bundleId.utf8.count > 155 {
      faults.add(
        reader.place(of: "bundleId"), "is \(quoted(bundleId))", remedy: "write a bundle id")
    }
    self.init(
      bundleId: bundleId, appAppleId: appAppleId, environments: environments, catalog: path(own),
      xcodeCertificate: reader.text("xcodeCertificate").map(path),
      api: reader.object("api").flatMap { APIAccess($0, path: path) },
      offerKey: reader.object("offerKey").flatMap { APIAccess($0, path: path) },
      sharedSecretFile: reader.text("sharedSecretFile").map(path))
  }
}
