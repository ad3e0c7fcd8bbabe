/// UUIDs as lower-case text, the only form that Purser writes.
public enum UUIDs {
  /// A random UUID (RFC 9562 §5.4).
  public static func version4() -> String {
    text(of: randomBytes(16), version: 4)
  }

  /// The UUID of a name in a namespace (RFC 9562 §5.5); the same for the same input, for ever.
  ///
  /// A namespace that is no UUID is itself hashed as the namespace's bytes, so the answer stays
  /// a pure function of both texts.
  public static func version5(namespace: String, name: String) -> String {
    let space = bytes(of: namespace) ?? Array(SHA1.hash(namespace).prefix(16))
    return text(of: Array(SHA1.hash(space + Array(name.utf8)).prefix(16)), version: 5)
  }

  /// The canonical lower-case form, or nil if the text is not a UUID of 36 characters.
  public static func normalized(_ text: String) -> String? {
    bytes(of: text).map(canonical)
  }

  private static func isHyphen(_ place: Int) -> Bool {
    place == 8 || place == 13 || place == 18 || place == 23
  }

  private static func bytes(of text: String) -> [UInt8]? {
    guard text.utf8.count == 36 else { return nil }
    var digits: [UInt8] = []
    digits.reserveCapacity(32)
    for (place, character) in text.utf8.enumerated() {
      if isHyphen(place) {
        guard character == UInt8(ascii: "-") else { return nil }
      } else {
        digits.append(character)
      }
    }
    return Hex.decode(String(decoding: digits, as: UTF8.self))
  }

  private static func text(of random: [UInt8], version: UInt8) -> String {
    var bytes = random
    bytes[6] = bytes[6] & 0x0F | version << 4
    bytes[8] = bytes[8] & 0x3F | 0x80
    return canonical(bytes)
  }

  private static func canonical(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for byte in bytes {
      if isHyphen(text.count) { text.append(UInt8(ascii: "-")) }
      text.append(Hex.digit(byte >> 4))
      text.append(Hex.digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }
}
