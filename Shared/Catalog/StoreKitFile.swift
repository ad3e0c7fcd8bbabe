/// The products and settings of an Xcode `.storekit` file of version 1 to 5.
///
/// The layout is documented nowhere; it was read from public files of all five versions. Keys that
/// a version lacks are absent or null. The local signing key in `subscriptionOffersKeyPair` is
/// never looked at.
struct StoreKitFile {
  private(set) var drafts: [ProductDraft] = []
  private(set) var settings: StoreKitSettings?
  /// Products that are in the file, but faulty beyond use.
  private(set) var unusableIDs: Set<String> = []
  private let faults: FaultCollector

  /// Throws only if the text is no JSON; all else is noted in `faults`.
  init(bytes: [UInt8], file: String, faults: FaultCollector) throws(CatalogError) {
    self.faults = faults
    let root = try JSONParser.parse(bytes, file: file)
    let top = Place(file: file, line: root.line, path: "")
    guard let object = ObjectReader(root, at: top, faults: faults) else { return }
    object.reportRepeatedWithin(except: "subscriptionOffersKeyPair")
    object.require("version", remedy: "name a file that Xcode wrote (StoreKit configuration)")
    guard let version = object.object("version") else { return }
    version.require("major", remedy: "name a file that Xcode wrote (StoreKit configuration)")
    guard let major = version.integer("major", in: 1...5) else { return }
    // Xcode writes both in every version, if only as empty lists.
    for key in ["products", "subscriptionGroups"] {
      object.require(key, remedy: "name a file that Xcode wrote, or add \"\(key)\": []")
    }
    settings = StoreKitSettings(file: object, major: Int(major), version: version)
    for key in ["products", "nonRenewingSubscriptions"] {
      for product in object.objects(key) { add(product, group: nil) }
    }
    var groups: [String: Place] = [:]
    for group in object.objects("subscriptionGroups") {
      group.require("id", remedy: "add the group's id")
      if let id = group.filled("id", remedy: "add the group's id"),
        let earlier = groups.updateValue(group.place, forKey: id)
      {
        faults.add(
          group.place(of: "id"), "is \(quoted(id)), as is that of \(earlier.path)",
          remedy: "give one of the two another id, or put their subscriptions into one")
      }
      for product in group.objects("subscriptions") { add(product, group: group) }
    }
    reportRepeatedIDs()
  }

  private mutating func add(_ product: ObjectReader, group: ObjectReader?) {
    product.require("productID", remedy: "add the product id in Xcode")
    product.require("type", remedy: "add the product's type in Xcode")
    guard let id = product.text("productID") else { return }
    guard !id.isEmpty else {
      faults.add(product.place(of: "productID"), "is empty", remedy: "add the product id in Xcode")
      return
    }
    guard let type = product.text("type") else {
      unusableIDs.insert(id)
      return
    }
    guard let kind = ProductKind(storeKitType: type), (kind == .autoRenewable) == (group != nil)
    else {
      unusableIDs.insert(id)
      let kinds = ProductKind.allCases.filter { ($0 == .autoRenewable) == (group != nil) }
      faults.add(
        product.place(of: "type"), "is \(quoted(type)), no type for this list",
        remedy: "write \(kinds.map(\.storeKitType).joined(separator: " or "))")
      return
    }
    drafts.append(
      ProductDraft(
        id: id, place: product.place, kind: kind, referenceName: product.text("referenceName"),
        price: product.price("displayPrice"),
        familyShareable: product.bool("familyShareable") ?? false,
        localizations: product.localizations(),
        subscription: group.flatMap { Subscription(storeKit: product, group: $0) }))
  }

  /// Keeps the first product of each id.
  private mutating func reportRepeatedIDs() {
    var first: [String: Place] = [:]
    var kept: [ProductDraft] = []
    for draft in drafts {
      if let earlier = first[draft.id] {
        faults.add(
          draft.place, "has the product id \(quoted(draft.id)), as has \(earlier.path)",
          remedy: "give one of the two another id")
      } else {
        first[draft.id] = draft.place
        kept.append(draft)
      }
    }
    drafts = kept
  }
}

extension StoreKitSettings {
  fileprivate init(file: ObjectReader, major: Int, version: ObjectReader) {
    let settings = file.object("settings")
    self.init(
      majorVersion: major,
      minorVersion: Int(version.integer("minor", in: 0...9999) ?? 0),
      identifier: file.text("identifier"),
      storefront: settings?.text("_storefront"),
      locale: settings?.text("_locale"),
      timeRate: settings?.integer("_timeRate", in: 0...Int64(Int32.max)).map { Int($0) },
      askToBuyEnabled: settings?.bool("_askToBuyEnabled"),
      billingIssuesEnabled: settings?.bool("_billingIssuesEnabled"),
      renewalBillingIssuesEnabled: settings?.bool("_renewalBillingIssuesEnabled"),
      billingGracePeriodEnabled: settings?.bool("_billingGracePeriodEnabled"),
      disableDialogs: settings?.bool("_disableDialogs"),
      failTransactionsEnabled: settings?.bool("_failTransactionsEnabled"),
      errors: (settings?.objects("_storeKitErrors") ?? []).map { error in
        let current = error.object("current")
        return SimulatedError(
          name: error.text("name") ?? "", isEnabled: error.bool("enabled") ?? false,
          type: current?.text("type"),
          index: current?.integer("index", in: Int64(Int32.min)...Int64(Int32.max)).map { Int($0) })
      },
      applicationID: settings?.text("_applicationInternalID"),
      developerTeamID: settings?.text("_developerTeamID"))
  }
}
