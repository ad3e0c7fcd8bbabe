/// Public keys as JSON Web Keys write them (RFC 7517, RFC 7518 §6), and the signatures they check.
public struct WebKey: Sendable {
  /// The algorithms that are verified; `none` and the symmetric ones are not among them.
  public enum Algorithm: String, Sendable, CaseIterable {
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
  }

  /// Shorter RSA keys are refused (RFC 7518 §3.3: "A key of size 2048 bits or larger MUST be used").
  public static let shortestRSA = 2048
  /// Longer ones cost too much at each verification.
  public static let longestRSA = 8192

  /// The one algorithm that the key is for.
  public let algorithm: Algorithm
  private let key: PublicKey

  /// A key on P-256; the coordinates are of 32 bytes each, and the point must be on the curve.
  public init(p256x x: [UInt8], y: [UInt8]) throws(CryptographyError) {
    guard x.count == 32, y.count == 32 else {
      throw CryptographyError(.invalidKey, "x and y of a key on P-256 have 32 bytes each")
    }
    algorithm = .es256
    key = try PublicKey(spki: Self.p256Prefix + x + y)
    guard key.curve == .p256 else { throw CryptographyError(.wrongKeyType, "not on P-256") }
  }

  /// An RSA key of 2048 to 8192 bits.
  public init(modulus: [UInt8], exponent: [UInt8]) throws(CryptographyError) {
    guard modulus.count <= Self.longestRSA / 8 + 1, (1...8).contains(exponent.count) else {
      throw CryptographyError(.invalidKey, "an RSA key has 2048 to 8192 bits")
    }
    let numbers = ASN1Writer.element(
      .sequence, Self.unsignedInteger(modulus) + Self.unsignedInteger(exponent))
    let spki = ASN1Writer.element(
      .sequence, Self.rsaAlgorithm + ASN1Writer.element(.bits, [0] + numbers))
    algorithm = .rs256
    key = try PublicKey(spki: spki)
    guard key.key.isRSA, (Self.shortestRSA...Self.longestRSA).contains(key.key.bits) else {
      throw CryptographyError(
        .wrongKeyType, "an RSA key has 2048 to 8192 bits, this one has \(key.key.bits)")
    }
  }

  /// Whether a signature, in the form of JWS, is the key's over the message.
  public func verify(signature: [UInt8], over message: [UInt8]) -> Bool {
    switch algorithm {
    case .es256: key.verifyES256(signature: signature, over: message)
    case .rs256: key.verifyRS256(signature: signature, over: message)
    }
  }

  /// Everything of a SubjectPublicKeyInfo before x and y: the algorithm, the curve, "uncompressed".
  private static let p256Prefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A,
    0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
  ]

  /// rsaEncryption (1.2.840.113549.1.1.1) with NULL.
  private static let rsaAlgorithm: [UInt8] = [
    0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
  ]

  /// A number that is never negative, in its shortest form.
  private static func unsignedInteger(_ bytes: [UInt8]) -> [UInt8] {
    var digits = Array(bytes.drop { $0 == 0 })
    if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
    return ASN1Writer.element(.integer, digits)
  }
}

extension PublicKey {
  /// Whether a PKCS#1 v1.5 signature is the RSA key's over SHA-256 of `message`.
  func verifyRS256(signature: [UInt8], over message: [UInt8]) -> Bool {
    key.isRSA && contexts.verify(signature: signature, digest: SHA256.hash(message))
  }
}
