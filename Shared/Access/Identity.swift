import HTTPServer
import ServiceRuntime

/// Says whose a bearer text is: a token has two dots, a key has none.
struct Identity: Sendable {
  let keys: Reloadable<AccessKeys>
  let tokens: TokenVerifier?
  let now: @Sendable () -> Int64

  /// - Throws: `Problem` 401 `unknown-key` or `expired-key`, or what the verifier of tokens says.
  func identify(_ text: String) throws(Problem) -> Principal {
    if let tokens, text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 {
      return try tokens.identify(text)
    }
    switch keys.value.find(text, at: now()) {
    case .valid(let principal): return principal
    case .expired(let principal): throw .expiredKey(principal)
    case .unknown: throw .unknownKey
    }
  }
}

extension Problem {
  fileprivate static func expiredKey(_ principal: Principal) -> Problem {
    Problem(
      status: 401, type: "expired-key", title: "Key expired",
      detail: "The time of this key of '\(principal.name)' is over. Use its successor.",
      headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
  }

  fileprivate static var unknownKey: Problem {
    Problem(
      status: 401, type: "unknown-key", title: "Unknown key",
      detail: "No such key is configured. Keys are stored as SHA-256; check the key file.",
      headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
  }
}
