internal import COpenSSL

/// Owns one `X509` within one synchronous call; certificates are kept as DER, not as handles.
@safe
struct CertificateHandle: ~Copyable {
  let handle: OpaquePointer

  /// Parses DER that is exactly one certificate in its one canonical encoding.
  init(der: [UInt8]) throws(CryptographyError) {
    let parsed = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var cursor = bytes.baseAddress
      guard let parsed = unsafe d2i_X509(nil, &cursor, bytes.count) else { return nil }
      return unsafe parsed
    }
    guard let parsed = unsafe parsed else {
      throw CryptographyError(
        .invalidCertificate, "not a certificate in DER (\(ErrorQueue.takeReason()))")
    }
    // `d2i` also takes BER and trailing bytes: many texts for one certificate, which would let a
    // stranger fill caches that are keyed by the bytes.
    guard unsafe DER.encode({ unsafe i2d_X509(parsed, $0) }) == der else {
      unsafe X509_free(parsed)
      ErrorQueue.clear()
      throw CryptographyError(.invalidCertificate, "not exactly one certificate in strict DER")
    }
    unsafe handle = parsed
  }

  /// Takes over a handle made elsewhere.
  init(owning handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe X509_free(handle) }

  func publicKey() throws(CryptographyError) -> PublicKey {
    guard let key = unsafe X509_get_pubkey(handle) else {
      throw CryptographyError(
        .invalidCertificate, "the certificate's key cannot be read (\(ErrorQueue.takeReason()))")
    }
    return try unsafe PublicKey(KeyHandle(owning: key))
  }

  func der() throws(CryptographyError) -> [UInt8] {
    guard let der = unsafe DER.encode({ unsafe i2d_X509(handle, $0) }) else {
      throw .failed("encoding a certificate")
    }
    return der
  }

  func extensionIdentifiers() -> [String] {
    let count = unsafe X509_get_ext_count(handle)
    return (0..<max(0, count)).compactMap { index in
      guard let entry = unsafe X509_get_ext(handle, index),
        let object = unsafe X509_EXTENSION_get_object(entry)
      else { return nil }
      var text = [CChar](repeating: 0, count: 128)
      // 1: always numbers, never OpenSSL's names.
      let length = unsafe OBJ_obj2txt(&text, Int32(text.count), object, 1)
      guard length > 0, Int(length) < text.count else { return nil }
      return String(
        decoding: text.prefix(Int(length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }

  func serial() -> String {
    guard let number = unsafe X509_get0_serialNumber(handle),
      let big = unsafe ASN1_INTEGER_to_BN(number, nil)
    else { return "" }
    defer { unsafe BN_free(big) }
    guard let text = unsafe BN_bn2hex(big) else { return "" }
    defer { unsafe CRYPTO_free(text, #file, Int32(#line)) }
    return unsafe String(cString: text)
  }

  func name(of subject: Bool) -> String {
    let name = unsafe subject ? X509_get_subject_name(handle) : X509_get_issuer_name(handle)
    guard let name = unsafe name, let text = unsafe X509_NAME_oneline(name, nil, 0) else {
      return ""
    }
    defer { unsafe CRYPTO_free(text, #file, Int32(#line)) }
    return unsafe String(cString: text)
  }

  /// UNIX milliseconds of an ASN.1 time, or nil if it cannot be read.
  static func milliseconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    guard let time = unsafe time, let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
    defer { unsafe ASN1_TIME_free(epoch) }
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else {
      ErrorQueue.clear()
      return nil
    }
    return (Int64(days) * 86_400 + Int64(seconds)) * 1000
  }
}
