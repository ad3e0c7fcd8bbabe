/// What an entry of `catalog.json` says that its product gives; nil where it says nothing.
struct Gives {
  private let entitlements: [Right]?
  private let credits: [Credit]?
  private let length: Period?

  init(_ reader: ObjectReader) {
    entitlements = reader.has("entitlements") ? Self.entitlements(reader) : nil
    credits = reader.object("credits").map(Self.credits)
    length = reader.period("length")
  }

  /// Adds it to the product; what does not go with the product's kind is a fault.
  func add(to draft: inout ProductDraft, reader: ObjectReader) {
    if draft.kind == .consumable && entitlements?.isEmpty == false {
      reader.faults.add(
        reader.place(of: "entitlements"), "a consumable gives no rights, it is used up",
        remedy: "give credits, or sell a non-renewing product with a length")
    }
    if draft.kind == .nonConsumable && credits?.isEmpty == false {
      reader.faults.add(
        reader.place(of: "credits"), "a non-consumable gives no credits, it is restored for ever",
        remedy: "give entitlements, or sell a consumable")
    }
    if draft.kind != .nonRenewing && length != nil {
      reader.faults.add(
        reader.place(of: "length"), "is for non-renewing products only",
        remedy: "remove it; Apple gives the dates of a subscription")
    }
    draft.entitlements = entitlements
    draft.credits = credits
    draft.length = length
  }

  /// A right may stand twice if its dates differ: once for earlier buyers, once for later ones.
  private static func entitlements(_ reader: ObjectReader) -> [Right] {
    var rights: [Right] = []
    for (node, place) in reader.elements("entitlements") {
      guard let right = Right(node, at: place, faults: reader.faults) else { continue }
      if !Name.isValid(right.name) {
        reader.faults.add(
          place, "is \(quoted(right.name)), no entitlement name", remedy: Name.rule)
      } else if rights.contains(right) {
        reader.faults.add(place, "\(quoted(right.name)) stands here twice", remedy: "keep one")
      }
      rights.append(right)
    }
    return rights
  }

  private static func credits(_ object: ObjectReader) -> [Credit] {
    object.reportRepeated()
    return object.members.compactMap { member in
      if !Name.isValid(member.key) {
        object.faults.add(
          object.place.key(member.key, line: member.line), "is no unit name", remedy: Name.rule)
      }
      object.require(member.key, remedy: "write how much, from 1")
      return Credit(member.key, in: object)
    }
  }
}
