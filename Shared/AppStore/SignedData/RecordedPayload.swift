import Cryptography

/// Reads the payload of signed text that was proved before it was recorded.
///
/// Proves nothing: for text from `iap.appstore` only, whose writers verify before they write.
public enum RecordedPayload {
  /// Decodes the payload of a JWS; throws `PayloadFault` when it is none or a field is of the wrong
  /// type.
  public static func read<Value: Payload>(_ type: Value.Type = Value.self, from jws: String)
    throws(PayloadFault) -> Value
  {
    let parts = jws.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(Array(parts[1])) else {
      throw PayloadFault(path: "", detail: "not a compact JWS")
    }
    return try Value(json: payload)
  }

  /// SHA-256 of the certificate that heads a recorded JWS, lower-case hex; nil if there is none.
  public static func certificateHash(of jws: String) -> String? {
    let header = jws.utf8.prefix { $0 != UInt8(ascii: ".") }
    return try? SignatureHeader(Array(header).span).parsed().first?.sha256Fingerprint
  }
}
