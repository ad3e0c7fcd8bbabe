internal import COpenSSL

/// Owns one reference to an `EVP_PKEY`, which is never changed after it was made.
///
/// Unchecked, because openssl-threads(7) says: "Objects are thread-safe as long as the API's being
/// invoked don't modify the object". Signing and verifying only read the key and count references
/// atomically; the contexts, which are not safe to share, are made for each call.
@safe
final class KeyHandle: @unchecked Sendable {
  let handle: OpaquePointer

  /// Takes over the caller's reference.
  init(owning handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe EVP_PKEY_free(handle) }

  var curve: Curve? {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    let known = unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &length)
    guard known == 1 else {
      ErrorQueue.clear()
      return nil
    }
    let text = String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return switch text {
    case "prime256v1", "P-256": .p256
    case "secp384r1", "P-384": .p384
    default: nil
    }
  }

  var isRSA: Bool { unsafe EVP_PKEY_get_base_id(handle) == EVP_PKEY_RSA }

  /// The length of the key, of an RSA key that of its modulus.
  var bits: Int { Int(unsafe EVP_PKEY_get_bits(handle)) }

  /// DER of the SubjectPublicKeyInfo.
  func subjectPublicKeyInfo() throws(CryptographyError) -> [UInt8] {
    guard let der = unsafe DER.encode({ unsafe i2d_PUBKEY(handle, $0) }) else {
      throw .failed("encoding a public key")
    }
    return der
  }

  /// The public point as it stands in a certificate's BIT STRING.
  func encodedPoint() throws(CryptographyError) -> [UInt8] {
    var buffer: UnsafeMutablePointer<UInt8>?
    let count = unsafe EVP_PKEY_get1_encoded_public_key(handle, &buffer)
    guard count > 0, let start = unsafe buffer else { throw .failed("reading a public key") }
    defer { unsafe CRYPTO_free(start, #file, Int32(#line)) }
    return unsafe Array(UnsafeBufferPointer(start: start, count: count))
  }
}

/// The curves in use: P-256 signs data, P-384 signs certificates.
public enum Curve: String, Sendable {
  /// NIST P-256 (prime256v1).
  case p256 = "P-256"
  /// NIST P-384 (secp384r1).
  case p384 = "P-384"
}

/// OpenSSL's two-step `i2d` calls: first the length, then the bytes.
enum DER {
  static func encode(
    _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) -> [UInt8]? {
    let length = write(nil)
    guard length > 0 else { return nil }
    return unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { output, initialized in
      var cursor = output.baseAddress
      initialized = Int(max(0, unsafe write(&cursor)))
    }
  }
}
