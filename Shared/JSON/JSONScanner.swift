/// Walks over JSON (RFC 8259) without building anything: finds where values begin and end.
///
/// Foundation's decoder takes a third of a signature check on a transaction's payload. Here one
/// pass checks the grammar and notes the members; only fields that are asked for become values.
public struct JSONScanner {
  private static let deepest = 32
  let bytes: [UInt8]
  /// The byte before which it stands.
  public private(set) var position: Int
  private var isLastTextPlain = true

  /// Stands before a byte of a text that is valid UTF-8.
  public init(_ bytes: [UInt8], from position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  /// Passes one value and answers where it lies, without the space around it.
  public mutating func value(depth: Int) throws(JSONFault) -> Range<Int> {
    guard depth < Self.deepest else { throw fault("nested too deeply") }
    skipSpace()
    let start = position
    switch peek() {
    case UInt8(ascii: "{"):
      try members(depth: depth) { _, _, _ in }
    case UInt8(ascii: "["):
      try elements(depth: depth) { _ in }
    case UInt8(ascii: "\""): _ = try text()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
    return start..<position
  }

  /// Passes an object; `each` gets where a name's content lies, whether it is free of escapes, and
  /// where its value lies.
  public mutating func members(
    depth: Int, _ each: (Range<Int>, Bool, Range<Int>) -> Void
  ) throws(JSONFault) {
    guard take(UInt8(ascii: "{")) else { throw fault("expected an object") }
    skipSpace()
    if take(UInt8(ascii: "}")) { return }
    repeat {
      skipSpace()
      guard peek() == UInt8(ascii: "\"") else { throw fault("expected a name") }
      let name = try text()
      let isPlain = isLastTextPlain
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw fault("expected a colon") }
      each(name, isPlain, try value(depth: depth + 1))
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw fault("expected a comma or the object's end") }
  }

  /// Passes a list; `each` gets where an element lies.
  public mutating func elements(depth: Int, _ each: (Range<Int>) -> Void) throws(JSONFault) {
    guard take(UInt8(ascii: "[")) else { throw fault("expected a list") }
    skipSpace()
    if take(UInt8(ascii: "]")) { return }
    repeat {
      each(try value(depth: depth + 1))
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw fault("expected a comma or the list's end") }
  }

  /// Throws unless only space is left.
  public mutating func end() throws(JSONFault) {
    skipSpace()
    guard position == bytes.count else { throw fault("text after the value") }
  }

  /// Passes a string and answers where its content lies.
  private mutating func text() throws(JSONFault) -> Range<Int> {
    let start = position + 1
    position = start
    isLastTextPlain = true
    while true {
      position = unsafe bytes.withUnsafeBytes { unsafe PlainText.skip($0, from: position) }
      guard let byte = peek() else { break }
      if byte == UInt8(ascii: "\"") {
        position += 1
        return start..<(position - 1)
      }
      guard byte == UInt8(ascii: "\\") else { throw fault("control character in text") }
      isLastTextPlain = false
      // With what is escaped, which may be a quote; the end of the bytes may come before it.
      position = min(position + 2, bytes.count)
    }
    throw fault("text without an end")
  }

  private mutating func word(_ text: StaticString) throws(JSONFault) {
    let end = position + text.utf8CodeUnitCount
    let matches =
      end <= bytes.count
      && text.withUTF8Buffer { unsafe $0.elementsEqual(bytes[position..<end]) }
    guard matches else { throw fault("expected a value") }
    position = end
  }

  private mutating func number() throws(JSONFault) {
    _ = take(UInt8(ascii: "-"))
    let first = position
    try digits()
    guard bytes[first] != UInt8(ascii: "0") || position == first + 1 else {
      throw fault("a number must not begin with 0")
    }
    if take(UInt8(ascii: ".")) { try digits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
  }

  private mutating func digits() throws(JSONFault) {
    let start = position
    while let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
      position += 1
    }
    guard position > start else { throw fault("expected a value") }
  }

  /// Passes space.
  public mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    position += 1
    return true
  }

  private func fault(_ detail: String) -> JSONFault { JSONFault(detail: detail, offset: position) }
}
