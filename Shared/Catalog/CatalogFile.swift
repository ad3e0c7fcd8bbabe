/// What `catalog.json` says: which `.storekit` file to read, and products of its own or additions
/// to that file's products.
struct CatalogFile {
  /// The `.storekit` file, as written.
  private(set) var storeKitPath: String?
  private var products: [CatalogEntry] = []
  private var offerings: [ObjectReader] = []
  private let faults: FaultCollector

  static let keys = ["storekit", "products", "offerings"]

  /// Throws only if the text is no JSON; all else is noted in `faults`.
  init(bytes: [UInt8], file: String, faults: FaultCollector) throws(CatalogError) {
    self.faults = faults
    let root = try JSONParser.parse(bytes, file: file)
    let top = Place(file: file, line: root.line, path: "")
    guard let object = ObjectReader(root, at: top, faults: faults) else { return }
    object.reportRepeated()
    object.reportUnknown(except: Self.keys)
    offerings = object.objects("offerings")
    storeKitPath = object.text("storekit")
    if storeKitPath == "" {
      faults.add(object.place(of: "storekit"), "is empty", remedy: "name a .storekit file")
      storeKitPath = nil
    }
    if !object.has("storekit") && !object.has("products") {
      faults.add(
        top, "names neither a .storekit file nor products", remedy: "add storekit or products")
    }
    guard let entries = object.object("products") else { return }
    entries.reportRepeated()
    var seen: Set<String> = []
    products = entries.members.filter { seen.insert($0.key).inserted }.compactMap { member in
      let place = entries.place.key(member.key, line: member.line)
      return ObjectReader(member.node, at: place, faults: faults)
        .flatMap { CatalogEntry(id: member.key, reader: $0) }
    }
  }

  /// The offerings, given the products of the whole catalog.
  func offerings(of products: Set<String>) -> [Offering] {
    var found: [Offering] = []
    for reader in offerings {
      guard let offering = Offering(reader, products: products) else { continue }
      if found.contains(where: { $0.id == offering.id }) {
        faults.add(
          reader.place(of: "id"), "\(quoted(offering.id)) stands here twice",
          remedy: "give one of the two another id")
      }
      if offering.isDefault, offering.appVersions == .all,
        let first = found.first(where: { $0.isDefault && $0.appVersions == .all })
      {
        faults.add(
          reader.place(of: "default"), "is true, as it is of \(quoted(first.id))",
          remedy: "keep one default for each version of the app")
      }
      found.append(offering)
    }
    return found
  }

  /// Adds to the products of the `.storekit` file, then appends the products defined here.
  ///
  /// `unusable` are that file's products whose faults are noted already.
  func apply(to drafts: inout [ProductDraft], unusable: Set<String>) {
    var groupIDs: [String: String] = [:]
    for subscription in drafts.compactMap(\.subscription) {
      groupIDs[subscription.groupName] = groupIDs[subscription.groupName] ?? subscription.groupID
    }
    let imported = Dictionary(
      drafts.enumerated().map { ($0.element.id, $0.offset) },
      uniquingKeysWith: { first, _ in first })
    for entry in products where !unusable.contains(entry.id) {
      if let index = imported[entry.id] {
        entry.add(to: &drafts[index])
      } else if let draft = entry.defined(groupIDs: &groupIDs) {
        drafts.append(draft)
      }
    }
  }
}
