/// Reads numbers of JSON, whose grammar was checked before.
public enum JSONNumber {
  /// The number as a whole one, or nil if it is no number, has a fraction or does not fit.
  public static func whole(_ text: ArraySlice<UInt8>) -> Int64? {
    integer(text) ?? double(text).flatMap { Int64(exactly: $0) }
  }

  /// The number cut towards the past: a time in milliseconds.
  public static func floor(_ text: ArraySlice<UInt8>) -> Int64? {
    integer(text) ?? double(text).flatMap { Int64(exactly: $0.rounded(.down)) }
  }

  private static func integer(_ text: ArraySlice<UInt8>) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? text.dropFirst() : text
    guard !digits.isEmpty else { return nil }
    // Counted downwards: the negative range holds one more.
    var value: Int64 = 0
    for byte in digits {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflowedToo) = product.subtractingReportingOverflow(
        Int64(byte - UInt8(ascii: "0")))
      if overflowed || overflowedToo { return nil }
      value = sum
    }
    if isNegative { return value }
    return value == .min ? nil : -value
  }

  private static func double(_ text: ArraySlice<UInt8>) -> Double? {
    guard let first = text.first, first == UInt8(ascii: "-") || (48...57).contains(first) else {
      return nil
    }
    return Double(String(decoding: text, as: UTF8.self))
  }
}

/// Reads text of JSON, whose ends and UTF-8 were checked before.
public enum JSONText {
  /// The text of a string's content with its escapes resolved; nil for an escape that is none.
  public static func decode(_ content: ArraySlice<UInt8>) -> String? {
    let isPlain = unsafe content.withUnsafeBytes { bytes in
      unsafe PlainText.skip(bytes, from: 0) == bytes.count
    }
    guard !isPlain else { return String(decoding: content, as: UTF8.self) }
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
    return String(decoding: text, as: UTF8.self)
  }

  /// The scalar after `\u`, which may take a second `\u` (surrogates).
  private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
    guard let first = unit(&rest) else { return nil }
    guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
    guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"),
      let second = unit(&rest), (0xDC00..<0xE000).contains(second)
    else { return nil }
    return Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
  }

  private static func unit(_ rest: inout ArraySlice<UInt8>) -> UInt32? {
    let digits = rest.prefix(4)
    rest = rest.dropFirst(4)
    guard digits.count == 4, digits.allSatisfy({ isHexDigit($0) }) else { return nil }
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }
}
