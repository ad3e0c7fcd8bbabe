/// The rule for names of entitlements and units.
public enum Name {
  static let longest = 64
  /// The rule in words.
  public static let rule =
    "use 1 to 64 of a-z, 0-9, '.', '_', '-', beginning with a letter or digit"

  /// Whether a text may be a name.
  public static func isValid(_ name: String) -> Bool {
    guard let first = name.utf8.first, name.utf8.count <= longest else { return false }
    return isLetterOrDigit(first) && name.utf8.allSatisfy(isAllowed)
  }

  /// The text as a name: lower case, one `-` for each run of characters that names cannot have.
  ///
  /// It begins with a letter or digit and ends without `-` for a run. May be empty or too long.
  static func slug(_ text: String) -> String {
    var slug: [UInt8] = []
    var gap = false
    for byte in text.lowercased().utf8 {
      guard isAllowed(byte) else {
        gap = true
        continue
      }
      if slug.isEmpty && !isLetterOrDigit(byte) { continue }
      if gap && !slug.isEmpty { slug.append(UInt8(ascii: "-")) }
      gap = false
      slug.append(byte)
    }
    return String(decoding: slug, as: UTF8.self)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    isLetterOrDigit(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "-")
  }
}

/// Names what products give that say nothing, and sees that no two of them share a name.
struct DefaultNames {
  let faults: FaultCollector
  /// Who took a name: a group or a product.
  private var entitlementOwners: [String: String] = [:]
  private var unitOwners: [String: String] = [:]

  init(faults: FaultCollector) { self.faults = faults }

  mutating func entitlement(of draft: ProductDraft) -> String {
    guard let subscription = draft.subscription else {
      let name = Name.slug(draft.id)
      let owner = "product \(quoted(draft.id))"
      claim(name, for: owner, in: &entitlementOwners, key: "entitlements", draft)
      return name
    }
    let fromName = Name.slug(subscription.groupName)
    let name = fromName.isEmpty ? Name.slug(subscription.groupID) : fromName
    let owner = "group \(quoted(subscription.groupName)) (\(subscription.groupID))"
    claim(name, for: owner, in: &entitlementOwners, key: "entitlements", draft)
    return name
  }

  mutating func unit(of draft: ProductDraft) -> String {
    let name = Name.slug(draft.id)
    claim(name, for: "product \(quoted(draft.id))", in: &unitOwners, key: "credits", draft)
    return name
  }

  private func claim(
    _ name: String, for owner: String, in owners: inout [String: String], key: String,
    _ draft: ProductDraft
  ) {
    let remedy = "set products.\(draft.id).\(key) in catalog.json"
    guard Name.isValid(name) else {
      faults.add(draft.place, "\(owner) makes no default name for its \(key)", remedy: remedy)
      return
    }
    let first = owners[name] ?? owner
    owners[name] = first
    if first != owner {
      faults.add(
        draft.place, "\(owner) and \(first) would both give \(quoted(name)) by default",
        remedy: remedy)
    }
  }
}
