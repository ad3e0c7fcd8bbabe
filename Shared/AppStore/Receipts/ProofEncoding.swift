import Cryptography

/// Base64 as clients really send it.
///
/// Read are: line breaks and other space, also written out as `\n`; quotes around it; slashes as
/// `\/`; percent-encoding; the alphabet of URLs; missing padding; a `data:` prefix; base64 of
/// base64. A `+` that a form decoder turned into a space is put back.
enum ProofEncoding {
  /// More than any receipt has: those of heavy buyers come near 1 MiB.
  static let defaultSizeLimit = 4 << 20

  /// What the text may stand for, the likeliest first; empty if it is no base64.
  static func candidates(_ text: String) -> [[UInt8]] {
    let characters = trimmed(text)
    guard !characters.isEmpty else { return [] }
    // Spaces within the text were either put between its lines or stood for `+`.
    let variants: [[UInt8]]
    if characters.contains(UInt8(ascii: " ")) {
      let plus = UInt8(ascii: "+")
      variants = [
        characters.map { $0 == UInt8(ascii: " ") ? plus : $0 },
        characters.filter { $0 != UInt8(ascii: " ") },
      ]
    } else {
      variants = [characters]
    }
    return variants.compactMap(decode)
  }

  /// The characters that count: without quotes, prefix, escapes, percent signs and line breaks.
  static func trimmed(_ text: String) -> [UInt8] {
    var characters = withoutEscapes(percentDecoded(Array(text.utf8)))
    characters.removeAll { $0 == 0x0A || $0 == 0x0D || $0 == 0x09 || $0 == 0x00 }
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if characters.starts(with: byteOrderMark) { characters.removeFirst(byteOrderMark.count) }
    let wrapping = Set(" \"'".utf8)
    var body = characters[...]
    while let first = body.first, wrapping.contains(first) { body.removeFirst() }
    while let last = body.last, wrapping.contains(last) { body.removeLast() }
    return Array(withoutPrefix(body))
  }

  /// One layer of base64, or two where the inner one is a receipt's.
  private static func decode(_ characters: [UInt8]) -> [UInt8]? {
    guard let bytes = decodeOnce(characters) else { return nil }
    // `MI` begins the base64 of every SEQUENCE longer than 127 bytes; DER never begins with it.
    guard bytes.starts(with: Array("MI".utf8)), let inner = decodeOnce(bytes) else { return bytes }
    return inner
  }

  private static func decodeOnce(_ characters: [UInt8]) -> [UInt8]? {
    var kept: [UInt8] = []
    kept.reserveCapacity(characters.count)
    for character in characters {
      switch character {
      case UInt8(ascii: "+"): kept.append(UInt8(ascii: "-"))
      case UInt8(ascii: "/"): kept.append(UInt8(ascii: "_"))
      case 0x0A, 0x0D: continue
      default: kept.append(character)
      }
    }
    while kept.last == UInt8(ascii: "=") { kept.removeLast() }
    guard !kept.isEmpty else { return nil }
    return Base64URL.decode(kept)
  }

  private static func withoutPrefix(_ body: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard body.starts(with: Array("data:".utf8)),
      let comma = body.prefix(128).firstIndex(of: UInt8(ascii: ","))
    else { return body }
    return body[(comma + 1)...]
  }

  private static func percentDecoded(_ characters: [UInt8]) -> [UInt8] {
    guard characters.contains(UInt8(ascii: "%")) else { return characters }
    var result: [UInt8] = []
    result.reserveCapacity(characters.count)
    var index = 0
    while index < characters.count {
      if characters[index] == UInt8(ascii: "%"), index + 2 < characters.count,
        let byte = Hex.decode(
          String(decoding: characters[(index + 1)...(index + 2)], as: UTF8.self))?.first
      {
        result.append(byte)
        index += 3
      } else {
        result.append(characters[index])
        index += 1
      }
    }
    return result
  }

  /// Turns `\n`, `\r` and `\t` into nothing, and `\/` and `\"` into what they stand for.
  private static func withoutEscapes(_ characters: [UInt8]) -> [UInt8] {
    let backslash = UInt8(ascii: "\\")
    guard characters.contains(backslash) else { return characters }
    var result: [UInt8] = []
    result.reserveCapacity(characters.count)
    var index = 0
    while index < characters.count {
      let next = index + 1 < characters.count ? characters[index + 1] : 0
      if characters[index] != backslash {
        result.append(characters[index])
        index += 1
      } else if Set("nrt".utf8).contains(next) {
        index += 2
      } else {
        // Only the backslash goes.
        index += 1
      }
    }
    return result
  }
}
