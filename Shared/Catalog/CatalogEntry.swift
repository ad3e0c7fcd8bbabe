/// One product in `catalog.json`.
struct CatalogEntry {
  let id: String
  private let reader: ObjectReader
  private let gives: Gives
  private let presentation: Presentation

  static let giving = ["entitlements", "credits", "length"]
  static let defining = [
    "kind", "displayPrice", "referenceName", "familyShareable", "subscription",
  ]
  static let keys = giving + defining + Presentation.keys
  static let subscriptionKeys = ["group", "groupID", "level", "period", "offers"]

  /// Nil, with a fault, if the id is empty.
  init?(id: String, reader: ObjectReader) {
    guard !id.isEmpty else {
      reader.faults.add(reader.place, "has an empty product id", remedy: "write the product id")
      return nil
    }
    self.id = id
    self.reader = reader
    self.gives = Gives(reader)
    self.presentation = Presentation(reader)
    reader.reportRepeated()
    reader.reportUnknown(except: Self.keys)
  }

  /// Adds what the product gives to a product of the `.storekit` file.
  func add(to draft: inout ProductDraft) {
    for key in Self.defining where reader.has(key) {
      reader.faults.add(
        reader.place(of: key), "is already said by the .storekit file", remedy: "remove it here")
    }
    gives.add(to: &draft, reader: reader)
    presentation.add(to: &draft)
  }

  /// The product defined here alone; nil, with faults, if it is not whole.
  ///
  /// `groupIDs` are the ids of the groups named so far, by name.
  func defined(groupIDs: inout [String: String]) -> ProductDraft? {
    let kinds = ProductKind.allCases.map(\.rawValue).joined(separator: ", ")
    guard reader.has("kind") else {
      reader.faults.add(
        reader.place, "is in no .storekit file and has no kind",
        remedy: "correct the id, or add kind (\(kinds)) and displayPrice")
      return nil
    }
    let price = reader.price("displayPrice")
    guard let word = reader.text("kind") else { return nil }
    guard let kind = ProductKind(rawValue: word) else {
      reader.faults.add(
        reader.place(of: "kind"), "is \(quoted(word))", remedy: "write one of \(kinds)")
      return nil
    }
    var draft = ProductDraft(
      id: id, place: reader.place, kind: kind, referenceName: reader.text("referenceName"),
      price: price, familyShareable: reader.bool("familyShareable") ?? false,
      localizations: [])
    if kind == .autoRenewable {
      reader.require("subscription", remedy: "add {\"group\", \"level\", \"period\"}")
      guard let subscription = subscription(groupIDs: &groupIDs) else { return nil }
      draft.subscription = subscription
    } else if reader.has("subscription") {
      reader.faults.add(
        reader.place(of: "subscription"), "is for auto-renewable products only",
        remedy: "remove it, or write \"kind\": \"auto-renewable\"")
    }
    gives.add(to: &draft, reader: reader)
    presentation.add(to: &draft)
    return draft
  }

  private func subscription(groupIDs: inout [String: String]) -> Subscription? {
    guard let object = reader.object("subscription") else { return nil }
    object.reportRepeated()
    object.reportUnknown(except: Self.subscriptionKeys)
    object.require("group", remedy: "add the name of its subscription group")
    object.require("level", remedy: "add its level in the group, 1 for the highest")
    let level = object.integer("level", in: 1...10_000)
    let period = object.requiredPeriod("period")
    let named = object.filled("group", remedy: "write the name of its subscription group")
    let ownID = object.filled("groupID", remedy: "write the group's id, or leave it out")
    guard let group = named, let level, let period else { return nil }
    // A group that another product named already is that group, whichever file said its id.
    let known = groupIDs[group]
    let groupID = ownID ?? known ?? group
    if let known, known != groupID {
      object.faults.add(
        object.place(of: "groupID"),
        "is \(quoted(groupID)), but the group's id is \(quoted(known))",
        remedy: "write the same id for every product of a group, or leave it out")
    }
    groupIDs[group] = known ?? groupID
    let offers = object.object("offers").map { CatalogOffers($0, product: id) } ?? .none
    return Subscription(
      groupID: known ?? groupID, groupName: group, level: Int(level), period: period,
      introductoryOffers: offers.introductory, promotionalOffers: offers.promotional,
      offerCodes: offers.codes, winBackOffers: offers.winBack, billingPlans: [])
  }
}
