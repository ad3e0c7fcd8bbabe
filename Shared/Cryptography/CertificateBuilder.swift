internal import COpenSSL

/// One extension of a certificate to be made, as raw DER.
public struct CertificateExtension: Sendable, Equatable {
  /// Dotted object identifier.
  public var oid: String
  /// Whether a reader who does not know it must refuse the certificate.
  public var isCritical: Bool
  /// DER of the value.
  public var value: [UInt8]

  /// An extension of any kind.
  public init(oid: String, isCritical: Bool = false, value: [UInt8]) {
    self.oid = oid
    self.isCritical = isCritical
    self.value = value
  }

  /// basicConstraints, critical; `pathLength` below 128 and only for an authority.
  public static func basicConstraints(
    isAuthority: Bool, pathLength: UInt8? = nil
  ) -> CertificateExtension {
    var content: [UInt8] = isAuthority ? [0x01, 0x01, 0xFF] : []
    if isAuthority, let pathLength { content += [0x02, 0x01, pathLength & 0x7F] }
    return CertificateExtension(
      oid: "2.5.29.19", isCritical: true, value: [0x30, UInt8(content.count)] + content)
  }

  /// keyUsage keyCertSign and cRLSign, critical.
  public static let certificateSigning = CertificateExtension(
    oid: "2.5.29.15", isCritical: true, value: [0x03, 0x02, 0x01, 0x06])
  /// keyUsage digitalSignature, critical.
  public static let digitalSignature = CertificateExtension(
    oid: "2.5.29.15", isCritical: true, value: [0x03, 0x02, 0x07, 0x80])

  /// subjectKeyIdentifier: SHA-1 of the public point (RFC 5280 §4.2.1.2).
  public static func subjectKeyIdentifier(
    _ key: PublicKey
  ) throws(CryptographyError) -> CertificateExtension {
    CertificateExtension(
      oid: "2.5.29.14", value: [0x04, 0x14] + SHA1.hash(try key.key.encodedPoint()))
  }

  /// authorityKeyIdentifier of the issuer's key.
  public static func authorityKeyIdentifier(
    _ key: PublicKey
  ) throws(CryptographyError) -> CertificateExtension {
    CertificateExtension(
      oid: "2.5.29.35",
      value: [0x30, 0x16, 0x80, 0x14] + SHA1.hash(try key.key.encodedPoint()))
  }

  /// A marker: only its presence counts, the value is NULL.
  public static func marker(oid: String) -> CertificateExtension {
    CertificateExtension(oid: oid, value: [0x05, 0x00])
  }
}

/// Makes certificates, good and, for tests, bad ones: nothing is checked.
public struct CertificateBuilder: Sendable {
  /// Subject as pairs of short name and value, such as `("CN", "Root")`.
  public var subject: [(String, String)]
  /// Issuer in the same form; equal to the subject for a root.
  public var issuer: [(String, String)]
  /// Serial number, positive, 1…20 bytes.
  public var serial: [UInt8]
  /// First moment of validity, UNIX milliseconds (whole seconds count).
  public var notBefore: Int64
  /// Last moment of validity, UNIX milliseconds (whole seconds count).
  public var notAfter: Int64
  /// The key the certificate speaks for.
  public var publicKey: PublicKey
  /// Extensions in the order in which they are written.
  public var extensions: [CertificateExtension]

  /// A builder with a random serial number.
  public init(
    subject: [(String, String)], issuer: [(String, String)], notBefore: Int64, notAfter: Int64,
    publicKey: PublicKey, extensions: [CertificateExtension] = []
  ) {
    self.subject = subject
    self.issuer = issuer
    // The top bit is cleared and the next one set: positive, and of full length.
    var serial = randomBytes(16)
    serial[0] = serial[0] & 0x7F | 0x40
    self.serial = serial
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.publicKey = publicKey
    self.extensions = extensions
  }

  /// The certificate, signed ecdsa-with-SHA384 by the issuer's key.
  public func signed(by issuerKey: PrivateKey) throws(CryptographyError) -> Certificate {
    guard let handle = unsafe X509_new() else { throw .failed("making a certificate") }
    let certificate = unsafe CertificateHandle(owning: handle)
    // 2 means version 3.
    let prepared =
      unsafe X509_set_version(handle, 2) == 1
      && X509_set_pubkey(handle, publicKey.key.handle) == 1
      && ASN1_TIME_set(X509_getm_notBefore(handle), seconds(notBefore)) != nil
      && ASN1_TIME_set(X509_getm_notAfter(handle), seconds(notAfter)) != nil
    guard prepared else { throw .failed("making a certificate") }
    try unsafe setSerial(handle)
    try unsafe fill(X509_get_subject_name(handle), with: subject)
    try unsafe fill(X509_get_issuer_name(handle), with: issuer)
    for entry in extensions { try unsafe add(entry, to: handle) }
    guard unsafe X509_sign(handle, issuerKey.key.handle, Digest.sha384.handle) > 0 else {
      throw .failed("signing a certificate")
    }
    return try Certificate(der: try certificate.der())
  }

  private func seconds(_ milliseconds: Int64) -> Int {
    Int((Double(milliseconds) / 1000).rounded(.down))
  }

  private func setSerial(_ handle: OpaquePointer) throws(CryptographyError) {
    guard let number = unsafe BN_bin2bn(serial, Int32(clamping: serial.count), nil) else {
      throw .failed("making a serial number")
    }
    defer { unsafe BN_free(number) }
    guard unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(handle)) != nil else {
      throw .failed("making a serial number")
    }
  }

  private func fill(
    _ name: OpaquePointer?, with entries: [(String, String)]
  ) throws(CryptographyError) {
    for (field, value) in entries {
      // MBSTRING_UTF8, whose macro is not imported.
      let added = unsafe X509_NAME_add_entry_by_txt(
        name, field, 0x1000, value, Int32(clamping: value.utf8.count), -1, 0)
      guard added == 1 else { throw .failed("writing the name part \(field)=\(value)") }
    }
  }

  private func add(
    _ entry: CertificateExtension, to handle: OpaquePointer
  ) throws(CryptographyError) {
    guard let object = unsafe OBJ_txt2obj(entry.oid, 1), let value = unsafe ASN1_OCTET_STRING_new()
    else { throw .failed("making the extension \(entry.oid)") }
    defer {
      unsafe ASN1_OBJECT_free(object)
      unsafe ASN1_OCTET_STRING_free(value)
    }
    guard
      unsafe ASN1_OCTET_STRING_set(value, entry.value, Int32(clamping: entry.value.count)) == 1,
      let made = unsafe X509_EXTENSION_create_by_OBJ(
        nil, object, entry.isCritical ? 1 : 0, value)
    else { throw .failed("making the extension \(entry.oid)") }
    defer { unsafe X509_EXTENSION_free(made) }
    guard unsafe X509_add_ext(handle, made, -1) == 1 else {
      throw .failed("adding the extension \(entry.oid)")
    }
  }
}
