public import Cryptography

/// Why a signature for StoreKit was not made.
public enum SignatureFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// A field cannot be signed as it is; which one, and what it must be.
  case badField(String, String)
  /// The key did not sign.
  case signing(CryptographyError)

  /// The fault and the remedy.
  public var description: String {
    switch self {
    case .badField(let field, let detail): "\(field) \(detail)"
    case .signing(let error): "signing failed: \(error)"
    }
  }
}

/// Checks of what is signed, and the forms that StoreKit compares with.
enum SignedFields {
  /// A nonce as StoreKit writes it: lower case.
  static func nonce(_ text: String) throws(SignatureFault) -> String {
    guard let nonce = UUIDs.normalized(text) else {
      throw .badField("nonce", "must be a UUID, a new one for each signature")
    }
    return nonce
  }

  static func needed(_ text: String, _ field: String) throws(SignatureFault) -> String {
    guard !text.isEmpty else { throw .badField(field, "must not be empty") }
    return text
  }
}
