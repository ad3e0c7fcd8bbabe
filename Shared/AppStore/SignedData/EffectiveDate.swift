/// The date at which certificates must be valid.
///
/// It is the date of signing, so that old stored data verifies long after its leaf ran out. It is
/// read after the signature stood: whoever could lie about it holds the leaf's key.
enum EffectiveDate {
  /// `signedDate`, else `receiptCreationDate`, else nil.
  static func read(_ payload: PayloadFields) throws(Rejection) -> Int64? {
    do {
      if let date = try payload.milliseconds("signedDate") { return date }
      return try payload.milliseconds("receiptCreationDate")
    } catch {
      throw Rejection(.malformedPayload, error.description)
    }
  }
}
