import Cryptography

/// Decides whether the certificates of a header may sign; when they may is checked later.
struct ChainTrust: Sendable {
  /// The extension of Apple's Worldwide Developer Relations intermediates.
  static let intermediateMarker = "1.2.840.113635.100.6.2.1"
  /// The extension of certificates that sign receipts and transactions.
  static let leafMarker = "1.2.840.113635.100.6.11.1"

  let roots: [Certificate]
  let cache: VerifiedChainCache
  let gate: (@Sendable () -> Bool)?

  /// The chain of exactly three certificates, from the cache or verified now.
  func chain(of header: SignatureHeader) throws(Rejection) -> VerifiedChain {
    guard header.certificates.count == 3 else {
      throw Rejection(
        .chainLength, "x5c holds \(header.certificates.count) certificates instead of 3")
    }
    // The third entry is not trusted and proves nothing, so it is no part of the key.
    let key = SHA256.hash("x5c:\(header.certificates[0]).\(header.certificates[1])")
    if let chain = cache.find(key) {
      cache.countHit()
      _ = try header.parsed()
      return chain
    }
    cache.countMiss()
    if let gate, !gate() {
      throw Rejection(.busy, "too many unknown certificate chains at once; try again")
    }
    let chain = try verify(try header.parsed())
    cache.remember(chain, under: key)
    return chain
  }

  private func verify(_ certificates: [Certificate]) throws(Rejection) -> VerifiedChain {
    let leaf = certificates[0]
    let intermediate = certificates[1]
    let chain: VerifiedChain
    do {
      chain = try CertificateChain.verify(leaf: leaf, intermediate: intermediate, roots: roots)
    } catch {
      throw Rejection(.untrustedChain, "the certificates do not lead to a pinned root: \(error)")
    }
    guard intermediate.hasExtension(oid: Self.intermediateMarker) else {
      throw Rejection(
        .missingMarker, "the intermediate lacks the extension \(Self.intermediateMarker)")
    }
    guard leaf.hasExtension(oid: Self.leafMarker) else {
      throw Rejection(.missingMarker, "the leaf lacks the extension \(Self.leafMarker)")
    }
    guard chain.leafKey.curve == .p256 else {
      throw Rejection(.wrongKey, "the leaf's key is not on curve P-256")
    }
    return chain
  }
}
