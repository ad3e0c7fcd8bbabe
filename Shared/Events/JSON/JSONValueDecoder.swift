/// The way to a container, kept for the words of errors: an array of keys is made only for them.
final class JSONPath {
  private let parent: JSONPath?
  private let key: (any CodingKey)?

  init(_ parent: JSONPath?, _ key: (any CodingKey)?) {
    self.parent = parent
    self.key = key
  }

  var keys: [any CodingKey] { (parent?.keys ?? []) + [key].compactMap { $0 } }
}

/// Reads a value of a document, and its parts by their keys.
struct JSONValueDecoder: Decoder {
  let document: JSONDocument
  let place: Int
  let value: JSONDocument.Value
  private let parent: JSONPath?
  private let key: (any CodingKey)?
  var codingPath: [any CodingKey] { path.keys }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ document: JSONDocument, at place: Int, in parent: JSONPath?, _ key: (any CodingKey)?) {
    self.document = document
    self.place = place
    value = document.values[place]
    self.parent = parent
    self.key = key
  }

  /// The way to this value, for its parts.
  var path: JSONPath { JSONPath(parent, key) }
  var isNull: Bool { value.kind == .null }

  func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard value.kind == .object else { throw mismatch([String: String].self) }
    return KeyedDecodingContainer(JSONObjectDecoding<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard value.kind == .array else { throw mismatch([String].self) }
    return JSONArrayDecoding(decoder: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    JSONSingleDecoding(decoder: self)
  }

  func mismatch(_ type: any Any.Type) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "another kind of value stands there")
    return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  private func corrupted(_ reason: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: reason))
  }

  func bool() throws -> Bool {
    switch value.kind {
    case .yes: return true
    case .no: return false
    default: throw mismatch(Bool.self)
    }
  }

  func text() throws -> String {
    guard value.kind == .text || value.kind == .escapedText else { throw mismatch(String.self) }
    guard let text = document.text(value) else {
      throw corrupted("the text is not UTF-8, or has an escape that means nothing")
    }
    return text
  }

  func double() throws -> Double {
    guard value.kind == .number else { throw mismatch(Double.self) }
    guard let number = Double(numberText), number.isFinite else {
      throw corrupted("\(numberText) is no number that fits")
    }
    return number
  }

  private var numberText: String {
    String(decoding: document.bytes[Int(value.start)..<Int(value.end)], as: UTF8.self)
  }

  func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    guard value.kind == .number else { throw mismatch(type) }
    if let small = smallInteger, let number = Number(exactly: small) { return number }
    if let number = Number(numberText) { return number }
    guard let double = Double(numberText), let number = Number(exactly: double) else {
      throw corrupted("\(numberText) does not fit into \(type)")
    }
    return number
  }

  /// The number, if it is a whole one of at most 18 digits.
  private var smallInteger: Int64? {
    let digits = document.bytes[Int(value.start)..<Int(value.end)]
    let isNegative = digits.first == UInt8(ascii: "-")
    guard digits.count <= 18 else { return nil }
    var number: Int64 = 0
    for byte in digits.dropFirst(isNegative ? 1 : 0) {
      let digit = byte &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      number = number * 10 + Int64(digit)
    }
    return isNegative ? -number : number
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type == String.self, let text = try text() as? Value { return text }
    return try Value(from: self)
  }
}

struct JSONSingleDecoding: SingleValueDecodingContainer {
  let decoder: JSONValueDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try decoder.bool() }
  func decode(_ type: String.Type) throws -> String { try decoder.text() }
  func decode(_ type: Double.Type) throws -> Double { try decoder.double() }
  func decode(_ type: Float.Type) throws -> Float { Float(try decoder.double()) }
  func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
}
