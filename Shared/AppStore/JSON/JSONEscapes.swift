extension JSONParser {
  /// The text of a JSON string's content with its escapes resolved; nil if it is not valid.
  func unescaped(_ content: ArraySlice<UInt8>) -> String? {
    var text: [UInt8] = []
    text.reserveCapacity(content.count)
    var rest = content
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard let escape = rest.popFirst() else { return nil }
      switch escape {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "f"): text.append(0x0C)
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "r"): text.append(0x0D)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "u"):
        guard let scalar = scalar(&rest) else { return nil }
        text.append(contentsOf: String(Character(scalar)).utf8)
      default: return nil
      }
    }
    return String(validating: text, as: UTF8.self)
  }

  /// The scalar after `\u`, which may take a second `\u` (surrogates).
  private func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
    guard let first = unit(&rest) else { return nil }
    guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
    guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"),
      let second = unit(&rest), (0xDC00..<0xE000).contains(second)
    else { return nil }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  private func unit(_ rest: inout ArraySlice<UInt8>) -> UInt32? {
    let digits = rest.prefix(4)
    rest = rest.dropFirst(4)
    guard digits.count == 4, !digits.contains(UInt8(ascii: "+")),
      !digits.contains(UInt8(ascii: "-"))
    else { return nil }
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
