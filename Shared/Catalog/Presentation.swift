/// What `catalog.json` says of how a product is shown and sold; nil where it says nothing.
struct Presentation {
  static let keys = ["sold", "appVersions", "prices", "metadata", "localizations"]

  private let isSold: Bool?
  private let appVersions: AppVersions?
  private let prices: [StorefrontPrice]?
  private let metadata: [String: String]?
  private let localizations: [Localization]?

  init(_ reader: ObjectReader) {
    isSold = reader.bool("sold")
    appVersions = reader.has("appVersions") ? reader.appVersions() : nil
    prices = reader.object("prices").map(Self.prices)
    metadata = reader.has("metadata") ? reader.metadata() : nil
    localizations =
      reader.has("localizations")
      ? reader.localizations { one in
        // In a file written by hand unknown keys are mostly misspelled ones.
        one.reportRepeated()
        one.reportUnknown(except: ObjectReader.localizationKeys)
        one.require("displayName", remedy: "add the name that customers read")
      } : nil
  }

  /// Lays it over the product; localizations take the place of those of their locale.
  func add(to draft: inout ProductDraft) {
    if let isSold { draft.isSold = isSold }
    if let appVersions { draft.appVersions = appVersions }
    if let prices { draft.prices = prices }
    if let metadata { draft.metadata = metadata }
    for localization in localizations ?? [] {
      let tag = Localization.tag(localization.locale)
      let index = draft.localizations.firstIndex { Localization.tag($0.locale) == tag }
      if let index {
        // Spelled as it was, so that an export is what Xcode writes.
        draft.localizations[index] = Localization(
          locale: draft.localizations[index].locale, displayName: localization.displayName,
          description: localization.description)
      } else {
        draft.localizations.append(localization)
      }
    }
  }

  /// `{"DEU": {"displayPrice": "9.99", "currency": "EUR"}}`, by the storefront's three letters.
  private static func prices(_ object: ObjectReader) -> [StorefrontPrice] {
    object.reportRepeated()
    return object.members.compactMap { member in
      let place = object.place.key(member.key, line: member.line)
      if !isLetters(member.key) {
        object.faults.add(
          place, "is no storefront", remedy: "write three capital letters, such as \"USA\"")
      }
      guard let price = ObjectReader(member.node, at: place, faults: object.faults) else {
        return nil
      }
      price.reportRepeated()
      price.reportUnknown(except: ["displayPrice", "currency"])
      price.require("currency", remedy: "add the currency, such as \"EUR\"")
      let (text, milliunits) = price.price("displayPrice")
      guard let currency = price.text("currency") else { return nil }
      if !isLetters(currency) {
        price.faults.add(
          price.place(of: "currency"), "is \(quoted(currency)), no currency",
          remedy: "write three capital letters, such as \"EUR\"")
      }
      return StorefrontPrice(
        storefront: member.key, displayPrice: text, priceMilliunits: milliunits,
        currency: currency)
    }
  }

  private static func isLetters(_ text: String) -> Bool {
    text.utf8.count == 3
      && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }
}

extension ObjectReader {
  static let localizationKeys = ["locale", "displayName", "description"]

  /// A name by the rule of names; nil, with a fault, for another text.
  func name(_ key: String) -> String? {
    guard let text = text(key) else { return nil }
    guard Name.isValid(text) else {
      faults.add(place(of: key), "is \(quoted(text))", remedy: Name.rule)
      return nil
    }
    return text
  }

  /// A list of names without repetition.
  func names(_ key: String) -> [String] {
    var names: [String] = []
    for (node, place) in elements(key) {
      guard case .string(let name) = node.value else {
        faults.add(place, "is \(node.value.kind)", remedy: "write a name in quotes")
        continue
      }
      if !Name.isValid(name) {
        faults.add(place, "is \(quoted(name))", remedy: Name.rule)
      } else if names.contains(name) {
        faults.add(place, "\(quoted(name)) stands here twice", remedy: "keep one")
      } else {
        names.append(name)
      }
    }
    return names
  }

  /// `{"from": "2.0", "to": "3.5"}`, each of which may be left out.
  func appVersions() -> AppVersions {
    guard let object = object("appVersions") else { return .all }
    object.reportRepeated()
    object.reportUnknown(except: ["from", "to"])
    let (from, to) = (object.appVersion("from"), object.appVersion("to"))
    if let from, let to, to < from {
      faults.add(
        object.place, "ends before it begins", remedy: "write the older version as from")
    }
    return AppVersions(from: from, to: to)
  }

  private func appVersion(_ key: String) -> AppVersion? {
    guard let text = text(key) else { return nil }
    guard let version = AppVersion(text) else {
      faults.add(
        place(of: key), "is \(quoted(text)), no version",
        remedy: "write numbers with dots between them, such as \"2.10\"")
      return nil
    }
    return version
  }

  /// At most 64 texts under keys of at most 64 bytes, 4 KiB each.
  func metadata() -> [String: String] {
    guard let object = object("metadata") else { return [:] }
    object.reportRepeated()
    if object.members.count > 64 {
      faults.add(object.place, "has more than 64 keys", remedy: "keep 64 at most")
    }
    var metadata: [String: String] = [:]
    for member in object.members {
      let place = object.place.key(member.key, line: member.line)
      guard case .string(let text) = member.node.value, text.utf8.count <= 4096,
        member.key.utf8.count <= 64
      else {
        faults.add(
          place, "is no text of at most 4096 bytes under a key of at most 64",
          remedy: "write a text in quotes")
        continue
      }
      metadata[member.key] = text
    }
    return metadata
  }
}
