import Cryptography
import JSON

/// A JWS header as Apple sends it; everything but `alg` and `x5c` is ignored.
struct SignatureHeader {
  /// The entries of `x5c` as text.
  let certificates: [String]

  init(_ text: Span<UInt8>) throws(Rejection) {
    guard let bytes = Base64URL.decode(text) else {
      throw Rejection(.malformedJWS, "the header is not base64url without padding")
    }
    let header: PayloadFields
    do {
      header = PayloadFields(try JSONMembers(bytes))
    } catch {
      throw Rejection(.malformedJWS, "the header is not a JSON object")
    }
    guard let algorithm = try? header.string("alg") else {
      throw Rejection(.malformedJWS, "the header has no alg")
    }
    guard algorithm == "ES256" else {
      throw Rejection(.wrongAlgorithm, "alg is not ES256")
    }
    // RFC 7515 §4.1.11: an extension that must be understood and is not.
    guard !header.has("crit") else {
      throw Rejection(.malformedJWS, "the header demands extensions that Apple does not use")
    }
    guard let certificates = try? header.strings("x5c") else {
      throw Rejection(.malformedJWS, "the header has no list x5c of texts")
    }
    self.certificates = certificates
  }

  /// The certificates, parsed.
  func parsed() throws(Rejection) -> [Certificate] {
    var parsed: [Certificate] = []
    for (index, text) in certificates.enumerated() {
      guard let der = Base64.decode(text) else {
        throw Rejection(.invalidCertificate, "x5c[\(index)] is not standard base64")
      }
      do {
        parsed.append(try Certificate(der: der))
      } catch {
        throw Rejection(.invalidCertificate, "x5c[\(index)]: \(error.detail)")
      }
    }
    return parsed
  }
}
