internal import COpenSSL

extension SignedMessage {
  /// PKCS#7 signed data in DER without signed attributes, as Apple's receipts are: for the
  /// simulator and for tests.
  ///
  /// `certificates` begins with the signer's, to which the key belongs.
  public static func sign(
    _ content: [UInt8], key: PrivateKey, certificates: [Certificate],
    digest: DigestKind = .sha256
  ) throws(CryptographyError) -> [UInt8] {
    guard let signer = certificates.first else {
      throw CryptographyError(
        .invalidCertificate, "a signed message needs its signer's certificate")
    }
    let flags = UInt32(CMS_BINARY | CMS_PARTIAL | CMS_NOSMIMECAP)
    guard let made = unsafe CMS_sign(nil, nil, nil, nil, flags) else {
      throw .failed("making a signed message")
    }
    let message = unsafe SignedMessageHandle(owning: made)
    let signerHandle = try CertificateHandle(der: signer.der)
    // CMS_NOCERTS: the certificates are added below, each once.
    let signerFlags = UInt32(CMS_BINARY | CMS_NOATTR | CMS_NOCERTS)
    guard
      unsafe CMS_add1_signer(
        message.handle, signerHandle.handle, key.key.handle, digest.algorithm.handle, signerFlags)
        != nil
    else { throw .failed("adding a signer") }
    for certificate in certificates {
      let handle = try CertificateHandle(der: certificate.der)
      guard unsafe CMS_add1_cert(message.handle, handle.handle) == 1 else {
        throw .failed("adding a certificate")
      }
    }
    let isFinished = unsafe content.withUnsafeBytes { bytes in
      guard let input = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
      else { return false }
      defer { unsafe BIO_free(input) }
      return unsafe CMS_final(message.handle, input, nil, UInt32(CMS_BINARY)) == 1
    }
    guard isFinished,
      let der = unsafe DER.encode({ unsafe i2d_CMS_ContentInfo(message.handle, $0) })
    else { throw .failed("signing a message") }
    return der
  }
}

extension SignedMessage.DigestKind {
  var algorithm: Digest {
    switch self {
    case .sha1: .sha1
    case .sha256: .sha256
    case .sha384: .sha384
    }
  }
}
