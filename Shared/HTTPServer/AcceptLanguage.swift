extension Request {
  /// The languages of `Accept-Language` (RFC 9110 §12.5.4), the most wanted first; at most 20.
  ///
  /// Those with weight 0 and what is malformed are left out.
  public var acceptedLanguages: [String] {
    var weighted: [(language: String, weight: Double)] = []
    for item in headers.all("Accept-Language").flatMap({ $0.split(separator: ",") }).prefix(20) {
      let parts = item.filter { $0 != " " && $0 != "\t" }.split(separator: ";")
      guard let language = parts.first, !language.isEmpty, language.utf8.count <= 35,
        language.utf8.allSatisfy(Self.isLanguageByte)
      else { continue }
      var weight = 1.0
      if parts.count > 1 {
        guard parts[1].hasPrefix("q="), let given = Double(parts[1].dropFirst(2)),
          (0...1).contains(given)
        else { continue }
        weight = given
      }
      if weight > 0 { weighted.append((language.lowercased(), weight)) }
    }
    // Equal weights keep the order in which they came.
    return weighted.enumerated().sorted { one, other in
      (other.element.weight, one.offset) < (one.element.weight, other.offset)
    }.map(\.element.language)
  }

  private static func isLanguageByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2A: true
    default: false
    }
  }
}
