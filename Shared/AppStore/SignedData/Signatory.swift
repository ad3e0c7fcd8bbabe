import Cryptography

/// A proved key, and what to do once a signature by it stood.
struct Signatory {
  let chain: VerifiedChain
  let signer: Signer
  /// Where to remember the header, for a chain that was not found by it.
  var cache: VerifiedChainCache?
  var cacheKey: [UInt8] = []

  var key: PublicKey { chain.leafKey }

  /// Keeps the header's text; called after a signature stood, so strangers cannot add any.
  func remember() { cache?.remember(chain, under: cacheKey) }

  /// Whether all certificates are valid at the date that counts; asked on every use of the cache.
  func check(at date: Int64) throws(Rejection) {
    guard date >= chain.validFrom else {
      throw Rejection(
        .certificateNotYetValid, "a certificate is valid from \(chain.validFrom), not at \(date)")
    }
    guard date <= chain.validThrough else {
      throw Rejection(
        .certificateExpired, "a certificate was valid until \(chain.validThrough), not at \(date)")
    }
  }
}
