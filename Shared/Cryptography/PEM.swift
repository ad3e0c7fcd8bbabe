/// Text armour of keys and certificates (RFC 7468), read tolerantly and written strictly.
public enum PEM {
  /// DER in armour of the given label, lines of 64 characters, with a final newline.
  public static func encode(_ der: [UInt8], label: String) -> String {
    let body = Array(Base64.encode(der).utf8)
    var text = "-----BEGIN \(label)-----\n"
    for start in stride(from: 0, to: body.count, by: 64) {
      let line = body[start..<min(start + 64, body.count)]
      text += String(decoding: line, as: UTF8.self) + "\n"
    }
    return text + "-----END \(label)-----\n"
  }

  /// The DER of the first block whose label ends in `suffix`, or of bare base64, or nil.
  ///
  /// Environment variables and secret stores damage such files in known ways; all of these are
  /// read: `\n` written out, CRLF, no last newline, everything on one line, the whole file in
  /// base64 once more, stray `%` or quotes (a shell's mark for a missing newline).
  public static func decode(_ text: String, labelSuffix suffix: String) -> [UInt8]? {
    decode(text, labelSuffix: suffix, mayBeWrapped: true)
  }

  private static func decode(
    _ text: String, labelSuffix suffix: String, mayBeWrapped: Bool
  ) -> [UInt8]? {
    let characters = withoutEscapes(Array(text.utf8))
    if let body = body(of: characters, labelSuffix: suffix) {
      return lenientBase64(body)
    }
    guard mayBeWrapped, !contains(characters, "-----"), let inner = lenientBase64(characters[...])
    else { return nil }
    if contains(inner, "-----BEGIN ") {
      return decode(
        String(decoding: inner, as: UTF8.self), labelSuffix: suffix, mayBeWrapped: false)
    }
    return inner
  }

  /// Turns the two characters `\` and `n` (or `r`) into white space.
  private static func withoutEscapes(_ characters: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < characters.count {
      let isEscape =
        characters[index] == UInt8(ascii: "\\") && index + 1 < characters.count
        && [UInt8(ascii: "n"), UInt8(ascii: "r")].contains(characters[index + 1])
      result.append(isEscape ? UInt8(ascii: "\n") : characters[index])
      index += isEscape ? 2 : 1
    }
    return result
  }

  private static func body(
    of characters: [UInt8], labelSuffix suffix: String
  ) -> ArraySlice<UInt8>? {
    var from = 0
    while let begin = range(of: "-----BEGIN ", in: characters, from: from),
      let labelEnd = range(of: "-----", in: characters, from: begin.upperBound)
    {
      let label = String(
        decoding: characters[begin.upperBound..<labelEnd.lowerBound], as: UTF8.self)
      guard let end = range(of: "-----END", in: characters, from: labelEnd.upperBound) else {
        return nil
      }
      if label.hasSuffix(suffix) { return characters[labelEnd.upperBound..<end.lowerBound] }
      from = end.upperBound
    }
    return nil
  }

  private static func lenientBase64(_ characters: ArraySlice<UInt8>) -> [UInt8]? {
    let ignored = Set(" \t\r\n%\"'".utf8)
    let kept = characters.filter { !ignored.contains($0) }
    return Base64.decode(String(decoding: kept, as: UTF8.self)).flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func contains(_ characters: [UInt8], _ text: String) -> Bool {
    range(of: text, in: characters, from: 0) != nil
  }

  private static func range(
    of text: String, in characters: [UInt8], from start: Int
  ) -> Range<Int>? {
    let pattern = Array(text.utf8)
    guard start >= 0, characters.count >= pattern.count else { return nil }
    var index = start
    while index + pattern.count <= characters.count {
      if characters[index..<(index + pattern.count)].elementsEqual(pattern) {
        return index..<(index + pattern.count)
      }
      index += 1
    }
    return nil
  }
}
