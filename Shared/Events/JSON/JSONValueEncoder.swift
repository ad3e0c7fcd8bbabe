/// Writes one value; an object or array is put together when the value has written all of itself.
final class JSONValueEncoder: Encoder {
  private enum Kind {
    case none
    case single
    case object
    case array
  }

  let output: JSONOutput
  private let parent: JSONValueEncoder?
  private let key: (any CodingKey)?
  /// Made only for the words of errors.
  var codingPath: [any CodingKey] { (parent?.codingPath ?? []) + [key].compactMap { $0 } }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  private let start: Int
  private var kind = Kind.none
  private(set) var pieces: [JSONOutput.Piece] = []

  init(_ output: JSONOutput, in parent: JSONValueEncoder?, _ key: (any CodingKey)?) {
    self.output = output
    self.parent = parent
    self.key = key
    start = output.bytes.count
  }

  /// Writes a value that may have parts.
  func write<Value: Encodable>(_ value: Value, key: (any CodingKey)?) throws {
    if Value.self == String.self, let text = value as? String { return output.write(text) }
    let encoder = JSONValueEncoder(output, in: self, key)
    try value.encode(to: encoder)
    try encoder.finish(value)
  }

  func finish(_ value: some Encodable) throws {
    switch kind {
    case .none:
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: "\(type(of: value)) wrote nothing"))
    case .single: break
    case .object: output.endObject(from: start, pieces)
    case .array: output.endArray(from: start, pieces)
    }
  }

  var count: Int { pieces.count }

  /// Notes what the body writes as a member, or as an element.
  @inline(__always)
  func piece(_ key: String, _ body: () throws -> Void) rethrows {
    let start = output.bytes.count
    try body()
    pieces.append(JSONOutput.Piece(key: key, range: start..<output.bytes.count))
  }

  func write(_ number: Double, key: (any CodingKey)?) throws {
    guard output.write(number) else {
      throw EncodingError.invalidValue(
        number,
        .init(
          codingPath: codingPath + [key].compactMap { $0 },
          debugDescription: "JSON has no number \(number)"))
    }
  }

  func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    kind = .object
    pieces.reserveCapacity(24)
    return KeyedEncodingContainer(JSONObjectEncoding<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    kind = .array
    return JSONArrayEncoding(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    kind = .single
    return JSONSingleEncoding(encoder: self)
  }

  /// Events are plain values; what builds its parts out of order is not one.
  func unsupported() -> Never {
    preconditionFailure("an event writes its parts by encode(_:forKey:)")
  }
}

struct JSONObjectEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: JSONValueEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  private func integer(_ value: some BinaryInteger, _ key: Key) {
    encoder.piece(key.stringValue) { encoder.output.write(value) }
  }

  func encodeNil(forKey key: Key) {
    encoder.piece(key.stringValue) { encoder.output.writeNull() }
  }
  func encode(_ value: Bool, forKey key: Key) {
    encoder.piece(key.stringValue) { encoder.output.write(value) }
  }
  func encode(_ value: String, forKey key: Key) {
    encoder.piece(key.stringValue) { encoder.output.write(value) }
  }
  func encode(_ value: Double, forKey key: Key) throws {
    try encoder.piece(key.stringValue) { try encoder.write(value, key: key) }
  }
  func encode(_ value: Float, forKey key: Key) throws {
    try encode(Double("\(value)") ?? .nan, forKey: key)
  }
  func encode(_ value: Int, forKey key: Key) { integer(value, key) }
  func encode(_ value: Int8, forKey key: Key) { integer(value, key) }
  func encode(_ value: Int16, forKey key: Key) { integer(value, key) }
  func encode(_ value: Int32, forKey key: Key) { integer(value, key) }
  func encode(_ value: Int64, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt8, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt16, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt32, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt64, forKey key: Key) { integer(value, key) }
  func encode(_ value: some Encodable, forKey key: Key) throws {
    try encoder.piece(key.stringValue) { try encoder.write(value, key: key) }
  }

  func nestedContainer<Nested>(
    keyedBy keyType: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { encoder.unsupported() }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.unsupported()
  }
  func superEncoder() -> any Encoder { encoder.unsupported() }
  func superEncoder(forKey key: Key) -> any Encoder { encoder.unsupported() }
}

struct JSONArrayEncoding: UnkeyedEncodingContainer {
  let encoder: JSONValueEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.count }

  private func integer(_ value: some BinaryInteger) {
    encoder.piece("") { encoder.output.write(value) }
  }

  func encodeNil() { encoder.piece("") { encoder.output.writeNull() } }
  func encode(_ value: Bool) { encoder.piece("") { encoder.output.write(value) } }
  func encode(_ value: String) { encoder.piece("") { encoder.output.write(value) } }
  func encode(_ value: Double) throws {
    try encoder.piece("") { try encoder.write(value, key: JSONIndex(count)) }
  }
  func encode(_ value: Float) throws { try encode(Double("\(value)") ?? .nan) }
  func encode(_ value: Int) { integer(value) }
  func encode(_ value: Int8) { integer(value) }
  func encode(_ value: Int16) { integer(value) }
  func encode(_ value: Int32) { integer(value) }
  func encode(_ value: Int64) { integer(value) }
  func encode(_ value: UInt) { integer(value) }
  func encode(_ value: UInt8) { integer(value) }
  func encode(_ value: UInt16) { integer(value) }
  func encode(_ value: UInt32) { integer(value) }
  func encode(_ value: UInt64) { integer(value) }
  func encode(_ value: some Encodable) throws {
    try encoder.piece("") { try encoder.write(value, key: JSONIndex(count)) }
  }

  func nestedContainer<Nested>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
    encoder.unsupported()
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unsupported() }
  func superEncoder() -> any Encoder { encoder.unsupported() }
}

struct JSONSingleEncoding: SingleValueEncodingContainer {
  let encoder: JSONValueEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil() { encoder.output.writeNull() }
  func encode(_ value: Bool) { encoder.output.write(value) }
  func encode(_ value: String) { encoder.output.write(value) }
  func encode(_ value: Double) throws { try encoder.write(value, key: nil) }
  func encode(_ value: Float) throws { try encode(Double("\(value)") ?? .nan) }
  func encode(_ value: Int) { encoder.output.write(value) }
  func encode(_ value: Int8) { encoder.output.write(value) }
  func encode(_ value: Int16) { encoder.output.write(value) }
  func encode(_ value: Int32) { encoder.output.write(value) }
  func encode(_ value: Int64) { encoder.output.write(value) }
  func encode(_ value: UInt) { encoder.output.write(value) }
  func encode(_ value: UInt8) { encoder.output.write(value) }
  func encode(_ value: UInt16) { encoder.output.write(value) }
  func encode(_ value: UInt32) { encoder.output.write(value) }
  func encode(_ value: UInt64) { encoder.output.write(value) }
  func encode(_ value: some Encodable) throws { try encoder.write(value, key: nil) }
}

/// The place of an element, for the words of errors.
struct JSONIndex: CodingKey {
  let index: Int

  init(_ index: Int) { self.index = index }
  init?(intValue: Int) { index = intValue }
  init?(stringValue: String) { return nil }

  var intValue: Int? { index }
  var stringValue: String { "\(index)" }
}
