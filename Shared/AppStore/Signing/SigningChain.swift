public import Cryptography

/// A chain of three with Apple's marks: root P-384, intermediate P-384, leaf P-256.
public struct SigningChain: Sendable {
  /// The root, to be pinned by those who trust this chain.
  public let root: Certificate
  /// The intermediate.
  public let intermediate: Certificate
  /// The leaf.
  public let leaf: Certificate
  /// The root's key, a secret.
  public let rootKey: PrivateKey
  /// The intermediate's key, a secret.
  public let intermediateKey: PrivateKey
  /// The leaf's key, a secret.
  public let leafKey: PrivateKey

  /// Puts a chain together from its parts, for those who keep one on disk.
  public init(
    root: Certificate, intermediate: Certificate, leaf: Certificate, rootKey: PrivateKey,
    intermediateKey: PrivateKey, leafKey: PrivateKey
  ) {
    self.root = root
    self.intermediate = intermediate
    self.leaf = leaf
    self.rootKey = rootKey
    self.intermediateKey = intermediateKey
    self.leafKey = leafKey
  }

  /// The signer of this chain.
  public var signer: JWSSigner {
    JWSSigner(leafKey: leafKey, certificates: [leaf, intermediate, root])
  }

  /// The root in DER, as verifiers are configured with.
  public var rootDER: [UInt8] { root.der }

  /// A new chain, valid from `notBefore` to `notAfter` (UNIX milliseconds).
  public static func make(
    name: String = "Purser App Store Simulator", notBefore: Int64, notAfter: Int64
  ) throws(CryptographyError) -> SigningChain {
    try SigningChainPlan(name: name, notBefore: notBefore, notAfter: notAfter).make()
  }
}

/// Every choice in making a chain, settable, so that bad chains can be made too.
public struct SigningChainPlan: Sendable {
  /// Organization of all subjects.
  public var name: String
  /// First moment of all certificates, UNIX milliseconds.
  public var notBefore: Int64
  /// Last moment of root and intermediate, UNIX milliseconds.
  public var notAfter: Int64
  /// Last moment of the leaf, UNIX milliseconds.
  public var leafNotAfter: Int64
  /// Marker extension of the intermediate; nil for none.
  public var intermediateMarker: String? = ChainTrust.intermediateMarker
  /// Marker extension of the leaf; nil for none.
  public var leafMarker: String? = ChainTrust.leafMarker
  /// Curve of the leaf's key.
  public var leafCurve: Curve = .p256
  /// Basic constraints of the intermediate; nil for none.
  public var intermediateConstraints: CertificateExtension? = .basicConstraints(
    isAuthority: true, pathLength: 0)
  /// Key usage of the intermediate.
  public var intermediateUsage: CertificateExtension = .certificateSigning
  /// More extensions of the intermediate.
  public var intermediateExtensions: [CertificateExtension] = []
  /// More extensions of the leaf.
  public var leafExtensions: [CertificateExtension] = []
  /// An existing root to build under; nil makes a new one.
  public var authority: (certificate: Certificate, key: PrivateKey)?

  /// The plan of a good chain.
  public init(name: String, notBefore: Int64, notAfter: Int64) {
    self.name = name
    self.notBefore = notBefore
    self.notAfter = notAfter
    leafNotAfter = notAfter
  }

  /// Makes the chain.
  public func make() throws(CryptographyError) -> SigningChain {
    let (root, rootKey) = try makeRoot()
    let intermediateKey = try PrivateKey(generate: .p384)
    var extensions = [intermediateConstraints, intermediateUsage].compactMap { $0 }
    extensions.append(try .subjectKeyIdentifier(intermediateKey.publicKey))
    extensions.append(try .authorityKeyIdentifier(rootKey.publicKey))
    if let intermediateMarker { extensions.append(.marker(oid: intermediateMarker)) }
    let intermediate = try CertificateBuilder(
      subject: subject("Intermediate"), issuer: subject("Root"), notBefore: notBefore,
      notAfter: notAfter, publicKey: intermediateKey.publicKey,
      extensions: extensions + intermediateExtensions
    ).signed(by: rootKey)

    let leafKey = try PrivateKey(generate: leafCurve)
    extensions = [.basicConstraints(isAuthority: false), .digitalSignature]
    extensions.append(try .subjectKeyIdentifier(leafKey.publicKey))
    extensions.append(try .authorityKeyIdentifier(intermediateKey.publicKey))
    if let leafMarker { extensions.append(.marker(oid: leafMarker)) }
    let leaf = try CertificateBuilder(
      subject: subject("Receipt Signing"), issuer: subject("Intermediate"), notBefore: notBefore,
      notAfter: leafNotAfter, publicKey: leafKey.publicKey, extensions: extensions + leafExtensions
    ).signed(by: intermediateKey)
    return SigningChain(
      root: root, intermediate: intermediate, leaf: leaf, rootKey: rootKey,
      intermediateKey: intermediateKey, leafKey: leafKey)
  }

  private func makeRoot() throws(CryptographyError) -> (Certificate, PrivateKey) {
    if let authority { return (authority.certificate, authority.key) }
    let key = try PrivateKey(generate: .p384)
    let certificate = try CertificateBuilder(
      subject: subject("Root"), issuer: subject("Root"), notBefore: notBefore, notAfter: notAfter,
      publicKey: key.publicKey,
      extensions: [
        .basicConstraints(isAuthority: true), .certificateSigning,
        .subjectKeyIdentifier(key.publicKey),
      ]
    ).signed(by: key)
    return (certificate, key)
  }

  private func subject(_ role: String) -> [(String, String)] {
    [("CN", "\(name) \(role)"), ("O", name)]
  }
}
