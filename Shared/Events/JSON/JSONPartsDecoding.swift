/// The members of an object, found by going over its keys.
struct JSONObjectDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let decoder: JSONValueDecoder
  private let path: JSONPath
  var codingPath: [any CodingKey] { path.keys }

  init(decoder: JSONValueDecoder) {
    self.decoder = decoder
    path = decoder.path
  }

  var allKeys: [Key] {
    var keys: [Key] = []
    forEachMember { key, _ in
      if let key = decoder.document.text(key).flatMap({ Key(stringValue: $0) }) { keys.append(key) }
      return true
    }
    return keys
  }

  private func forEachMember(_ body: (JSONDocument.Value, Int) -> Bool) {
    let values = decoder.document.values
    var place = decoder.place + 1
    while place < Int(decoder.value.next) {
      guard body(values[place], place + 1) else { return }
      place = Int(values[place + 1].next)
    }
  }

  /// The place of a member's value; of a key that stands twice the last counts.
  private func find(_ key: Key) -> Int? {
    var found: Int?
    let name = key.stringValue
    let bytes = name.utf8.span
    let values = decoder.document.values
    let end = Int(decoder.value.next)
    var place = decoder.place + 1
    while place < end {
      if decoder.document.isKey(values[place], bytes) { found = place + 1 }
      place = Int(values[place + 1].next)
    }
    return found
  }

  private func member(_ key: Key) throws -> JSONValueDecoder {
    guard let place = find(key) else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "the member is missing"))
    }
    return JSONValueDecoder(decoder.document, at: place, in: path, key)
  }

  /// The member, unless it is missing or null.
  private func present(_ key: Key) -> JSONValueDecoder? {
    guard let place = find(key), decoder.document.values[place].kind != .null else { return nil }
    return JSONValueDecoder(decoder.document, at: place, in: path, key)
  }

  func contains(_ key: Key) -> Bool { find(key) != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try member(key).isNull }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).bool() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).text() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).double() }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    Float(try member(key).double())
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).integer(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).integer(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try member(key).integer(type)
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try member(key).integer(type)
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try member(key).integer(type)
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).integer(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try member(key).integer(type)
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try member(key).integer(type)
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try member(key).integer(type)
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try member(key).integer(type)
  }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try member(key).decode(type)
  }

  // Each of these by itself would look for the member three times.
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key)?.bool()
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key)?.text()
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try present(key)?.integer(type)
  }
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try present(key)?.decode(type)
  }

  func nestedContainer<Nested>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try member(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

/// The elements of an array, one after the other.
struct JSONArrayDecoding: UnkeyedDecodingContainer {
  private let decoder: JSONValueDecoder
  private let path: JSONPath
  var codingPath: [any CodingKey] { path.keys }
  private(set) var currentIndex = 0
  private var place: Int

  init(decoder: JSONValueDecoder) {
    self.decoder = decoder
    path = decoder.path
    place = decoder.place + 1
  }

  var count: Int? {
    var count = 0
    var place = decoder.place + 1
    while place < Int(decoder.value.next) {
      count += 1
      place = Int(decoder.document.values[place].next)
    }
    return count
  }

  var isAtEnd: Bool { place >= Int(decoder.value.next) }

  private mutating func element() throws -> JSONValueDecoder {
    let index = JSONIndex(currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: codingPath + [index], debugDescription: "the array has ended"))
    }
    let element = JSONValueDecoder(decoder.document, at: place, in: path, index)
    place = Int(element.value.next)
    currentIndex += 1
    return element
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, decoder.document.values[place].kind == .null else { return false }
    _ = try element()
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool { try element().bool() }
  mutating func decode(_ type: String.Type) throws -> String { try element().text() }
  mutating func decode(_ type: Double.Type) throws -> Double { try element().double() }
  mutating func decode(_ type: Float.Type) throws -> Float { Float(try element().double()) }
  mutating func decode(_ type: Int.Type) throws -> Int { try element().integer(type) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try element().integer(type) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try element().integer(type) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try element().integer(type) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try element().integer(type) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try element().integer(type) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try element().integer(type) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try element().integer(type) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try element().integer(type) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try element().integer(type) }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try element().decode(type)
  }
  mutating func nestedContainer<Nested>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try element().container(keyedBy: type) }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try element().unkeyedContainer()
  }
  mutating func superDecoder() throws -> any Decoder { try element() }
}
