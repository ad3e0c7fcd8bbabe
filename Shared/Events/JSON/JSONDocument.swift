/// A JSON text, read once into a list of its values in the order of the text.
final class JSONDocument {
  enum Kind: UInt8 {
    case null
    case no
    case yes
    case number
    /// `start..<end` is what stands between the quotes.
    case text
    /// The same, with backslashes in it.
    case escapedText
    /// Followed by key, value, key, value… up to `next`.
    case object
    /// Followed by its elements up to `next`.
    case array
  }

  struct Value {
    var kind: Kind
    var start: Int32
    var end: Int32
    /// The place of the value behind this one and all of its parts.
    var next: Int32
  }

  /// A text that is no JSON, and where.
  struct Fault: Error {
    let reason: String
    let offset: Int
  }

  let bytes: [UInt8]
  let values: [Value]

  /// Reads a text.
  ///
  /// - Throws: `Fault`.
  init(_ bytes: [UInt8]) throws(Fault) {
    guard bytes.count < Int(Int32.max) else { throw Fault(reason: "it is too large", offset: 0) }
    var values: [Value] = []
    values.reserveCapacity(96)
    var scanner = JSONScan(bytes)
    try scanner.value(into: &values, depth: 0)
    try scanner.end()
    self.bytes = bytes
    self.values = values
  }

  /// The text of a string value; nil when it is not UTF-8 or has escapes that mean nothing.
  func text(_ value: Value) -> String? {
    let range = Int(value.start)..<Int(value.end)
    if value.kind == .text {
      return unsafe bytes.withUnsafeBufferPointer { all in
        unsafe String(validating: all[range], as: UTF8.self)
      }
    }
    return JSONEscapes.unescaped(bytes[range])
  }

  /// Whether a key is this text; keys with escapes are compared too.
  func isKey(_ value: Value, _ key: borrowing Span<UInt8>) -> Bool {
    guard value.kind == .text else {
      guard let text = text(value) else { return false }
      return key.count == text.utf8.count
        && text.utf8.elementsEqual((0..<key.count).map { key[$0] })
    }
    guard Int(value.end - value.start) == key.count else { return false }
    let start = Int(value.start)
    for index in 0..<key.count where bytes[start + index] != key[index] { return false }
    return true
  }
}
