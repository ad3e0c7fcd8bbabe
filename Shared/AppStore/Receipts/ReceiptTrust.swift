import Cryptography

/// Decides whether the certificates of a receipt may sign; when they may is checked by its date.
struct ReceiptTrust {
  let roots: [Certificate]
  let apps: [AppIdentity]

  func chain(
    of message: SignedMessage
  ) throws(ReceiptRejection) -> (VerifiedChain, Signer) {
    let leaf = message.signer
    if message.certificates.count == 1, apps.contains(where: { !$0.xcodeCertificates.isEmpty }) {
      guard apps.contains(where: { $0.xcodeCertificates.contains(leaf) }) else {
        throw ReceiptRejection(
          .untrustedXcodeCertificate,
          "the certificate is not one that was exported from Xcode for a configured app")
      }
      return (
        VerifiedChain(pinned: leaf), .xcode(certificateHash: leaf.sha256Fingerprint)
      )
    }
    // The set has no order, and may hold the root or not: the leaf's issuer is found by name.
    let issuers = message.certificates.filter { $0 != leaf && $0.subject == leaf.issuer }
    let (chain, intermediate) = try verify(leaf, issuers)
    guard intermediate.hasExtension(oid: ChainTrust.intermediateMarker) else {
      throw ReceiptRejection(
        .missingMarker, "the intermediate lacks the extension \(ChainTrust.intermediateMarker)")
    }
    guard leaf.hasExtension(oid: ChainTrust.leafMarker) else {
      throw ReceiptRejection(
        .missingMarker, "the leaf lacks the extension \(ChainTrust.leafMarker)")
    }
    return (chain, .appStore)
  }

  /// Tries each certificate of the issuer's name: Apple has had several of one name.
  private func verify(
    _ leaf: Certificate, _ issuers: [Certificate]
  ) throws(ReceiptRejection) -> (VerifiedChain, Certificate) {
    var reason = "the certificate that issued the signer's is not enclosed"
    for intermediate in issuers {
      do {
        let chain = try CertificateChain.verify(
          leaf: leaf, intermediate: intermediate, roots: roots, strength: .withSHA1)
        return (chain, intermediate)
      } catch {
        reason = error.detail
      }
    }
    throw ReceiptRejection(.wrongRoot, "the certificates do not lead to a pinned root: \(reason)")
  }

  /// Whether all certificates were valid at `date`, UNIX milliseconds.
  static func check(_ chain: VerifiedChain, at date: Int64) throws(ReceiptRejection) {
    guard date >= chain.validFrom else {
      throw ReceiptRejection(
        .certificateNotYetValid, "a certificate is valid from \(chain.validFrom), not at \(date)")
    }
    guard date <= chain.validThrough else {
      throw ReceiptRejection(
        .certificateExpired, "a certificate was valid until \(chain.validThrough), not at \(date)")
    }
  }
}
