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
    version5(namespace: Self.namespace(namespace), name: name)
  }

  /// The same, for a namespace whose bytes were read before.
  public static func version5(namespace: [UInt8], name: String) -> String {
    var hashed = namespace
    hashed.append(contentsOf: name.utf8)
    return text(of: Array(SHA1.hash(hashed).prefix(16)), version: 5)
  }

  /// The bytes of a namespace, for whoever makes many names in it.
  public static func namespace(_ text: String) -> [UInt8] {
    bytes(of: text) ?? Array(SHA1.hash(text).prefix(16))
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
    unsafe String(unsafeUninitializedCapacity: 36) { text in
      var place = 0
      for byte in bytes {
        if isHyphen(place) {
          unsafe text[place] = UInt8(ascii: "-")
          place += 1
        }
        unsafe text[place] = Hex.digit(byte >> 4)
        unsafe text[place + 1] = Hex.digit(byte & 15)
        place += 2
      }
      return place
    }
  }
}
