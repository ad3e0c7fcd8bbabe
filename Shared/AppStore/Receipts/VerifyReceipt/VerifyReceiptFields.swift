/// `verifyReceipt` writes numbers and flags as text, and has changed its mind on some: every form
/// is read.
extension PayloadFields {
  func looseText(_ key: StaticString) throws(PayloadFault) -> String? {
    if let text = try? string(key) { return text }
    if let number = try? int64(key) { return String(number) }
    if let flag = try? bool(key) { return flag ? "true" : "false" }
    // Absent, or neither of the three.
    return try string(key)
  }

  /// The text of the first of two names that is present.
  func looseText(
    _ key: StaticString, or other: StaticString
  ) throws(PayloadFault) -> String? {
    try looseText(has(key) ? key : other)
  }

  func looseNumber(_ key: StaticString) throws(PayloadFault) -> Int64? {
    if let text = try? string(key) {
      if text.isEmpty { return nil }
      if let number = Int64(text) { return number }
    }
    return try int64(key)
  }

  func looseFlag(_ key: StaticString) throws(PayloadFault) -> Bool? {
    switch try looseText(key) {
    case "true", "1": return true
    case "false", "0": return false
    case nil, "": return nil
    default: return try bool(key)
    }
  }

  /// UNIX milliseconds from the field that ends in `_ms`, else from the date as text.
  func looseDate(
    _ milliseconds: StaticString, or key: StaticString
  ) throws(PayloadFault) -> Int64? {
    if let date = try looseNumber(milliseconds) { return date }
    guard let text = try looseText(key), !text.isEmpty else { return nil }
    // Receipts of iOS 6 have milliseconds under the plain name.
    guard let date = Int64(text) ?? ReceiptDate.milliseconds(text) else {
      throw PayloadFault(path: "\(key)", detail: "expected a date")
    }
    return date
  }

  func looseValue<Value: OpenVocabulary>(
    _ key: StaticString
  ) throws(PayloadFault) -> Value? where Value.RawValue == String {
    try looseText(key).map { Value(rawValue: $0) }
  }

  func looseValue<Value: OpenVocabulary>(
    _ key: StaticString
  ) throws(PayloadFault) -> Value? where Value.RawValue == Int32 {
    guard let number = try looseNumber(key) else { return nil }
    guard let value = Int32(exactly: number) else {
      throw PayloadFault(path: "\(key)", detail: "expected a whole number of 32 bits")
    }
    return Value(rawValue: value)
  }

  /// A list of objects; receipts of iOS 6 have the one object itself.
  func looseObjects<Value: Payload>(_ key: StaticString) throws(PayloadFault) -> [Value] {
    do {
      return try objects(key) ?? []
    } catch {
      if let one: Value = try? object(key) { return [one] }
      throw error
    }
  }
}

/// Writes fields as `verifyReceipt` does: nearly all as text, dates three times.
struct VerifyReceiptWriter {
  private var container: KeyedEncodingContainer<Key>

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(_ encoder: any Encoder) { container = encoder.container(keyedBy: Key.self) }

  mutating func text(_ key: String, _ value: String?) throws {
    try container.encodeIfPresent(value, forKey: Key(stringValue: key))
  }

  mutating func number(_ key: String, _ value: Int64?) throws {
    try container.encodeIfPresent(value, forKey: Key(stringValue: key))
  }

  mutating func numberAsText(_ key: String, _ value: Int64?) throws {
    try text(key, value.map { String($0) })
  }

  mutating func flag(_ key: String, _ value: Bool?) throws {
    try text(key, value.map { $0 ? "true" : "false" })
  }

  mutating func digit(_ key: String, _ value: Bool?) throws {
    try text(key, value.map { $0 ? "1" : "0" })
  }

  mutating func date(_ key: String, _ value: Int64?) throws {
    guard let value else { return }
    try text(key, ReceiptDate.greenwichText(value))
    try text(key + "_ms", String(value))
    try text(key + "_pst", ReceiptDate.losAngelesText(value))
  }

  mutating func values(_ key: String, _ value: some Encodable) throws {
    try container.encode(value, forKey: Key(stringValue: key))
  }
}
