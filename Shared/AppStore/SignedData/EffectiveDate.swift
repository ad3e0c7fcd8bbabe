/// The date at which certificates must be valid.
///
/// It is the date of signing, so that old stored data verifies long after its leaf ran out. It is
/// read after the signature stood: whoever could lie about it holds the leaf's key.
enum EffectiveDate {
  /// `signedDate`, else `receiptCreationDate`, else nil; throws unless the payload is an object.
  static func read(_ payload: JSONValue) throws(Rejection) -> Int64? {
    guard case .object(let object) = payload else {
      throw Rejection(.malformedPayload, "the payload is not a JSON object")
    }
    for name in ["signedDate", "receiptCreationDate"] {
      guard let value = object.present(name) else { continue }
      guard let date = value.milliseconds else {
        throw Rejection(.malformedPayload, "field \(name): expected a time in milliseconds")
      }
      return date
    }
    return nil
  }
}
