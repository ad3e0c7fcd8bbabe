internal import COpenSSL

/// HMAC with SHA-256 (RFC 2104): proves to who has the same secret where a text comes from.
public enum HMACSHA256 {
  /// The code of a text under a secret, 32 bytes.
  public static func code(for text: [UInt8], secret: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var length = UInt32(code.count)
    let isMade = unsafe secret.withUnsafeBufferPointer { secret in
      unsafe text.withUnsafeBufferPointer { text in
        // An empty array may have no address; a key without one means "the key before" to OpenSSL.
        var none: UInt8 = 0
        return unsafe withUnsafePointer(to: &none) { empty in
          unsafe HMAC(
            EVP_sha256(), secret.baseAddress ?? empty, Int32(secret.count),
            text.baseAddress ?? empty, text.count, &code, &length) != nil
        }
      }
    }
    precondition(
      isMade && length == 32, "OpenSSL could not make a code: \(ErrorQueue.takeReason())")
    return code
  }
}
