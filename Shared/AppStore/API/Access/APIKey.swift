public import Cryptography

/// An In-App Purchase key of App Store Connect: whose it is, and its private half.
///
/// It never describes its private half, so it cannot reach a log.
public struct APIKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The issuer's id, a UUID shown above the list of keys.
  public let issuerId: String
  /// The key's id, ten characters.
  public let keyId: String
  private let privateKey: PrivateKey

  /// The public half, for checks.
  public var publicKey: PublicKey { privateKey.publicKey }

  /// Reads the text of a `.p8` file, tolerating what environments do to it (`PEM.decode`).
  public init(issuerId: String, keyId: String, pem: String) throws(APIKeyFault) {
    let key: PrivateKey
    do {
      key = try PrivateKey(pem: pem)
    } catch {
      // Cryptography's words hold nothing of the text.
      throw APIKeyFault(keyId: keyId, detail: error.detail)
    }
    try self.init(issuerId: issuerId, keyId: keyId, privateKey: key)
  }

  /// Takes a key that was read before; throws unless it is on P-256 and both ids are given.
  public init(
    issuerId: String, keyId: String, privateKey: PrivateKey
  ) throws(APIKeyFault) {
    self.issuerId = Self.trimmed(issuerId)
    self.keyId = Self.trimmed(keyId)
    self.privateKey = privateKey
    guard !self.issuerId.isEmpty else {
      throw APIKeyFault(
        keyId: self.keyId, detail: "no issuer id; App Store Connect shows it above the keys")
    }
    guard !self.keyId.isEmpty else {
      throw APIKeyFault(
        keyId: self.keyId, detail: "no key id; it is the ten characters after SubscriptionKey_")
    }
    guard privateKey.curve == .p256 else {
      throw APIKeyFault(
        keyId: self.keyId,
        detail: "the key is on \(privateKey.curve.rawValue); an In-App Purchase key is on P-256")
    }
  }

  /// What looks unlike a key of App Store Connect though it may work elsewhere; one sentence each.
  public var oddities: [String] {
    var oddities: [String] = []
    if UUIDs.normalized(issuerId) == nil {
      oddities.append("the issuer id of key \(keyId) is not a UUID")
    }
    let isPlain = keyId.utf8.allSatisfy {
      (48...57).contains($0) || (65...90).contains($0)
    }
    if keyId.utf8.count != 10 || !isPlain {
      oddities.append("the key id \(keyId) is not ten capital letters and digits")
    }
    return oddities
  }

  /// ES256: 64 bytes over SHA-256 of the message.
  func signES256(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try privateKey.signES256(message)
  }

  /// The DER form over SHA-256 of the message.
  func signDER(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try privateKey.signDER(message)
  }

  /// Ids only.
  public var description: String { "APIKey(\(keyId) of issuer \(issuerId))" }
  /// Ids only.
  public var customMirror: Mirror {
    Mirror(self, children: ["issuerId": issuerId, "keyId": keyId])
  }

  private static func trimmed(_ text: String) -> String {
    let kept = text.drop(while: \.isWhitespace)
    let end = kept.lastIndex { !$0.isWhitespace }.map(kept.index(after:))
    return String(kept[..<(end ?? kept.startIndex)])
  }
}

/// A key that cannot be used; nothing of its private half is in it.
public struct APIKeyFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The key's id as configured.
  public let keyId: String
  /// What is wrong and what to do.
  public let detail: String
  /// Both.
  public var description: String { "API key \(keyId.isEmpty ? "without id" : keyId): \(detail)" }
}
