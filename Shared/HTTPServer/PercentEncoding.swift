/// Percent-decoding (RFC 3986 §2.1) that refuses rather than guesses.
enum PercentEncoding {
  /// The decoded text; nil for a broken escape, bytes that are not UTF-8, or a control character.
  static func decoded(_ raw: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
    // Most texts need no decoding: printable ASCII without `%` and `+`.
    if raw.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x25 && $0 != 0x2B }) {
      return String(decoding: raw, as: UTF8.self)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(raw.count)
    var rest = raw.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case 0x25:
        guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else {
          return nil
        }
        bytes.append(high << 4 | low)
      case 0x2B where plusIsSpace: bytes.append(0x20)
      default: bytes.append(byte)
      }
    }
    guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The text with everything escaped but letters, digits, and `-._~`.
  static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
      default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
