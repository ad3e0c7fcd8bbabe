/// The fields of one JSON object, read by type; null counts as absent.
public struct PayloadFields: Sendable {
  private let object: JSONObject
  private let path: String

  init(_ value: JSONValue, path: String) throws(PayloadFault) {
    guard case .object(let object) = value else {
      throw PayloadFault(path: path, detail: "expected an object")
    }
    self.object = object
    self.path = path
  }

  func string(_ key: String) throws(PayloadFault) -> String? { try scalar(key) }

  func int32(_ key: String) throws(PayloadFault) -> Int32? { try scalar(key) }

  func bool(_ key: String) throws(PayloadFault) -> Bool? {
    guard let value = object.present(key) else { return nil }
    guard case .bool(let flag) = value else { throw fault(key, "expected true or false") }
    return flag
  }

  func int64(_ key: String) throws(PayloadFault) -> Int64? {
    guard let value = object.present(key) else { return nil }
    guard let number = value.wholeNumber else { throw fault(key, "expected a whole number") }
    return number
  }

  /// UNIX milliseconds; Xcode sends fractions, which are cut towards the past.
  func milliseconds(_ key: String) throws(PayloadFault) -> Int64? {
    guard let value = object.present(key) else { return nil }
    guard let number = value.milliseconds else {
      throw fault(key, "expected a time in milliseconds")
    }
    return number
  }

  func strings(_ key: String) throws(PayloadFault) -> [String]? {
    guard let values = try list(key) else { return nil }
    var texts: [String] = []
    for (index, value) in values.enumerated() {
      guard case .string(let text) = value else {
        throw fault("\(key)[\(index)]", "expected text")
      }
      texts.append(text)
    }
    return texts
  }

  func value<Value: OpenVocabulary>(_ key: String) throws(PayloadFault) -> Value? {
    guard let raw: Value.RawValue = try scalar(key) else { return nil }
    return Value(rawValue: raw)
  }

  func object<Value: Payload>(_ key: String) throws(PayloadFault) -> Value? {
    guard let value = object.present(key) else { return nil }
    return try Value(PayloadFields(value, path: extended(key)))
  }

  func objects<Value: Payload>(_ key: String) throws(PayloadFault) -> [Value]? {
    guard let values = try list(key) else { return nil }
    var objects: [Value] = []
    for (index, value) in values.enumerated() {
      objects.append(try Value(PayloadFields(value, path: extended("\(key)[\(index)]"))))
    }
    return objects
  }

  private func scalar<Value: PayloadScalar>(_ key: String) throws(PayloadFault) -> Value? {
    guard let value = object.present(key) else { return nil }
    guard let scalar = Value(json: value) else { throw fault(key, "expected \(Value.expectation)") }
    return scalar
  }

  private func list(_ key: String) throws(PayloadFault) -> [JSONValue]? {
    guard let value = object.present(key) else { return nil }
    guard case .array(let values) = value else { throw fault(key, "expected a list") }
    return values
  }

  private func fault(_ key: String, _ detail: String) -> PayloadFault {
    PayloadFault(path: extended(key), detail: detail)
  }

  private func extended(_ key: String) -> String { path.isEmpty ? key : path + "." + key }
}
