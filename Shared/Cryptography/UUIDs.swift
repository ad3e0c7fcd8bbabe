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

  private static func bytes(of text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    let hyphens: Set<Int> = [8, 13, 18, 23]
    var digits: [UInt8] = []
    for (place, character) in characters.enumerated() {
      if hyphens.contains(place) {
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
    [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { Hex.encode(bytes[$0]) }.joined(separator: "-")
  }
}
