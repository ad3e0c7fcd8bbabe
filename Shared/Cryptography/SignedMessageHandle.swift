internal import COpenSSL

/// Owns one `CMS_ContentInfo` within one synchronous call.
@safe
struct SignedMessageHandle: ~Copyable {
  let handle: OpaquePointer

  /// Parses exactly one ContentInfo in DER or BER; OpenSSL bounds how deep both may nest.
  init(_ bytes: [UInt8]) throws(CryptographyError) {
    var consumed = 0
    let parsed = unsafe bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      guard let base = buffer.baseAddress else { return nil }
      var cursor: UnsafePointer<UInt8>? = unsafe base
      let parsed = unsafe d2i_CMS_ContentInfo(nil, &cursor, buffer.count)
      consumed = unsafe cursor.map { unsafe $0 - base } ?? 0
      return unsafe parsed
    }
    guard let parsed = unsafe parsed else {
      throw .invalidMessage("not PKCS#7 (\(ErrorQueue.takeReason()))")
    }
    if let fault = unsafe Self.fault(of: parsed, isWhole: consumed == bytes.count) {
      unsafe CMS_ContentInfo_free(parsed)
      throw .invalidMessage(fault)
    }
    unsafe handle = parsed
  }

  private static func fault(of parsed: OpaquePointer, isWhole: Bool) -> String? {
    guard isWhole else { return "bytes after the end of PKCS#7" }
    guard unsafe OBJ_obj2nid(CMS_get0_type(parsed)) == NID_pkcs7_signed else {
      return "PKCS#7, but not signed data"
    }
    guard unsafe OBJ_obj2nid(CMS_get0_eContentType(parsed)) == NID_pkcs7_data else {
      return "signed data, but not around plain data"
    }
    return nil
  }

  /// Takes over a handle made elsewhere.
  init(owning handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe CMS_ContentInfo_free(handle) }

  /// The enclosed content, put together where it was cut in pieces.
  func content() throws(CryptographyError) -> [UInt8] {
    guard let slot = unsafe CMS_get0_content(handle), let octets = unsafe slot.pointee,
      let start = unsafe ASN1_STRING_get0_data(octets)
    else {
      ErrorQueue.clear()
      throw .invalidMessage("signed data without content")
    }
    let count = Int(unsafe ASN1_STRING_length(octets))
    return unsafe Array(UnsafeBufferPointer(start: start, count: max(0, count)))
  }

  /// The enclosed certificates, at most `limit`.
  func certificates(limit: Int) throws(CryptographyError) -> [Certificate] {
    guard let stack = unsafe CMS_get1_certs(handle) else {
      ErrorQueue.clear()
      return []
    }
    defer {
      while let last = unsafe OPENSSL_sk_pop(stack) { unsafe X509_free(OpaquePointer(last)) }
      unsafe OPENSSL_sk_free(stack)
    }
    let count = Int(unsafe OPENSSL_sk_num(stack))
    guard count <= limit else { throw .invalidMessage("more than \(limit) certificates") }
    var certificates: [Certificate] = []
    for index in 0..<max(0, count) {
      guard let entry = unsafe OPENSSL_sk_value(stack, Int32(index)),
        let der = unsafe DER.encode({ unsafe i2d_X509(OpaquePointer(entry), $0) })
      else { throw .failed("reading a certificate") }
      certificates.append(try Certificate(der: der))
    }
    return certificates
  }

  /// The one signer info.
  func withSigner<Value>(
    _ body: (OpaquePointer) throws(CryptographyError) -> Value
  ) throws(CryptographyError) -> Value {
    guard let signers = unsafe CMS_get0_SignerInfos(handle), unsafe OPENSSL_sk_num(signers) == 1,
      let signer = unsafe OPENSSL_sk_value(signers, 0)
    else {
      ErrorQueue.clear()
      throw .invalidMessage("not exactly one signer")
    }
    return try unsafe body(OpaquePointer(signer))
  }

  /// Name of the signer's digest as OpenSSL writes it, such as `SHA256`.
  func digestName() throws(CryptographyError) -> String {
    try unsafe withSigner { (signer) throws(CryptographyError) in
      var algorithm: UnsafeMutablePointer<X509_ALGOR>?
      unsafe CMS_SignerInfo_get0_algs(signer, nil, nil, &algorithm, nil)
      guard let algorithm = unsafe algorithm else {
        throw .invalidMessage("the signer names no digest")
      }
      guard let name = unsafe OBJ_nid2sn(OBJ_obj2nid(algorithm.pointee.algorithm)) else {
        throw .invalidMessage("the signer's digest has no name")
      }
      return unsafe String(cString: name)
    }
  }
}
