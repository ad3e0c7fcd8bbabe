import Cryptography
import FoundationEssentials

/// Compact JWS signed with an API key: bearer tokens and what apps hand to StoreKit.
enum KeyedJWS {
  private struct Header: Encodable {
    let alg = "ES256"
    let kid: String
    let typ = "JWT"
  }

  /// The JWS of the claims; absent optionals are left out.
  static func sign(_ claims: some Encodable, with key: APIKey) throws(CryptographyError) -> String {
    let message = try part(Header(kid: key.keyId)) + "." + part(claims)
    return message + "." + Base64URL.encode(try key.signES256(Array(message.utf8)))
  }

  private static func part(_ value: some Encodable) throws(CryptographyError) -> String {
    guard let json = CompactJSON.encode(value) else {
      throw CryptographyError(.operationFailed, "encoding a header or claims as JSON failed")
    }
    return Base64URL.encode(json)
  }
}

/// JSON as it is sent to Apple: one line, names in order, absent optionals left out.
enum CompactJSON {
  /// The UTF-8 text, or nil for a value that JSON cannot hold (an infinite number).
  static func encode(_ value: some Encodable) -> [UInt8]? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try? [UInt8](encoder.encode(value))
  }
}
