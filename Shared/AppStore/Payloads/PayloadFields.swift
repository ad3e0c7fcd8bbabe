import JSON

/// The fields of one JSON object, read by type; null counts as absent.
public struct PayloadFields: Sendable {
  private let members: JSONMembers
  private let path: String

  /// The fields of a whole text.
  init(_ members: JSONMembers) {
    self.members = members
    path = ""
  }

  private init(_ bytes: [UInt8], at place: Range<Int>, path: String) throws(PayloadFault) {
    do {
      members = try JSONMembers(bytes, at: place)
    } catch {
      throw PayloadFault(path: path, detail: error.detail)
    }
    self.path = path
  }

  func has(_ key: StaticString) -> Bool { members.find(key) != nil }

  func string(_ key: StaticString) throws(PayloadFault) -> String? {
    guard let place = members.find(key) else { return nil }
    guard let text = members.text(at: place) else { throw fault("\(key)", "expected text") }
    return text
  }

  func int32(_ key: StaticString) throws(PayloadFault) -> Int32? {
    guard let number = try int64(key) else { return nil }
    guard let value = Int32(exactly: number) else {
      throw fault("\(key)", "expected a whole number of 32 bits")
    }
    return value
  }

  func int64(_ key: StaticString) throws(PayloadFault) -> Int64? {
    guard let place = members.find(key) else { return nil }
    guard let number = JSONNumber.whole(members.bytes[place]) else {
      throw fault("\(key)", "expected a whole number")
    }
    return number
  }

  func bool(_ key: StaticString) throws(PayloadFault) -> Bool? {
    guard let place = members.find(key) else { return nil }
    guard let value = members.bool(at: place) else {
      throw fault("\(key)", "expected true or false")
    }
    return value
  }

  /// UNIX milliseconds; Xcode sends fractions, which are cut towards the past.
  func milliseconds(_ key: StaticString) throws(PayloadFault) -> Int64? {
    guard let place = members.find(key) else { return nil }
    guard let number = JSONNumber.floor(members.bytes[place]) else {
      throw fault("\(key)", "expected a time in milliseconds")
    }
    return number
  }

  func strings(_ key: StaticString) throws(PayloadFault) -> [String]? {
    guard let places = try list(key) else { return nil }
    var texts: [String] = []
    for (index, place) in places.enumerated() {
      guard let text = members.text(at: place) else {
        throw fault("\(key)[\(index)]", "expected text")
      }
      texts.append(text)
    }
    return texts
  }

  func value<Value: OpenVocabulary>(
    _ key: StaticString
  ) throws(PayloadFault) -> Value? where Value.RawValue == String {
    try string(key).map { Value(rawValue: $0) }
  }

  func value<Value: OpenVocabulary>(
    _ key: StaticString
  ) throws(PayloadFault) -> Value? where Value.RawValue == Int32 {
    try int32(key).map { Value(rawValue: $0) }
  }

  func object<Value: Payload>(_ key: StaticString) throws(PayloadFault) -> Value? {
    guard let place = members.find(key) else { return nil }
    return try Value(PayloadFields(members.bytes, at: place, path: extended("\(key)")))
  }

  func objects<Value: Payload>(_ key: StaticString) throws(PayloadFault) -> [Value]? {
    guard let places = try list(key) else { return nil }
    var objects: [Value] = []
    for (index, place) in places.enumerated() {
      let path = extended("\(key)[\(index)]")
      objects.append(try Value(PayloadFields(members.bytes, at: place, path: path)))
    }
    return objects
  }

  private func list(_ key: StaticString) throws(PayloadFault) -> [Range<Int>]? {
    guard let place = members.find(key) else { return nil }
    guard let places = members.elements(at: place) else {
      throw fault("\(key)", "expected a list")
    }
    return places
  }

  private func fault(_ key: String, _ detail: String) -> PayloadFault {
    PayloadFault(path: extended(key), detail: detail)
  }

  private func extended(_ key: String) -> String { path.isEmpty ? key : path + "." + key }
}
