import Cryptography

/// What proves a request to Apple's API; a secret as long as it lives.
public struct BearerToken: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  /// The JWT itself; take it only where it is sent.
  public let reveal: String
  /// `iat`, UNIX seconds.
  public let issuedAt: Int64
  /// `exp`, UNIX seconds; at most 20 minutes after `issuedAt`.
  public let expiresAt: Int64

  /// Apple refuses more than 60 minutes, and exactly 60 as well.
  static let longestLifetime: Int64 = 20 * 60
  /// `iat` lies so far back, for a clock that is ahead of Apple's.
  static let backdating: Int64 = 60
  /// A token is renewed so long before its end, for slow requests and a clock that is behind.
  static let margin: Int64 = 5 * 60

  /// Signs a token; `now` in UNIX milliseconds.
  init(key: APIKey, bundleId: String, now: Int64) throws(CryptographyError) {
    let seconds = now / 1000
    issuedAt = seconds - Self.backdating
    expiresAt = issuedAt + Self.longestLifetime
    reveal = try KeyedJWS.sign(
      Claims(iss: key.issuerId, iat: issuedAt, exp: expiresAt, bid: bundleId), with: key)
  }

  /// Whether it can be sent; a clock that was set back makes it unfit too.
  func isFit(now: Int64) -> Bool {
    let seconds = now / 1000
    return seconds >= issuedAt && seconds < expiresAt - Self.margin
  }

  private struct Claims: Encodable {
    let iss: String
    let iat: Int64
    let exp: Int64
    let aud = "appstoreconnect-v1"
    let bid: String
  }

  /// Never the token.
  public var description: String { "BearerToken(until \(expiresAt))" }
  /// Nothing of the token.
  public var customMirror: Mirror { Mirror(self, children: ["expiresAt": expiresAt]) }
}
