/// Percent-encoding of path segments and query values (RFC 3986 §2.1).
enum PercentText {
  /// All but letters, digits and `-._~` is encoded.
  static func encode(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return encoded
  }
}

/// Checks of what callers give, before anything is sent.
enum RequestParts {
  /// Longest id in a path, in bytes; Apple's are far shorter.
  private static let longestSegment = 256

  /// An id as one segment of a path.
  ///
  /// - Throws: `badRequest` for an empty or overlong one, and for dots that would change the path.
  static func segment(_ text: String, _ field: String) throws(APIError) -> String {
    guard !text.isEmpty, text.utf8.count <= longestSegment, text != ".", text != ".." else {
      throw bad(field, "\(field) must have 1 to \(longestSegment) bytes and be no dots alone")
    }
    return PercentText.encode(text)
  }

  static func bad(_ field: String, _ message: String) -> APIError {
    APIError(.badRequest(field: field), message: message)
  }

  static func json(_ value: some Encodable) throws(APIError) -> [UInt8] {
    guard let json = CompactJSON.encode(value) else {
      throw bad("the body", "the body cannot be written as JSON")
    }
    return json
  }
}
