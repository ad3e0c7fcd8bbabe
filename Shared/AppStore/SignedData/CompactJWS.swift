import Cryptography
import Glibc

/// The three parts of a compact JWS (RFC 7515 §7.1), cut on UTF-8 bytes.
struct CompactJWS {
  /// base64url of 64 bytes.
  static let signatureLength = 86

  /// Number of bytes of the header part.
  let headerLength: Int
  /// Number of bytes of header, dot and payload: what is signed.
  let signedLength: Int
  let payload: [UInt8]
  let signature: [UInt8]

  /// Cuts the text and decodes payload and signature; the header stays text, since it is looked up
  /// as text.
  init(_ text: Span<UInt8>) throws(Rejection) {
    // ES256 fixes the signature's length, so the second dot has one possible place.
    let second = text.count - Self.signatureLength - 1
    let dot = UInt8(ascii: ".")
    guard let first = Self.firstDot(in: text), second > first, text[second] == dot else {
      throw Rejection(
        .malformedJWS, "expected three parts separated by dots, the last one of 64 bytes")
    }
    guard let payload = Base64URL.decode(text.extracting((first + 1)..<second)) else {
      throw Rejection(.malformedJWS, "the payload is not base64url without padding")
    }
    guard let signature = Base64URL.decode(text.extracting((second + 1)..<text.count)) else {
      throw Rejection(.malformedJWS, "the signature is not base64url without padding")
    }
    headerLength = first
    signedLength = second
    self.payload = payload
    self.signature = signature
  }

  private static func firstDot(in text: Span<UInt8>) -> Int? {
    unsafe text.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress,
        let found = unsafe memchr(start, Int32(UInt8(ascii: ".")), bytes.count)
      else { return nil }
      return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(start)
    }
  }
}
