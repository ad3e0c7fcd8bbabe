internal import COpenSSL

/// A private elliptic-curve key.
///
/// It never describes itself, so it cannot reach a log.
public struct PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
  let key: KeyHandle
  /// The curve.
  public let curve: Curve
  /// The public half.
  public let publicKey: PublicKey

  /// A new key.
  public init(generate curve: Curve) throws(CryptographyError) {
    guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else {
      throw .failed("preparing a key")
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var handle: OpaquePointer?
    let made =
      unsafe EVP_PKEY_keygen_init(context) == 1
      && EVP_PKEY_CTX_set_group_name(context, curve.rawValue) == 1
      && EVP_PKEY_keygen(context, &handle) == 1
    guard made, let handle = unsafe handle else { throw .failed("generating a key") }
    try unsafe self.init(KeyHandle(owning: handle))
  }

  /// Reads a PEM file's text (PKCS#8 or SEC 1), tolerating what environments do to it; see `PEM`.
  public init(pem: String) throws(CryptographyError) {
    guard let der = PEM.decode(pem, labelSuffix: "PRIVATE KEY") else {
      throw CryptographyError(
        .invalidKey,
        "no private key in PEM form; expected the file with the line BEGIN PRIVATE KEY")
    }
    try self.init(der: der)
  }

  /// Reads DER (PKCS#8 or SEC 1).
  public init(der: [UInt8]) throws(CryptographyError) {
    let handle = unsafe der.withUnsafeBufferPointer { bytes in
      var cursor = bytes.baseAddress
      return unsafe d2i_AutoPrivateKey(nil, &cursor, bytes.count)
    }
    guard let handle = unsafe handle else {
      // OpenSSL's reason is left out: nothing about the bytes of a key goes into an error.
      ErrorQueue.clear()
      throw CryptographyError(
        .invalidKey, "the text in PEM form is not a private key; is the file complete?")
    }
    try unsafe self.init(KeyHandle(owning: handle))
  }

  private init(_ key: KeyHandle) throws(CryptographyError) {
    guard let curve = key.curve else {
      throw CryptographyError(.wrongKeyType, "the private key is not on curve P-256 or P-384")
    }
    self.key = key
    self.curve = curve
    publicKey = try PublicKey(key)
  }

  /// PKCS#8 in DER, a secret.
  public func pkcs8() throws(CryptographyError) -> [UInt8] {
    guard let info = unsafe EVP_PKEY2PKCS8(key.handle) else { throw .failed("exporting a key") }
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
    guard let der = unsafe DER.encode({ unsafe i2d_PKCS8_PRIV_KEY_INFO(info, $0) }) else {
      throw .failed("exporting a key")
    }
    return der
  }

  /// PKCS#8 in PEM, a secret.
  public func pem() throws(CryptographyError) -> String {
    PEM.encode(try pkcs8(), label: "PRIVATE KEY")
  }

  /// ES256: r‖s of 64 bytes over SHA-256 of the message.
  ///
  /// Throws `wrongKeyType` unless P-256.
  public func signES256(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    guard curve == .p256 else {
      throw CryptographyError(
        .wrongKeyType, "ES256 needs a P-256 key, this one is \(curve.rawValue)")
    }
    guard let raw = SignatureForm.raw(fromDER: try signDER(message)) else {
      throw .failed("converting a signature")
    }
    return raw
  }

  /// The DER signature over SHA-256 of the message.
  public func signDER(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let digest = SHA256.hash(message)
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.handle, nil) else {
      throw .failed("preparing a signature")
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 144)
    var length = signature.count
    let signed =
      unsafe EVP_PKEY_sign_init(context) == 1
      && EVP_PKEY_sign(context, &signature, &length, digest, digest.count) == 1
    guard signed else { throw .failed("signing") }
    return Array(signature.prefix(length))
  }

  /// Says only what kind of key this is.
  public var description: String { "PrivateKey(\(curve.rawValue))" }
  /// Shows nothing of the key.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
