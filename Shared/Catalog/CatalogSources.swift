import FoundationEssentials

extension Catalog {
  /// Reads an Xcode `.storekit` file of version 1 to 5.
  ///
  /// Unknown keys and `subscriptionOffersKeyPair` are ignored. `file` names the text in errors.
  /// Throws `CatalogError` with every fault at once.
  public init(storeKit bytes: [UInt8], file: String = "Store.storekit") throws(CatalogError) {
    let faults = FaultCollector()
    let source = try StoreKitFile(bytes: bytes, file: file, faults: faults)
    try self.init(drafts: source.drafts, settings: source.settings, faults: faults)
  }

  /// Reads a `catalog.json`; `read` gives the bytes of the `.storekit` file that it names.
  ///
  /// Unknown keys are a fault, since they are mostly misspelled ones. `file` names the text in
  /// errors. Throws `CatalogError` with the faults of both files at once.
  public init(
    json bytes: [UInt8], file: String = "catalog.json",
    read: (String) throws(CatalogError) -> [UInt8] = { (name) throws(CatalogError) in
      throw .unreadable(path: name, reason: "no way to read another file was given")
    }
  ) throws(CatalogError) {
    let faults = FaultCollector()
    let overlay = try CatalogFile(bytes: bytes, file: file, faults: faults)
    var drafts: [ProductDraft] = []
    var settings: StoreKitSettings?
    var unusable: Set<String> = []
    if let name = overlay.storeKitPath {
      let source = try StoreKitFile(bytes: try read(name), file: name, faults: faults)
      // Of a file of no known version nothing was read: what is laid over it cannot be judged.
      if source.settings == nil { try faults.throwIfAny() }
      drafts = source.drafts
      settings = source.settings
      unusable = source.unusableIDs
    }
    overlay.apply(to: &drafts, unusable: unusable)
    let offerings = overlay.offerings(of: Set(drafts.map(\.id)).union(unusable))
    try self.init(drafts: drafts, offerings: offerings, settings: settings, faults: faults)
  }

  /// Reads the catalog at `path`: a `.storekit` file by that ending, otherwise a `catalog.json`,
  /// whose `storekit` key is a path relative to its own folder.
  ///
  /// `note` hears of each file before it is read. Blocks on file reads. Throws `CatalogError`.
  public static func load(
    path: String, note: (String) -> Void = { _ in }
  ) throws(CatalogError) -> Catalog {
    note(path)
    let bytes = try contents(of: path)
    guard !path.hasSuffix(".storekit") else {
      return try Catalog(storeKit: bytes, file: path)
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    return try Catalog(json: bytes, file: path) { (name) throws(CatalogError) in
      let path = name.hasPrefix("/") ? name : folder + name
      note(path)
      return try contents(of: path)
    }
  }

  static func contents(of path: String) throws(CatalogError) -> [UInt8] {
    do {
      return [UInt8](try Data(contentsOf: URL(filePath: path)))
    } catch let error as CocoaError {
      throw .unreadable(path: path, reason: reason(of: error))
    } catch {
      throw .unreadable(path: path, reason: "it cannot be read")
    }
  }

  private static func reason(of error: CocoaError) -> String {
    switch error.code {
    case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
    case .fileReadNoPermission: "this user may not read it"
    default: "it cannot be read"
    }
  }
}
