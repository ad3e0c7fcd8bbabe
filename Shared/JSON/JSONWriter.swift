/// Writes JSON (RFC 8259) into bytes, without a value in between.
///
/// The caller names the members; whoever wants sorted keys writes them sorted. Members that are nil
/// are left out.
public struct JSONWriter: Sendable {
  /// What was written.
  public private(set) var bytes: [UInt8] = []
  /// Whether the next member or element is the first of its object or list.
  private var isFirst = true

  /// Makes a writer with room for a number of bytes.
  public init(capacity: Int = 1024) { bytes.reserveCapacity(capacity) }

  /// A text as a value, with its quotes.
  public static func value(_ text: String) -> [UInt8] {
    var writer = JSONWriter(capacity: text.utf8.count + 2)
    writer.append(text)
    return writer.bytes
  }

  /// Writes an object.
  public mutating func object(_ members: (inout JSONWriter) -> Void) {
    bytes.append(UInt8(ascii: "{"))
    isFirst = true
    members(&self)
    bytes.append(UInt8(ascii: "}"))
    isFirst = false
  }

  /// Writes a member whose value is an object.
  public mutating func object(_ name: StaticString, _ members: (inout JSONWriter) -> Void) {
    self.name(name)
    object(members)
  }

  /// Writes a member whose value is a list of objects.
  public mutating func objects<Value>(
    _ name: StaticString, _ values: [Value], _ members: (Value, inout JSONWriter) -> Void
  ) {
    self.name(name)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      object { writer in members(value, &writer) }
    }
    bytes.append(UInt8(ascii: "]"))
    isFirst = false
  }

  /// Writes a member whose value is a list of texts.
  public mutating func texts(_ name: StaticString, _ values: [String]?) {
    guard let values else { return }
    self.name(name)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Writes a member that is text.
  public mutating func text(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    self.name(name)
    append(value)
  }

  /// Writes a member that is a whole number.
  public mutating func number(_ name: StaticString, _ value: Int64?) {
    guard let value else { return }
    self.name(name)
    append(value)
  }

  /// Writes a member that is null.
  public mutating func null(_ name: StaticString) {
    self.name(name)
    append("null" as StaticString)
  }

  /// Writes a member that is true or false.
  public mutating func bool(_ name: StaticString, _ value: Bool?) {
    guard let value else { return }
    self.name(name)
    append(value ? "true" : "false" as StaticString)
  }

  private mutating func name(_ name: StaticString) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    bytes.append(UInt8(ascii: "\""))
    append(name)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }

  private mutating func append(_ value: Int64) {
    guard value != 0 else {
      bytes.append(UInt8(ascii: "0"))
      return
    }
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    let start = bytes.count
    var rest = value.magnitude
    while rest > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    }
    bytes[start...].reverse()
  }

  /// Text in quotes; only what RFC 8259 §7 demands is escaped.
  private mutating func append(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    var value = value
    value.withUTF8 { text in
      let count = text.count
      // A signed text is most of its event: room is made for it at once.
      if count > 1024 { bytes.reserveCapacity(bytes.count + count + 512) }
      var start = 0
      var index = 0
      while true {
        index = unsafe PlainText.skip(UnsafeRawBufferPointer(text), from: index)
        guard index < count else { break }
        let byte = unsafe text[index]
        if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
          unsafe bytes.append(contentsOf: text[start..<index])
          escape(byte)
          start = index + 1
        }
        index += 1
      }
      unsafe bytes.append(contentsOf: text[start...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"" as StaticString)
    case UInt8(ascii: "\\"): append("\\\\" as StaticString)
    case 0x08: append("\\b" as StaticString)
    case 0x0C: append("\\f" as StaticString)
    case 0x0A: append("\\n" as StaticString)
    case 0x0D: append("\\r" as StaticString)
    case 0x09: append("\\t" as StaticString)
    default:
      append("\\u00" as StaticString)
      for digit in [byte >> 4, byte & 15] {
        bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      }
    }
  }
}
