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

  func localizations() -> [Localization] {
    objects("localizations").map {
      Localization(
        locale: $0.text("locale") ?? "", displayName: $0.text("displayName") ?? "",
        description: $0.text("description") ?? "")
    }
  }
}

/// A text of a source as shown in a fault: bounded, control characters escaped.
func quoted(_ text: String) -> String {
  String(reflecting: text.count > 80 ? text.prefix(80) + "…" : text)
}
