/// Why a text is not JSON.
public struct JSONFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was expected.
  public let detail: String
  /// Byte at which reading stopped.
  public let offset: Int
  /// Both.
  public var description: String { "not JSON at byte \(offset): \(detail)" }
}

/// Reads JSON (RFC 8259) strictly: valid UTF-8, nothing after the value, bounded depth.
///
/// Foundation's decoder alone takes longer than the third part of a signature check on a
/// transaction's payload; this reader takes a fraction of that (`Tests/Benchmarks`).
public struct JSONParser {
  private static let deepest = 32
  private let bytes: [UInt8]
  private var position = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The value of a whole text.
  public static func parse(_ bytes: [UInt8]) throws(JSONFault) -> JSONValue {
    var parser = JSONParser(bytes)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.position == bytes.count else { throw parser.fault("text after the value") }
    return value
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
    guard depth < Self.deepest else { throw fault("nested too deeply") }
    skipSpace()
    switch peek() {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func object(depth: Int) throws(JSONFault) -> JSONObject {
    position += 1
    var object = JSONObject()
    skipSpace()
    if take(UInt8(ascii: "}")) { return object }
    object.reserve(depth == 0 ? 32 : 8)
    repeat {
      skipSpace()
      guard peek() == UInt8(ascii: "\"") else { throw fault("expected a name") }
      let name = try string()
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw fault("expected a colon") }
      object.append(name, try value(depth: depth + 1))
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw fault("expected a comma or the object's end") }
    return object
  }

  private mutating func array(depth: Int) throws(JSONFault) -> [JSONValue] {
    position += 1
    var values: [JSONValue] = []
    skipSpace()
    if take(UInt8(ascii: "]")) { return values }
    repeat {
      values.append(try value(depth: depth + 1))
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw fault("expected a comma or the list's end") }
    return values
  }

  private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONFault)
    -> JSONValue
  {
    let end = position + text.utf8CodeUnitCount
    let matches =
      end <= bytes.count
      && text.withUTF8Buffer { unsafe $0.elementsEqual(bytes[position..<end]) }
    guard matches else { throw fault("expected a value") }
    position = end
    return value
  }

  private mutating func string() throws(JSONFault) -> String {
    let start = position + 1
    position = start
    var isPlain = true
    while let byte = peek() {
      if byte == UInt8(ascii: "\"") {
        let content = bytes[start..<position]
        position += 1
        let text = isPlain ? String(validating: content, as: UTF8.self) : unescaped(content)
        guard let text else { throw fault("text is not valid") }
        return text
      }
      guard byte >= 0x20 else { throw fault("control character in text") }
      if byte == UInt8(ascii: "\\") {
        isPlain = false
        position += 1
      }
      position += 1
    }
    throw fault("text without an end")
  }

  private mutating func number() throws(JSONFault) -> JSONValue {
    let start = position
    let isNegative = take(UInt8(ascii: "-"))
    let firstDigit = position
    var magnitude: Int64 = 0
    var fits = true
    while let digit = digit() {
      let (product, overflowed) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, overflowedAgain) = product.subtractingReportingOverflow(Int64(digit))
      // Counted downwards: the negative range holds one more.
      if overflowed || overflowedAgain { fits = false }
      magnitude = sum
    }
    guard position > firstDigit,
      bytes[firstDigit] != UInt8(ascii: "0") || position == firstDigit + 1
    else { throw fault("expected a value") }
    var isWhole = true
    if take(UInt8(ascii: ".")) {
      isWhole = false
      try digits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isWhole = false
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    if isWhole, fits, isNegative || magnitude != .min {
      return .integer(isNegative ? magnitude : -magnitude)
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let value = Double(text), value.isFinite else { throw fault("number out of range") }
    return .number(value)
  }

  private mutating func digits() throws(JSONFault) {
    let start = position
    while digit() != nil {}
    guard position > start else { throw fault("expected a digit") }
  }

  private mutating func digit() -> UInt8? {
    guard let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
      return nil
    }
    position += 1
    return byte - UInt8(ascii: "0")
  }

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  private func fault(_ detail: String) -> JSONFault { JSONFault(detail: detail, offset: position) }
}
