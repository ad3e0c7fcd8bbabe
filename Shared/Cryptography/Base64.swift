/// Standard base64 with padding (RFC 4648 §4), strict: no line breaks, no other alphabet.
public enum Base64 {
  /// The text with padding.
  public static func encode(_ bytes: [UInt8]) -> String {
    SixBits.standard.encode(bytes, padded: true)
  }

  /// The bytes, or nil for a wrong length, character, padding or non-zero trailing bits.
  public static func decode(_ text: String) -> [UInt8]? {
    let characters = text.utf8.span
    let count = characters.count
    guard count.isMultiple(of: 4) else { return nil }
    let padding = UInt8(ascii: "=")
    var end = count
    if end > 0, characters[end - 1] == padding { end -= 1 }
    if end > 0, end == count - 1, characters[end - 1] == padding { end -= 1 }
    return SixBits.standard.decode(characters.extracting(0..<end))
  }
}

/// base64url without padding (RFC 7515 §2), strict: one text for one value.
public enum Base64URL {
  /// The text, without padding.
  public static func encode(_ bytes: [UInt8]) -> String {
    SixBits.url.encode(bytes, padded: false)
  }

  /// The bytes, or nil for padding, another alphabet, a wrong length or non-zero trailing bits.
  public static func decode(_ text: String) -> [UInt8]? { decode(text.utf8.span) }

  /// The bytes of a slice of UTF-8, under the same rules.
  public static func decode(_ characters: Span<UInt8>) -> [UInt8]? {
    SixBits.url.decode(characters)
  }

  /// The bytes of an array's UTF-8, under the same rules.
  public static func decode(_ characters: [UInt8]) -> [UInt8]? { decode(characters.span) }
}

/// One alphabet of 64 characters, both ways.
private struct SixBits: Sendable {
  static let standard = SixBits("+/")
  static let url = SixBits("-_")

  private static let invalid: UInt8 = 0xFF
  /// Set in a group when one of its characters is not in the alphabet.
  private static let invalidGroup: UInt32 = 0xFF00_0000
  private let alphabet: [UInt8]
  /// 256 entries, `invalid` for what is not in the alphabet.
  private let values: [UInt8]
  /// The same four times, each moved to where the first to fourth character of a group stands.
  private let groups: [UInt32]

  private init(_ lastTwo: String) {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + lastTwo
    alphabet = Array(letters.utf8)
    var values = [UInt8](repeating: Self.invalid, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    self.values = values
    groups = [18, 12, 6, 0].flatMap { shift in
      values.map { $0 == Self.invalid ? Self.invalidGroup : UInt32($0) << shift }
    }
  }

  func encode(_ bytes: [UInt8], padded: Bool) -> String {
    let whole = bytes.count / 3
    let rest = bytes.count % 3
    let length = padded ? (bytes.count + 2) / 3 * 4 : whole * 4 + (rest == 0 ? 0 : rest + 1)
    return unsafe String(unsafeUninitializedCapacity: length) { output in
      var position = 0
      var index = 0
      for _ in 0..<whole {
        let group =
          UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
        unsafe output[position] = alphabet[Int(group >> 18)]
        unsafe output[position + 1] = alphabet[Int(group >> 12 & 63)]
        unsafe output[position + 2] = alphabet[Int(group >> 6 & 63)]
        unsafe output[position + 3] = alphabet[Int(group & 63)]
        position += 4
        index += 3
      }
      guard rest > 0 else { return position }
      let second = rest == 2 ? UInt32(bytes[index + 1]) : 0
      let group = UInt32(bytes[index]) << 16 | second << 8
      unsafe output[position] = alphabet[Int(group >> 18)]
      unsafe output[position + 1] = alphabet[Int(group >> 12 & 63)]
      if rest == 2 { unsafe output[position + 2] = alphabet[Int(group >> 6 & 63)] }
      if padded {
        for place in (position + rest + 1)..<(position + 4) {
          unsafe output[place] = UInt8(ascii: "=")
        }
      }
      return length
    }
  }

  func decode(_ characters: Span<UInt8>) -> [UInt8]? {
    let count = characters.count
    let rest = count % 4
    guard rest != 1 else { return nil }
    let length = count / 4 * 3 + (rest == 0 ? 0 : rest - 1)
    var valid = true
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: length) { output, initialized in
      unsafe values.withUnsafeBufferPointer { values in
        unsafe characters.withUnsafeBufferPointer { characters in
          var index = 0
          var position = 0
          var all: UInt32 = 0
          unsafe groups.withUnsafeBufferPointer { groups in
            while index + 4 <= count {
              let group =
                unsafe groups[Int(characters[index])]
                | groups[256 + Int(characters[index + 1])]
                | groups[512 + Int(characters[index + 2])]
                | groups[768 + Int(characters[index + 3])]
              all |= group
              unsafe output[position] = UInt8(truncatingIfNeeded: group >> 16)
              unsafe output[position + 1] = UInt8(truncatingIfNeeded: group >> 8)
              unsafe output[position + 2] = UInt8(truncatingIfNeeded: group)
              index += 4
              position += 3
            }
          }
          if all & Self.invalidGroup != 0 { valid = false }
          if rest >= 2 {
            let a = unsafe values[Int(characters[index])]
            let b = unsafe values[Int(characters[index + 1])]
            let c = rest == 3 ? unsafe values[Int(characters[index + 2])] : 0
            let trailing = rest == 2 ? b & 15 : c & 3
            if (a | b | c) & 0xC0 != 0 || trailing != 0 { valid = false }
            let group = UInt32(a & 63) << 18 | UInt32(b & 63) << 12 | UInt32(c & 63) << 6
            unsafe output[position] = UInt8(truncatingIfNeeded: group >> 16)
            if rest == 3 { unsafe output[position + 1] = UInt8(truncatingIfNeeded: group >> 8) }
          }
        }
      }
      initialized = length
    }
    return valid ? bytes : nil
  }
}
