/// The values that both kinds of sources write the same way.
extension ObjectReader {
  /// A required price, with its milliunits; ("", 0) with a fault.
  func price(_ key: String) -> (text: String, milliunits: Int64) {
    require(key, remedy: "add the price, such as \"0.99\"")
    return optionalPrice(key) ?? ("", 0)
  }

  func optionalPrice(_ key: String) -> (text: String, milliunits: Int64)? {
    guard let text = text(key) else { return nil }
    guard let milliunits = Price.milliunits(text) else {
      faults.add(
        place(of: key), "is \(quoted(text)), no price",
        remedy: "write digits with a decimal point and at most three places, such as \"0.99\"")
      return nil
    }
    return (text, milliunits)
  }

  func period(_ key: String) -> Period? {
    guard let text = text(key) else { return nil }
    guard let period = Period(text) else {
      faults.add(
        place(of: key), "is \(quoted(text)), no period",
        remedy: "write P, a number from 1 to 9999 and one of D, W, M, Y, such as \"P1M\"")
      return nil
    }
    return period
  }

  func requiredPeriod(_ key: String) -> Period? {
    require(key, remedy: "add the period, such as \"P1M\"")
    return period(key)
  }

  /// Texts for people, each of a locale of its own.
  ///
  /// - Parameter check: What else is asked of each.
  func localizations(check: (ObjectReader) -> Void = { _ in }) -> [Localization] {
    var seen: Set<String> = []
    return objects("localizations").compactMap { reader in
      check(reader)
      reader.require("locale", remedy: "add the locale, such as \"en_US\"")
      let (name, description) = (reader.text("displayName"), reader.text("description"))
      guard let locale = reader.text("locale") else { return nil }
      if !Localization.isLocale(locale) {
        reader.faults.add(
          reader.place(of: "locale"), "is \(quoted(locale)), no locale",
          remedy: "write a language, and perhaps a script and a region: \"en_US\", \"zh_Hans\"")
      } else if !seen.insert(Localization.tag(locale)).inserted {
        reader.faults.add(
          reader.place(of: "locale"), "\(quoted(locale)) stands here twice",
          remedy: "keep one of the two")
      }
      return Localization(
        locale: locale, displayName: name ?? "", description: description ?? "")
    }
  }
}

extension Localization {
  /// By what two spellings are one locale: Xcode writes `zh_Hans`, the web `zh-Hans`, and case means nothing to
  /// either (RFC 5646 §2.1.1).
  static func tag(_ locale: String) -> String {
    String(locale.lowercased().map { $0 == "_" ? "-" : $0 })
  }

  /// Whether a text can name a locale: 2 to 8 letters, then subtags of 1 to 8 letters or digits.
  static func isLocale(_ text: String) -> Bool {
    let tags = text.utf8.split(omittingEmptySubsequences: false) {
      $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
    }
    func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    guard let language = tags.first, (2...8).contains(language.count),
      language.allSatisfy(isLetter)
    else { return false }
    return tags.dropFirst().allSatisfy { tag in
      (1...8).contains(tag.count) && tag.allSatisfy { isLetter($0) || isDigit($0) }
    }
  }
}

/// A text of a source as shown in a fault: bounded, control characters escaped.
func quoted(_ text: String) -> String {
  String(reflecting: text.count > 80 ? text.prefix(80) + "…" : text)
}
