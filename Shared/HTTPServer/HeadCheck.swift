/// Refuses heads that libmicrohttpd 0.9.75 accepts but that two readers may understand differently:
/// the ways of request smuggling (RFC 9112 §3.2, §5.1, §6.1, §6.3, §11.2).
enum HeadCheck {
  /// What is wrong with a head; nil when nothing is.
  static func fault(target: String, version: String, headers: Headers) -> String? {
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
      return "The version of the protocol must be HTTP/1.1 or HTTP/1.0."
    }
    guard !target.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      return "The request target holds a space or a control character."
    }
    var hosts = 0
    var lengths = 0
    var codings: [String] = []
    for (name, value) in headers.fields {
      guard isToken(name) else {
        return "The name of a header field holds a space or another character that is no token."
      }
      guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        return "The header field \(name) holds a control character."
      }
      if Headers.same(name, "Host") { hosts += 1 }
      if Headers.same(name, "Transfer-Encoding") { codings.append(value) }
      if Headers.same(name, "Content-Length") {
        lengths += 1
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
          return "Content-Length must be a number."
        }
      }
    }
    if lengths > 1 { return "Content-Length is given more than once." }
    if lengths > 0 && !codings.isEmpty {
      return "Content-Length and Transfer-Encoding exclude each other."
    }
    if !codings.isEmpty && (codings.count > 1 || !Headers.same(codings[0], "chunked")) {
      return "The only Transfer-Encoding that is understood is 'chunked', given once."
    }
    if !codings.isEmpty && version == "HTTP/1.0" { return "HTTP/1.0 has no Transfer-Encoding." }
    if hosts > 1 { return "Host is given more than once." }
    if hosts == 0 && version == "HTTP/1.1" { return "The header field Host is missing." }
    return nil
  }

  /// A token of RFC 9110 §5.6.2.
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
      }
  }
}
