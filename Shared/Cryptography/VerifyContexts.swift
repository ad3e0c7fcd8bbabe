internal import COpenSSL
import Synchronization

/// Idle `EVP_PKEY_CTX` of one key, ready to verify: preparing one costs a tenth of a verification.
///
/// EVP_PKEY_verify(3ssl): "EVP_PKEY_verify() can be called more than once on the same context to
/// have several one-shot operations performed using the same parameters". A context is not for two
/// threads at once, so a thread takes one out of the list while it uses it.
final class VerifyContexts: Sendable {
  /// More idle ones than threads that verify would only cost memory.
  private static let most = 16
  private let key: KeyHandle
  /// Addresses, since a pointer type may not cross threads; each is here or with one thread.
  private let idle = Mutex<[UInt]>([])

  init(_ key: KeyHandle) { self.key = key }

  deinit {
    for address in idle.withLock({ $0 }) {
      unsafe EVP_PKEY_CTX_free(OpaquePointer(bitPattern: address))
    }
  }

  /// Whether a DER signature over a digest stands.
  func verify(signature: [UInt8], digest: [UInt8]) -> Bool {
    guard let context = unsafe take() else { return false }
    let isValid =
      unsafe EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
    if !isValid { ErrorQueue.clear() }
    unsafe giveBack(context)
    return isValid
  }

  private func take() -> OpaquePointer? {
    if let address = idle.withLock({ $0.popLast() }) {
      return unsafe OpaquePointer(bitPattern: address)
    }
    guard let made = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.handle, nil) else {
      ErrorQueue.clear()
      return nil
    }
    guard unsafe EVP_PKEY_verify_init(made) == 1, unsafe setScheme(made) else {
      unsafe EVP_PKEY_CTX_free(made)
      ErrorQueue.clear()
      return nil
    }
    return unsafe made
  }

  /// RSA signatures are of PKCS#1 v1.5 over SHA-256, as RS256 asks (RFC 7518 §3.3).
  private func setScheme(_ context: OpaquePointer) -> Bool {
    guard key.isRSA else { return true }
    return unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
      && EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1
  }

  private func giveBack(_ context: OpaquePointer) {
    let address = UInt(bitPattern: context)
    let isKept = idle.withLock { idle in
      guard idle.count < Self.most else { return false }
      idle.append(address)
      return true
    }
    if !isKept { unsafe EVP_PKEY_CTX_free(context) }
  }
}
