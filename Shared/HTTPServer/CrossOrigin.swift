/// Lets browsers show answers to pages of other origins (the Fetch standard's CORS protocol).
///
/// Credentials of the browser are never asked for: callers send a bearer text by themselves.
public struct CrossOrigin: Sendable {
  private let origins: Set<String>
  private let allowsAll: Bool

  /// Takes origins such as `https://shop.example.com`, or `*` for all.
  ///
  /// Nil if one of them is no origin.
  public init?(origins: [String]) {
    guard !origins.isEmpty, origins.allSatisfy({ $0 == "*" || Self.isOrigin($0) }) else {
      return nil
    }
    self.origins = Set(origins)
    allowsAll = origins.contains("*")
  }

  /// Scheme, host and perhaps a port; nothing behind it.
  private static func isOrigin(_ text: String) -> Bool {
    for scheme in ["https://", "http://"] where text.hasPrefix(scheme) {
      let host = text.dropFirst(scheme.count)
      return !host.isEmpty
        && host.utf8.allSatisfy { byte in
          switch byte {
          case 0x30...0x3A, 0x61...0x7A, 0x2D, 0x2E, 0x5B, 0x5D: true
          default: false
          }
        }
    }
    return false
  }

  /// Whether a page of this origin may see answers.
  private func allows(_ origin: String) -> Bool { allowsAll || origins.contains(origin) }

  /// The fields of every answer to a request.
  func fields(_ headers: Headers) -> [(String, String)] {
    guard let origin = headers["Origin"], allows(origin) else { return [("Vary", "Origin")] }
    return [
      ("Vary", "Origin"), ("Access-Control-Allow-Origin", origin),
      ("Access-Control-Expose-Headers", Self.exposed),
    ]
  }

  /// The answer to a browser that asks before it asks; nil when this is no such question.
  func preflight(_ request: Request, allowed: [String]) -> Response? {
    guard let origin = request.headers["Origin"], allows(origin),
      request.headers["Access-Control-Request-Method"] != nil
    else { return nil }
    return Response(
      status: 204,
      headers: [
        ("Access-Control-Allow-Methods", allowed.joined(separator: ", ")),
        ("Access-Control-Allow-Headers", Self.asked), ("Access-Control-Max-Age", "600"),
      ])
  }

  private static let asked =
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Prefer, "
    + "X-Request-Id, traceparent"
  private static let exposed =
    "ETag, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
}
