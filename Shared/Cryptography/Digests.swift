internal import COpenSSL

/// SHA-256 of bytes or of a text's UTF-8.
public enum SHA256 {
  /// The digest, 32 bytes.
  public static func hash(_ bytes: RawSpan) -> [UInt8] { Digest.sha256.hash(bytes) }
  /// The digest, 32 bytes.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] { unsafe hash(bytes.span.bytes) }
  /// The digest of the text's UTF-8, 32 bytes.
  public static func hash(_ text: String) -> [UInt8] { unsafe hash(text.utf8.span.bytes) }
  /// The digest, 32 bytes; copies the bytes first.
  public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] { hash(Array(bytes)) }
  /// The digests of everything before each of the places, in one pass; the places must ascend.
  public static func hashes(of bytes: RawSpan, before places: [Int]) -> [[UInt8]] {
    Digest.sha256.hashes(of: bytes, before: places)
  }
  /// The digest as 64 lower-case hexadecimal characters.
  public static func hex(_ bytes: [UInt8]) -> String { Hex.encode(hash(bytes)) }
  /// The digest of the text's UTF-8 as 64 lower-case hexadecimal characters.
  public static func hex(_ text: String) -> String { Hex.encode(hash(text)) }
}

/// SHA-1, only for what is defined with it: UUID version 5, key identifiers, old receipts.
public enum SHA1 {
  /// The digest, 20 bytes.
  public static func hash(_ bytes: RawSpan) -> [UInt8] { Digest.sha1.hash(bytes) }
  /// The digest, 20 bytes.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] { unsafe hash(bytes.span.bytes) }
  /// The digest of the text's UTF-8, 20 bytes.
  public static func hash(_ text: String) -> [UInt8] { unsafe hash(text.utf8.span.bytes) }
  /// The digest, 20 bytes; copies the bytes first.
  public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] { hash(Array(bytes)) }
  /// The digest as 40 lower-case hexadecimal characters.
  public static func hex(_ bytes: [UInt8]) -> String { Hex.encode(hash(bytes)) }
  /// The digest of the text's UTF-8 as 40 lower-case hexadecimal characters.
  public static func hex(_ text: String) -> String { Hex.encode(hash(text)) }
}

/// Owns one fetched `EVP_MD`; fetching once saves a lookup in OpenSSL's provider at every hash.
///
/// Unchecked, because openssl-threads(7) says: "Objects are thread-safe as long as the API's being
/// invoked don't modify the object; in this case the parameter is usually marked in the API as
/// "const"." `EVP_DigestInit_ex` takes `const EVP_MD *`.
@safe
struct Digest: @unchecked Sendable {
  static let sha256 = Digest(name: "SHA256", size: 32)
  static let sha1 = Digest(name: "SHA1", size: 20)
  static let sha384 = Digest(name: "SHA384", size: 48)

  let handle: OpaquePointer
  let size: Int

  private init(name: String, size: Int) {
    guard let handle = unsafe EVP_MD_fetch(nil, name, nil) else {
      // An OpenSSL without SHA-2 is not the library this program was built with.
      preconditionFailure("OpenSSL has no digest \(name): \(ErrorQueue.takeReason())")
    }
    unsafe self.handle = handle
    self.size = size
  }

  func hash(_ bytes: RawSpan) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: size) { output, count in
      let hashed = unsafe bytes.withUnsafeBytes { input in
        unsafe EVP_Digest(
          input.baseAddress, input.count, output.baseAddress, nil, handle, nil)
      }
      precondition(hashed == 1, "OpenSSL could not hash: \(ErrorQueue.takeReason())")
      count = size
    }
  }

  func hashes(of bytes: RawSpan, before places: [Int]) -> [[UInt8]] {
    var digests = [[UInt8]](repeating: [UInt8](repeating: 0, count: size), count: places.count)
    let hashed = unsafe bytes.withUnsafeBytes { input in
      guard let context = unsafe EVP_MD_CTX_new(), let branch = unsafe EVP_MD_CTX_new() else {
        return false
      }
      defer {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_CTX_free(branch)
      }
      guard unsafe EVP_DigestInit_ex(context, handle, nil) == 1 else { return false }
      var start = 0
      for (index, place) in places.enumerated() {
        let part = unsafe UnsafeRawBufferPointer(rebasing: input[start..<place])
        guard unsafe EVP_DigestUpdate(context, part.baseAddress, part.count) == 1 else {
          return false
        }
        // The last one needs no copy of its state, as nothing goes on from it.
        let isLast = index == places.count - 1
        guard unsafe isLast || EVP_MD_CTX_copy_ex(branch, context) == 1,
          unsafe EVP_DigestFinal_ex(isLast ? context : branch, &digests[index], nil) == 1
        else { return false }
        start = place
      }
      return true
    }
    precondition(hashed, "OpenSSL could not hash: \(ErrorQueue.takeReason())")
    return digests
  }
}
