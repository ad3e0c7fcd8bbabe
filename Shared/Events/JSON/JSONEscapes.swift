/// Texts with backslashes (RFC 8259 §7).
enum JSONEscapes {
  /// The text that is meant; nil when it is not UTF-8 or has an escape that means nothing.
  static func unescaped(_ bytes: ArraySlice<UInt8>) -> String? {
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var rest = bytes
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        plain.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "\""): plain.append(UInt8(ascii: "\""))
      case UInt8(ascii: "\\"): plain.append(UInt8(ascii: "\\"))
      case UInt8(ascii: "/"): plain.append(UInt8(ascii: "/"))
      case UInt8(ascii: "b"): plain.append(0x08)
      case UInt8(ascii: "f"): plain.append(0x0C)
      case UInt8(ascii: "n"): plain.append(0x0A)
      case UInt8(ascii: "r"): plain.append(0x0D)
      case UInt8(ascii: "t"): plain.append(0x09)
      case UInt8(ascii: "u"):
        guard let scalar = scalar(&rest) else { return nil }
        plain += String(Character(scalar)).utf8
      default: return nil
      }
    }
    return String(validating: plain, as: UTF8.self)
  }

  /// The character of `\uXXXX`, or of two of them that stand for one.
  private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
    guard let high = unit(&rest) else { return nil }
    guard (0xD800..<0xDC00).contains(high) else { return Unicode.Scalar(high) }
    guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"),
      let low = unit(&rest), (0xDC00..<0xE000).contains(low)
    else { return nil }
    return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
  }

  private static func unit(_ rest: inout ArraySlice<UInt8>) -> UInt32? {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = rest.popFirst(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue
      else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }
}
