internal import COpenSSL

/// PKCS#7 signed data with one signer (RFC 5652), parsed; nothing of it is proved yet.
public struct SignedMessage: Sendable {
  /// Most certificates that are looked at; Apple sends three.
  static let mostCertificates = 8

  /// The digests that a signature may be made over.
  public enum DigestKind: String, Sendable {
    /// SHA-1, in receipts until 2023.
    case sha1 = "SHA1"
    /// SHA-256.
    case sha256 = "SHA256"
    /// SHA-384.
    case sha384 = "SHA384"
  }

  /// The enclosed content.
  public let content: [UInt8]
  /// The enclosed certificates in the order in which they stand.
  public let certificates: [Certificate]
  /// The enclosed certificate that the signer info names.
  public let signer: Certificate
  /// The digest that the signature is over.
  public let digest: DigestKind
  private let encoded: [UInt8]

  /// Parses DER, and BER with indefinite lengths and content cut in pieces.
  ///
  /// Throws `invalidMessage`, or `invalidCertificate` for an enclosed one.
  public init(_ encoded: [UInt8]) throws(CryptographyError) {
    let parsed = try SignedMessageHandle(encoded)
    content = try parsed.content()
    let name = try parsed.digestName()
    guard let digest = DigestKind(rawValue: name) else {
      throw .invalidMessage("signed over the digest \(name), which is not accepted")
    }
    self.digest = digest
    certificates = try parsed.certificates(limit: Self.mostCertificates)
    guard let signer = try parsed.signer(among: certificates) else {
      throw .invalidMessage("the signer's certificate is not enclosed")
    }
    self.signer = signer
    self.encoded = encoded
  }

  /// Only the content, whoever signed it, with which certificates and digest.
  ///
  /// Throws `invalidMessage`.
  public static func unprovedContent(of encoded: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try SignedMessageHandle(encoded).content()
  }

  /// Whether `signer` signed the content; says nothing about whether the signer is trusted.
  public func isSignedBySigner() -> Bool {
    defer { ErrorQueue.clear() }
    guard let parsed = try? SignedMessageHandle(encoded),
      let signerHandle = try? CertificateHandle(der: signer.der),
      let stack = unsafe OPENSSL_sk_new_null()
    else { return false }
    defer { unsafe OPENSSL_sk_free(stack) }
    guard unsafe OPENSSL_sk_push(stack, UnsafeRawPointer(signerHandle.handle)) > 0 else {
      return false
    }
    // No other certificate than the one that the caller sees may be used: CMS_NOINTERN.
    let flags = UInt32(CMS_NO_SIGNER_CERT_VERIFY | CMS_NOINTERN | CMS_BINARY)
    return unsafe CMS_verify(parsed.handle, stack, nil, nil, nil, flags) == 1
  }
}

extension SignedMessageHandle {
  /// The certificate that the signer info names by issuer and serial or by key identifier.
  func signer(among certificates: [Certificate]) throws(CryptographyError) -> Certificate? {
    try unsafe withSigner { (signer) throws(CryptographyError) in
      for certificate in certificates {
        let handle = try CertificateHandle(der: certificate.der)
        if unsafe CMS_SignerInfo_cert_cmp(signer, handle.handle) == 0 { return certificate }
      }
      return nil
    }
  }
}
