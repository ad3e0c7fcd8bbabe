/// Parses one JSON text (RFC 8259), bounded in depth, with the line and column of a fault.
///
/// Foundation's decoder loses the order of keys and repeated keys, and its errors have no portable
/// place; a file written by hand needs all three.
struct JSONParser {
  private let bytes: [UInt8]
  private let file: String
  private var position = 0
  private var line = 1
  private var lineStart = 0
  private static let deepest = 64
  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

  /// Parses the whole text.
  ///
  /// Throws `CatalogError.invalidJSON` or `.tooLarge`.
  static func parse(_ bytes: [UInt8], file: String) throws(CatalogError) -> JSONNode {
    guard bytes.count <= Catalog.largestFile else { throw .tooLarge(path: file) }
    var parser = JSONParser(bytes: bytes, file: file)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
    let node = try parser.node(depth: 0)
    parser.skipSpace()
    guard parser.peek == nil else { throw parser.invalid("text after the end of the value") }
    return node
  }

  private init(bytes: [UInt8], file: String) {
    self.bytes = bytes
    self.file = file
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func invalid(_ problem: String) -> CatalogError {
    .invalidJSON(file: file, line: line, column: position - lineStart + 1, problem: problem)
  }

  private mutating func skipSpace() {
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\n"):
        position += 1
        line += 1
        lineStart = position
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
      default: return
      }
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func node(depth: Int) throws(CatalogError) -> JSONNode {
    skipSpace()
    let start = line
    guard depth < Self.deepest else { throw invalid("nested deeper than \(Self.deepest)") }
    let value: JSONValue
    switch peek {
    case UInt8(ascii: "{"): value = .object(try members(depth: depth))
    case UInt8(ascii: "["): value = .array(try elements(depth: depth))
    case UInt8(ascii: "\""): value = .string(try string())
    case UInt8(ascii: "t"): value = try word("true", .bool(true))
    case UInt8(ascii: "f"): value = try word("false", .bool(false))
    case UInt8(ascii: "n"): value = try word("null", .null)
    case nil: throw invalid("the text ends where a value is expected")
    case let byte? where byte == UInt8(ascii: "-") || Self.digits.contains(byte):
      value = .number(try number())
    default: throw invalid("a value is expected")
    }
    return JSONNode(value: value, line: start)
  }

  private mutating func members(depth: Int) throws(CatalogError) -> [JSONMember] {
    position += 1
    var members: [JSONMember] = []
    if take(UInt8(ascii: "}")) { return members }
    repeat {
      skipSpace()
      let start = line
      guard peek == UInt8(ascii: "\"") else { throw invalid("a key in quotes is expected") }
      let key = try string()
      guard take(UInt8(ascii: ":")) else { throw invalid("a colon is expected after the key") }
      members.append(JSONMember(key: key, line: start, node: try node(depth: depth + 1)))
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw invalid("a comma or } is expected") }
    return members
  }

  private mutating func elements(depth: Int) throws(CatalogError) -> [JSONNode] {
    position += 1
    var elements: [JSONNode] = []
    if take(UInt8(ascii: "]")) { return elements }
    repeat {
      elements.append(try node(depth: depth + 1))
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw invalid("a comma or ] is expected") }
    return elements
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(CatalogError) -> JSONValue {
    guard bytes[position...].starts(with: word.utf8) else { throw invalid("a value is expected") }
    position += word.utf8.count
    return value
  }

  private mutating func number() throws(CatalogError) -> String {
    let start = position
    if peek == UInt8(ascii: "-") { position += 1 }
    let first = peek
    let whole = digits()
    guard whole > 0, first != UInt8(ascii: "0") || whole == 1 else {
      throw invalid("this is no number")
    }
    if peek == UInt8(ascii: ".") {
      position += 1
      guard digits() > 0 else { throw invalid("a digit is expected after the point") }
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      position += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
      guard digits() > 0 else { throw invalid("a digit is expected in the exponent") }
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func digits() -> Int {
    let start = position
    while let byte = peek, Self.digits.contains(byte) { position += 1 }
    return position - start
  }

  private mutating func string() throws(CatalogError) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else {
          throw invalid("the text before this is not UTF-8")
        }
        position += 1
        return string
      case UInt8(ascii: "\\"): try escape(into: &text)
      case 0..<0x20: throw invalid("a control character or line end in a text must be escaped")
      default:
        text.append(byte)
        position += 1
      }
    }
    throw invalid("the text ends within quotes")
  }

  private mutating func escape(into text: inout [UInt8]) throws(CatalogError) {
    position += 1
    let plain: UInt8
    switch peek {
    case UInt8(ascii: "u"):
      position += 1
      text.append(contentsOf: String(Character(try escapedScalar())).utf8)
      return
    case UInt8(ascii: "n"): plain = 0x0A
    case UInt8(ascii: "t"): plain = 0x09
    case UInt8(ascii: "r"): plain = 0x0D
    case UInt8(ascii: "b"): plain = 0x08
    case UInt8(ascii: "f"): plain = 0x0C
    case let byte?
    where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
      || byte == UInt8(ascii: "/"):
      plain = byte
    default: throw invalid("unknown escape")
    }
    text.append(plain)
    position += 1
  }

  private mutating func escapedScalar() throws(CatalogError) -> Unicode.Scalar {
    let high = try hexUnit()
    guard (0xD800..<0xDC00).contains(high) else {
      guard let scalar = Unicode.Scalar(high) else { throw invalid("a lone surrogate") }
      return scalar
    }
    guard bytes[position...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else {
      throw invalid("a lone surrogate")
    }
    position += 2
    let low = try hexUnit()
    guard (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
    else { throw invalid("a lone surrogate") }
    return scalar
  }

  private mutating func hexUnit() throws(CatalogError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw invalid("four hexadecimal digits are expected")
      }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }
}
