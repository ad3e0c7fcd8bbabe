extension PayloadFields {
  /// A field without which an answer is of no use.
  func needed<Value>(
    _ key: StaticString, _ read: (StaticString) throws(PayloadFault) -> Value?
  ) throws(PayloadFault) -> Value {
    guard let value = try read(key) else {
      throw PayloadFault(path: "\(key)", detail: "is missing")
    }
    return value
  }
}
