import Cryptography
import HTTPServer
import ServiceRuntime

/// Says which customer a token of the app team's own issuer is for.
///
/// A token that was verified once is known by its hash until it expires, so that an app that sends
/// the same one again costs no second verification.
final class TokenVerifier: Sendable {
  private struct Known: Sendable {
    let principal: Principal
    let expires: Int64
    /// Of which set of keys it was verified.
    let generation: Int
  }

  private let issuer: String
  private let audience: String
  private let scopes: Set<Scope>
  private let keys: any TokenKeys
  private let known = RecentMemory<[UInt8], Known>(limit: 20_000)
  /// Each new token costs a verification on the thread of the connections: at most so many a second.
  private let gate = TokenBucket(perSecond: 1000, burst: 2000)
  private let now: @Sendable () -> Int64
  private let verified: Counter
  private let refused: Counter

  init(
    issuer: String, audience: String, maySpend: Bool, keys: any TokenKeys, metrics: Metrics,
    now: @escaping @Sendable () -> Int64
  ) {
    self.issuer = issuer
    self.audience = audience
    scopes =
      maySpend ? [.orders, .entitlementsRead, .entitlementsWrite] : [.orders, .entitlementsRead]
    self.keys = keys
    self.now = now
    verified = metrics.counter(
      "access_tokens_verified_total", "Tokens whose signature was checked.")
    refused = metrics.counter("access_tokens_refused_total", "Tokens that let nobody in.")
  }

  /// - Throws: `Problem` 401 `bad-token` or `expired-token`, 503 `token-keys-missing` or
  ///   `overloaded`.
  func identify(_ text: String) throws(Problem) -> Principal {
    do throws(Problem) {
      return try find(text)
    } catch {
      refused.add()
      throw error
    }
  }

  /// Waits for the keys that were asked for; false when they did not come.
  func keysArrive() async -> Bool { await keys.arrive() }

  private func find(_ text: String) throws(Problem) -> Principal {
    let hash = SHA256.hash(text)
    let now = now()
    let (set, generation) = keys.current
    if let found = known[hash], found.generation == generation {
      guard now < found.expires + TokenClaims.leeway else { throw .expiredToken }
      return found.principal
    }
    let token: UnprovedToken
    do throws(TokenFault) {
      token = try UnprovedToken(text)
    } catch {
      throw .badToken(error.detail)
    }
    try checkSignature(token, set)
    let claims: TokenClaims
    do throws(TokenFault) {
      claims = try TokenClaims(payload: token.payload)
      try claims.check(issuer: issuer, audience: audience, at: now)
    } catch {
      throw .badToken(error.detail)
    }
    guard !claims.hasExpired(at: now) else { throw .expiredToken }
    let principal = Principal(
      name: "token:\(claims.customer)", scopes: scopes, customer: claims.customer)
    known.set(
      Known(principal: principal, expires: claims.expires, generation: generation), for: hash)
    return principal
  }

  private func checkSignature(_ token: UnprovedToken, _ set: WebKeySet) throws(Problem) {
    let key: WebKey
    switch set.find(id: token.keyId, token.algorithm) {
    case .key(let found): key = found
    case .unknownId:
      // The issuer may have a new key: it is asked for, and the request waits for the answer.
      throw keys.refresh() ? .tokenKeysMissing : .tokenKeyUnknown
    case .ambiguous:
      throw .badToken("The token's header has no 'kid', and the issuer has several keys.")
    }
    guard gate.take() else {
      throw .overloaded("More new tokens come than are verified in a second. Try again.")
    }
    verified.add()
    guard key.verify(signature: token.signature, over: token.message) else {
      throw .badToken("The token's signature is not its issuer's.")
    }
  }
}

extension Problem {
  fileprivate static func badToken(_ detail: String) -> Problem {
    Problem(
      status: 401, type: "bad-token", title: "Token refused", detail: detail,
      headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
  }

  fileprivate static var expiredToken: Problem {
    Problem(
      status: 401, type: "expired-token", title: "Token expired",
      detail: "The token's time is over. Get a new one from your issuer.",
      headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
  }
}
