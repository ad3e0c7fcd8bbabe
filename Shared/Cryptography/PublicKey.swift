internal import COpenSSL

/// A public key, free to be used by any number of threads at once.
public struct PublicKey: Sendable {
  let key: KeyHandle
  let contexts: VerifyContexts
  /// The curve, or nil for a key of another kind.
  public let curve: Curve?
  /// DER of the SubjectPublicKeyInfo.
  public let spki: [UInt8]

  init(_ key: KeyHandle) throws(CryptographyError) {
    self.key = key
    contexts = VerifyContexts(key)
    curve = key.curve
    spki = try key.subjectPublicKeyInfo()
  }

  /// Reads DER of a SubjectPublicKeyInfo.
  public init(spki: [UInt8]) throws(CryptographyError) {
    let handle = unsafe spki.withUnsafeBufferPointer { bytes in
      var cursor = bytes.baseAddress
      return unsafe d2i_PUBKEY(nil, &cursor, bytes.count)
    }
    guard let handle = unsafe handle else {
      throw CryptographyError(
        .invalidKey, "not a public key in DER (\(ErrorQueue.takeReason()))")
    }
    try unsafe self.init(KeyHandle(owning: handle))
  }

  /// Whether `signature` (r‖s, 64 bytes) is the P-256 key's over SHA-256 of `message`.
  public func verifyES256(signature: [UInt8], over message: RawSpan) -> Bool {
    verifyES256(signature: signature, digest: SHA256.hash(message))
  }

  /// Whether `signature` (r‖s, 64 bytes) is the P-256 key's over a SHA-256 digest.
  public func verifyES256(signature: [UInt8], digest: [UInt8]) -> Bool {
    guard curve == .p256, digest.count == 32, let der = SignatureForm.der(fromRaw: signature)
    else { return false }
    return contexts.verify(signature: der, digest: digest)
  }

  /// Whether `signature` (r‖s, 64 bytes) is the P-256 key's over SHA-256 of `message`.
  public func verifyES256(signature: [UInt8], over message: [UInt8]) -> Bool {
    unsafe verifyES256(signature: signature, over: message.span.bytes)
  }

  /// Whether a DER signature is the key's over SHA-256 of `message`.
  public func verifyDER(signature: [UInt8], over message: [UInt8]) -> Bool {
    curve != nil && contexts.verify(signature: signature, digest: SHA256.hash(message))
  }
}
