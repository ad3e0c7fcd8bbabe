public import Cryptography
import Synchronization

/// Bearer tokens in use, one per key and app, each signed once and renewed before it ends.
public final class BearerTokens: Sendable {
  private struct Subject: Hashable {
    let issuerId: String
    let keyId: String
    let bundleId: String
    /// A replaced key file must not live on under the same id.
    let publicKey: [UInt8]
  }

  private let limit: Int
  private let clock: @Sendable () -> Int64
  private let tokens = Mutex<[Subject: BearerToken]>([:])

  /// Keeps at most `limit` tokens; the clock gives UNIX milliseconds.
  public init(limit: Int = 256, clock: @escaping @Sendable () -> Int64) {
    self.limit = max(1, limit)
    self.clock = clock
  }

  /// A token that is fit now; throws what the signature throws.
  public func token(
    for bundleId: String, key: APIKey
  ) throws(CryptographyError) -> BearerToken {
    let subject = Self.subject(bundleId, key)
    let now = clock()
    if let known = tokens.withLock({ $0[subject] }), known.isFit(now: now) { return known }
    // Signed outside the lock: two at once make two good tokens.
    let token = try BearerToken(key: key, bundleId: bundleId, now: now)
    tokens.withLock { tokens in
      tokens[subject] = token
      guard tokens.count > limit,
        let oldest = tokens.min(by: { $0.value.expiresAt < $1.value.expiresAt })
      else { return }
      tokens.removeValue(forKey: oldest.key)
    }
    return token
  }

  /// Drops a token that Apple refused, so that the next request signs anew.
  public func forget(for bundleId: String, key: APIKey) {
    let subject = Self.subject(bundleId, key)
    tokens.withLock { _ = $0.removeValue(forKey: subject) }
  }

  private static func subject(_ bundleId: String, _ key: APIKey) -> Subject {
    Subject(
      issuerId: key.issuerId, keyId: key.keyId, bundleId: bundleId, publicKey: key.publicKey.spki)
  }
}
