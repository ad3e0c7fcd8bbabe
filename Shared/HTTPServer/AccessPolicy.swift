/// Decides who may use a route.
public struct AccessPolicy: Sendable {
  /// Checks a JWT (a bearer token with two dots) and says who its owner is.
  public typealias TokenVerifier = @Sendable (String) throws(Problem) -> Principal

  private let keys: AccessKeys?
  private let tokens: TokenVerifier?

  /// Lets everyone through everywhere (`PURSER_INSECURE=1`); handlers see no principal.
  public static let insecure = AccessPolicy()

  private init() {
    keys = nil
    tokens = nil
  }

  /// Asks for a key, or for a token where tokens are verified.
  public init(keys: AccessKeys, tokens: TokenVerifier? = nil) {
    self.keys = keys
    self.tokens = tokens
  }

  /// The principal of a request to a route that needs a scope; nil when all are let through.
  ///
  /// - Throws: `Problem` 401 `missing-key` or `unknown-key`, 403 `scope-missing`, or what the token
  ///   verifier says.
  func authorize(_ headers: Headers, scope: Scope) throws(Problem) -> Principal? {
    guard let keys else { return nil }
    guard let key = Self.bearer(headers) else {
      throw Problem(
        status: 401, type: "missing-key", title: "Key missing",
        detail: "Send the API key as 'Authorization: Bearer <key>'.",
        headers: [("WWW-Authenticate", "Bearer")])
    }
    let principal = try principal(key, keys)
    guard principal.holds(scope) else {
      throw Problem(
        status: 403, type: "scope-missing", title: "Scope missing",
        detail: "This needs the scope '\(scope.rawValue)', which '\(principal.name)' lacks.",
        members: ["scope": .string(scope.rawValue)])
    }
    return principal
  }

  private func principal(_ key: String, _ keys: AccessKeys) throws(Problem) -> Principal {
    if let tokens, key.utf8.count(where: { $0 == 0x2E }) == 2 { return try tokens(key) }
    guard let principal = keys.principal(of: key) else {
      throw Problem(
        status: 401, type: "unknown-key", title: "Unknown key",
        detail: "No such key is configured. Keys are stored as SHA-256; check the key file.",
        headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
    }
    return principal
  }

  /// The token after `Bearer` (RFC 6750 §2.1); nil when there is none, or more than one header.
  private static func bearer(_ headers: Headers) -> String? {
    let values = headers.all("Authorization")
    guard values.count == 1, let value = values.first else { return nil }
    let parts = value.split(separator: " ")
    guard parts.count == 2, Headers.same(String(parts[0]), "Bearer") else { return nil }
    return String(parts[1])
  }
}
