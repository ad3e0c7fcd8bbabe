/// Goes over a JSON text once (RFC 8259).
struct JSONScan {
  private let bytes: [UInt8]
  private var at = 0
  /// Deeper texts are refused, so that nobody can use up the stack.
  private static let deepest = 128

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private func fault(_ reason: String) -> JSONDocument.Fault {
    JSONDocument.Fault(reason: reason, offset: at)
  }

  private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func skipBlanks() {
    while at < bytes.count {
      let byte = bytes[at]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      at += 1
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    at += 1
    return true
  }

  /// Nothing but blanks may follow.
  mutating func end() throws(JSONDocument.Fault) {
    skipBlanks()
    guard at == bytes.count else { throw fault("something follows the value") }
  }

  /// Reads a value and all of its parts.
  mutating func value(into values: inout [JSONDocument.Value], depth: Int)
    throws(JSONDocument.Fault)
  {
    guard depth <= Self.deepest else { throw fault("it is nested too deep") }
    skipBlanks()
    switch next {
    case UInt8(ascii: "{"): try object(into: &values, depth)
    case UInt8(ascii: "["): try array(into: &values, depth)
    case UInt8(ascii: "\""): try text(into: &values)
    case UInt8(ascii: "t"): try word("true", .yes, into: &values)
    case UInt8(ascii: "f"): try word("false", .no, into: &values)
    case UInt8(ascii: "n"): try word("null", .null, into: &values)
    default: try number(into: &values)
    }
  }

  private func add(
    _ kind: JSONDocument.Kind, _ start: Int, _ end: Int, to values: inout [JSONDocument.Value]
  ) {
    values.append(
      JSONDocument.Value(
        kind: kind, start: Int32(start), end: Int32(end), next: Int32(values.count + 1)))
  }

  private mutating func object(into values: inout [JSONDocument.Value], _ depth: Int)
    throws(JSONDocument.Fault)
  {
    let place = values.count
    add(.object, at, at, to: &values)
    at += 1
    skipBlanks()
    if !take(UInt8(ascii: "}")) {
      while true {
        skipBlanks()
        guard next == UInt8(ascii: "\"") else { throw fault("a key is missing") }
        try text(into: &values)
        skipBlanks()
        guard take(UInt8(ascii: ":")) else { throw fault("':' is missing") }
        try value(into: &values, depth: depth + 1)
        skipBlanks()
        if take(UInt8(ascii: "}")) { break }
        guard take(UInt8(ascii: ",")) else { throw fault("',' or '}' is missing") }
      }
    }
    values[place].end = Int32(at)
    values[place].next = Int32(values.count)
  }

  private mutating func array(into values: inout [JSONDocument.Value], _ depth: Int)
    throws(JSONDocument.Fault)
  {
    let place = values.count
    add(.array, at, at, to: &values)
    at += 1
    skipBlanks()
    if !take(UInt8(ascii: "]")) {
      while true {
        try value(into: &values, depth: depth + 1)
        skipBlanks()
        if take(UInt8(ascii: "]")) { break }
        guard take(UInt8(ascii: ",")) else { throw fault("',' or ']' is missing") }
      }
    }
    values[place].end = Int32(at)
    values[place].next = Int32(values.count)
  }

  private mutating func text(into values: inout [JSONDocument.Value]) throws(JSONDocument.Fault) {
    at += 1
    let start = at
    var isEscaped = false
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "\"") {
        add(isEscaped ? .escapedText : .text, start, at, to: &values)
        at += 1
        return
      }
      guard byte >= 0x20 else { throw fault("a text has a control character") }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        at += 1
      }
      at += 1
    }
    throw fault("a text does not end")
  }

  private mutating func word(
    _ word: StaticString, _ kind: JSONDocument.Kind, into values: inout [JSONDocument.Value]
  ) throws(JSONDocument.Fault) {
    let start = at
    for offset in 0..<word.utf8CodeUnitCount {
      guard unsafe take(word.utf8Start[offset]) else { throw fault("this is no value") }
    }
    add(kind, start, at, to: &values)
  }

  private mutating func number(into values: inout [JSONDocument.Value]) throws(JSONDocument.Fault) {
    let start = at
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) {
      guard digits() > 0 else { throw fault("this is no value") }
    }
    if take(UInt8(ascii: ".")) {
      guard digits() > 0 else { throw fault("a number lacks digits") }
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      guard digits() > 0 else { throw fault("a number lacks digits") }
    }
    add(.number, start, at, to: &values)
  }

  private mutating func digits() -> Int {
    let start = at
    while at < bytes.count, bytes[at] &- UInt8(ascii: "0") < 10 { at += 1 }
    return at - start
  }
}
