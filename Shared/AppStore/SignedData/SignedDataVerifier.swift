public import Cryptography
import JSON

/// Proves that data was signed by Apple and is meant for a configured app.
///
/// Only configuration chooses what is trusted: roots, bundle ids, app ids, environments. All work
/// is done on the caller's thread, and any number of threads may call at once.
public struct SignedDataVerifier: Sendable {
  /// SHA-256 of Apple Root CA - G3.
  static let appleRootFingerprint =
    "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"

  let apps: [AppIdentity]
  let trust: ChainTrust
  private let clock: @Sendable () -> Int64

  /// Builds a verifier, or throws with every fault of its configuration.
  ///
  /// - Parameters:
  ///   - roots: the pinned roots; for Apple, Apple Root CA - G3.
  ///   - apps: the accepted apps, each bundle id once.
  ///   - cacheLimit: most entries in the cache of verified chains.
  ///   - uncachedChainGate: asked before each costly check of an unknown chain; false means `busy`.
  ///   - clock: UNIX milliseconds now; counts only for payloads without a date.
  public init(
    roots: [Certificate], apps: [AppIdentity], cacheLimit: Int = 64,
    uncachedChainGate: (@Sendable () -> Bool)? = nil, clock: @escaping @Sendable () -> Int64
  ) throws(VerifierConfigurationFault) {
    var faults = VerifierConfigurationFault.faults(
      apps: apps, roots: roots, noRoot: "no root certificate is configured",
      appleRoot: Self.appleRootFingerprint)
    if cacheLimit < 1 { faults.append("the cache of chains must hold at least one") }
    guard faults.isEmpty else { throw VerifierConfigurationFault(faults: faults) }
    self.apps = apps
    self.clock = clock
    trust = ChainTrust(
      roots: roots, cache: VerifiedChainCache(limit: cacheLimit), gate: uncachedChainGate)
  }

  /// How the cache of verified chains is doing, for metrics.
  public var cacheCounts: ChainCacheCounts { trust.cache.counts }

  /// Checks format, chain and signature, nothing about app and environment.
  public func verifySignature(_ jws: String) throws(Rejection) -> SignedBytes {
    let parsed = try checkSignature(jws)
    return SignedBytes(raw: parsed.raw, signer: parsed.signer)
  }

  /// What stands after the signature was checked; the payload's members are found, not yet read.
  struct Signed {
    let raw: [UInt8]
    let textHash: [UInt8]
    let fields: PayloadFields
    let signer: Signer
    let certificates: [Certificate]
  }

  /// Format, algorithm, chain, signature; only then the payload is parsed and its date looked at.
  func checkSignature(_ jws: String) throws(Rejection) -> Signed {
    let text = jws.utf8.span
    let parts = try CompactJWS(text)
    // One pass over the text gives the header's hash, to look it up, the message's, and the text's
    // own, by which it is known as a fact.
    let digests = unsafe SHA256.hashes(
      of: text.bytes, before: [parts.headerLength, parts.signedLength, text.count])
    let signatory = try signatory(
      text.extracting(0..<parts.headerLength), cacheKey: digests[0])
    guard signatory.key.verifyES256(signature: parts.signature, digest: digests[1]) else {
      throw Rejection(.badSignature, "the signature is not by the key of the leaf certificate")
    }
    signatory.remember()
    let payload: PayloadFields
    do {
      payload = PayloadFields(try JSONMembers(parts.payload))
    } catch {
      throw Rejection(.malformedPayload, error.description)
    }
    try signatory.check(at: try EffectiveDate.read(payload) ?? clock())
    return Signed(
      raw: parts.payload, textHash: digests[2], fields: payload, signer: signatory.signer,
      certificates: signatory.chain.certificates)
  }

  /// Whose key the header claims, proved by its certificates.
  private func signatory(
    _ headerText: Span<UInt8>, cacheKey: [UInt8]
  ) throws(Rejection) -> Signatory {
    if let chain = trust.cache.find(cacheKey) {
      trust.cache.countHit()
      return Signatory(chain: chain, signer: .appStore)
    }
    let header = try SignatureHeader(headerText)
    if header.certificates.count == 1, apps.contains(where: { !$0.xcodeCertificates.isEmpty }) {
      return try xcodeSignatory(header)
    }
    return Signatory(
      chain: try trust.chain(of: header), signer: .appStore, cache: trust.cache,
      cacheKey: cacheKey)
  }

  private func xcodeSignatory(_ header: SignatureHeader) throws(Rejection) -> Signatory {
    guard let certificate = try header.parsed().first,
      apps.contains(where: { $0.xcodeCertificates.contains(certificate) })
    else {
      throw Rejection(
        .untrustedXcodeCertificate,
        "the certificate is not one that was exported from Xcode for a configured app")
    }
    return Signatory(
      chain: VerifiedChain(pinned: certificate),
      signer: .xcode(certificateHash: certificate.sha256Fingerprint))
  }
}
