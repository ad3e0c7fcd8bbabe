internal import COpenSSL

/// Whether a certificate was revoked, by what its issuer says (OCSP, RFC 6960).
public enum RevocationStatus: Sendable, Equatable {
  /// It was not.
  case good
  /// It was, at a time in UNIX milliseconds.
  case revoked(at: Int64)
}

/// A question to the issuer of a certificate whether it was revoked, and how to read the answer.
public struct RevocationQuestion: Sendable {
  /// Where it is posted as `application/ocsp-request`.
  public let url: String
  /// The request in DER.
  public let request: [UInt8]
  private let certificate: Certificate
  private let issuer: Certificate

  /// Clocks may differ by so much, in milliseconds.
  static let tolerance: Int64 = 60_000
  /// An answer that names no end is taken for so long, in milliseconds.
  static let longestAge: Int64 = 7 * 24 * 3600 * 1000

  /// A question; nil when the certificate names no http address where it could be asked.
  public init?(_ certificate: Certificate, issuer: Certificate) throws(CryptographyError) {
    let handle = try CertificateHandle(der: certificate.der)
    let issuerHandle = try CertificateHandle(der: issuer.der)
    guard let url = Self.address(of: handle) else { return nil }
    defer { ErrorQueue.clear() }
    guard let request = unsafe OCSP_REQUEST_new() else { throw .failed("making an OCSP request") }
    defer { unsafe OCSP_REQUEST_free(request) }
    // SHA-1 names the certificate, it proves nothing; every responder knows it.
    guard let id = unsafe OCSP_cert_to_id(EVP_sha1(), handle.handle, issuerHandle.handle) else {
      throw .failed("naming a certificate")
    }
    guard unsafe OCSP_request_add0_id(request, id) != nil else {
      unsafe OCSP_CERTID_free(id)
      throw .failed("making an OCSP request")
    }
    guard let der = unsafe DER.encode({ unsafe i2d_OCSP_REQUEST(request, $0) }) else {
      throw .failed("writing an OCSP request")
    }
    self.url = url
    self.request = der
    self.certificate = certificate
    self.issuer = issuer
  }

  /// What an answer says, once it is proved to be the issuer's and of the present.
  ///
  /// - Parameter now: UNIX milliseconds.
  /// - Throws: `CryptographyError` for an answer that proves nothing: garbled, by somebody else, about
  ///   something else, out of date, or "try later". It says nothing about the certificate.
  public func read(_ answer: [UInt8], now: Int64) throws(CryptographyError) -> RevocationStatus {
    defer { ErrorQueue.clear() }
    let basic = try RevocationAnswer(answer)
    let issuerHandle = try CertificateHandle(der: issuer.der)
    try basic.check(signedFor: issuerHandle, now: now)
    let handle = try CertificateHandle(der: certificate.der)
    return try basic.status(of: handle, issuer: issuerHandle, now: now)
  }

  /// The first http address in the certificate's authority information access.
  private static func address(of certificate: borrowing CertificateHandle) -> String? {
    guard let list = unsafe X509_get1_ocsp(certificate.handle) else { return nil }
    defer { unsafe X509_email_free(list) }
    for index in 0..<max(0, unsafe OPENSSL_sk_num(list)) {
      guard let entry = unsafe OPENSSL_sk_value(list, index) else { continue }
      let text = unsafe String(cString: entry.assumingMemoryBound(to: CChar.self))
      if text.hasPrefix("http://") || text.hasPrefix("https://") { return text }
    }
    return nil
  }
}

/// Owns the signed part of one OCSP answer within one synchronous call.
@safe
private struct RevocationAnswer: ~Copyable {
  private let basic: OpaquePointer

  init(_ bytes: [UInt8]) throws(CryptographyError) {
    let parsed = unsafe bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var cursor = buffer.baseAddress
      return unsafe d2i_OCSP_RESPONSE(nil, &cursor, buffer.count)
    }
    guard let response = unsafe parsed else { throw Self.fault("not an OCSP answer") }
    defer { unsafe OCSP_RESPONSE_free(response) }
    let status = unsafe OCSP_response_status(response)
    guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
      throw Self.fault("the responder answers status \(status)")
    }
    guard let basic = unsafe OCSP_response_get1_basic(response) else {
      throw Self.fault("an OCSP answer without content")
    }
    unsafe self.basic = basic
  }

  deinit { unsafe OCSP_BASICRESP_free(basic) }

  /// The signer must be the issuer, or one whom the issuer has made its responder.
  func check(signedFor issuer: borrowing CertificateHandle, now: Int64) throws(CryptographyError) {
    guard let store = unsafe X509_STORE_new(), let others = unsafe OPENSSL_sk_new_null() else {
      throw .failed("preparing an OCSP check")
    }
    defer {
      unsafe X509_STORE_free(store)
      unsafe OPENSSL_sk_free(others)
    }
    guard unsafe X509_STORE_add_cert(store, issuer.handle) == 1,
      unsafe OPENSSL_sk_push(others, UnsafeRawPointer(issuer.handle)) > 0,
      let parameters = unsafe X509_STORE_get0_param(store)
    else { throw .failed("preparing an OCSP check") }
    // The issuer was verified before; nothing above it is looked at again.
    unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    unsafe X509_VERIFY_PARAM_set_time(parameters, Int(now / 1000))
    guard unsafe OCSP_basic_verify(basic, others, store, 0) == 1 else {
      throw Self.fault("the answer is not signed for the issuer (\(ErrorQueue.takeReason()))")
    }
  }

  func status(
    of certificate: borrowing CertificateHandle, issuer: borrowing CertificateHandle, now: Int64
  ) throws(CryptographyError) -> RevocationStatus {
    guard let id = unsafe OCSP_cert_to_id(EVP_sha1(), certificate.handle, issuer.handle) else {
      throw .failed("naming a certificate")
    }
    defer { unsafe OCSP_CERTID_free(id) }
    var status: Int32 = -1
    var reason: Int32 = -1
    var revokedAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var from: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var until: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    guard
      unsafe OCSP_resp_find_status(basic, id, &status, &reason, &revokedAt, &from, &until) == 1
    else { throw Self.fault("the answer is about another certificate") }
    let begin = unsafe CertificateHandle.milliseconds(UnsafePointer(from))
    let end = unsafe CertificateHandle.milliseconds(UnsafePointer(until))
    guard let begin, begin <= now + RevocationQuestion.tolerance,
      (end ?? begin + RevocationQuestion.longestAge) >= now - RevocationQuestion.tolerance
    else { throw Self.fault("the answer is not of the present") }
    switch status {
    case V_OCSP_CERTSTATUS_GOOD: return .good
    case V_OCSP_CERTSTATUS_REVOKED:
      return .revoked(at: unsafe CertificateHandle.milliseconds(UnsafePointer(revokedAt)) ?? begin)
    default: throw Self.fault("the responder does not know the certificate")
    }
  }

  private static func fault(_ detail: String) -> CryptographyError {
    ErrorQueue.clear()
    return CryptographyError(.invalidMessage, detail)
  }
}
