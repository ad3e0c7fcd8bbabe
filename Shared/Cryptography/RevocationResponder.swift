internal import COpenSSL

/// Answers OCSP requests for the certificates of one issuer: for the simulator and for tests.
public struct RevocationResponder: Sendable {
  private let issuer: Certificate
  private let signer: Certificate
  private let key: PrivateKey

  /// A responder; `signer` is the issuer itself, or a certificate for OCSP signing by it.
  public init(issuer: Certificate, signer: Certificate, key: PrivateKey) {
    self.issuer = issuer
    self.signer = signer
    self.key = key
  }

  /// The answer about one certificate, whatever was asked.
  ///
  /// - Parameters:
  ///   - from: `thisUpdate`, UNIX milliseconds.
  ///   - until: `nextUpdate`, UNIX milliseconds.
  public func answer(
    about certificate: Certificate, _ status: RevocationStatus, from: Int64, until: Int64
  ) throws(CryptographyError) -> [UInt8] {
    let handle = try CertificateHandle(der: certificate.der)
    let issuerHandle = try CertificateHandle(der: issuer.der)
    let signerHandle = try CertificateHandle(der: signer.der)
    guard let basic = unsafe OCSP_BASICRESP_new(),
      let id = unsafe OCSP_cert_to_id(EVP_sha1(), handle.handle, issuerHandle.handle)
    else { throw .failed("making an OCSP answer") }
    defer {
      unsafe OCSP_BASICRESP_free(basic)
      unsafe OCSP_CERTID_free(id)
    }
    var revokedAt: UnsafeMutablePointer<ASN1_TIME>?
    var word = Int32(V_OCSP_CERTSTATUS_GOOD)
    if case .revoked(let date) = status {
      word = Int32(V_OCSP_CERTSTATUS_REVOKED)
      unsafe revokedAt = ASN1_TIME_set(nil, Int(date / 1000))
    }
    let begin = unsafe ASN1_GENERALIZEDTIME_set(nil, Int(from / 1000))
    let end = unsafe ASN1_GENERALIZEDTIME_set(nil, Int(until / 1000))
    defer {
      unsafe ASN1_TIME_free(revokedAt)
      unsafe ASN1_GENERALIZEDTIME_free(begin)
      unsafe ASN1_GENERALIZEDTIME_free(end)
    }
    guard
      unsafe OCSP_basic_add1_status(basic, id, word, 0, revokedAt, begin, end) != nil,
      unsafe OCSP_basic_sign(basic, signerHandle.handle, key.key.handle, EVP_sha256(), nil, 0) == 1,
      let response = unsafe OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
    else { throw .failed("signing an OCSP answer") }
    defer { unsafe OCSP_RESPONSE_free(response) }
    guard let der = unsafe DER.encode({ unsafe i2d_OCSP_RESPONSE(response, $0) }) else {
      throw .failed("writing an OCSP answer")
    }
    return der
  }
}

extension CertificateExtension {
  /// Authority information access with an address for OCSP, of less than 100 bytes.
  public static func revocationAddress(_ url: String) -> CertificateExtension {
    // [6] IA5String: a URI as general name.
    let address: [UInt8] = [0x86, UInt8(clamping: url.utf8.count)] + Array(url.utf8)
    // 1.3.6.1.5.5.7.48.1
    let method: [UInt8] = [0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01]
    let access = ASN1Writer.element(.sequence, method + address)
    return CertificateExtension(
      oid: "1.3.6.1.5.5.7.1.1", value: ASN1Writer.element(.sequence, access))
  }

  /// Extended key usage for signing OCSP answers.
  public static let revocationSigning = CertificateExtension(
    oid: "2.5.29.37",
    value: [0x30, 0x0A, 0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x09])
}
