internal import COpenSSL

/// A public key, free to be used by any number of threads at once.
public struct PublicKey: Sendable {
  let key: KeyHandle
  /// The curve, or nil for a key of another kind.
  public let curve: Curve?
  /// DER of the SubjectPublicKeyInfo.
  public let spki: [UInt8]

  init(_ key: KeyHandle) throws(CryptographyError) {
    self.key = key
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
    guard curve == .p256, let der = SignatureForm.der(fromRaw: signature) else { return false }
    return verifyDER(signature: der, digest: SHA256.hash(message))
  }

  /// Whether `signature` (r‖s, 64 bytes) is the P-256 key's over SHA-256 of `message`.
  public func verifyES256(signature: [UInt8], over message: [UInt8]) -> Bool {
    unsafe verifyES256(signature: signature, over: message.span.bytes)
  }

  /// Whether a DER signature is the key's over SHA-256 of `message`.
  public func verifyDER(signature: [UInt8], over message: [UInt8]) -> Bool {
    curve != nil && verifyDER(signature: signature, digest: SHA256.hash(message))
  }

  private func verifyDER(signature: [UInt8], digest: [UInt8]) -> Bool {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.handle, nil) else {
      ErrorQueue.clear()
      return false
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    let isValid =
      unsafe EVP_PKEY_verify_init(context) == 1
      && EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
    if !isValid { ErrorQueue.clear() }
    return isValid
  }
}
