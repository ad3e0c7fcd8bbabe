internal import COpenSSL

/// An X.509 certificate as a value: its DER and what was read from it.
public struct Certificate: Sendable, Equatable, CustomStringConvertible {
  /// The exact DER bytes.
  public let der: [UInt8]
  /// Subject name, such as `/C=US/O=Apple Inc./CN=Apple Root CA - G3`.
  public let subject: String
  /// Issuer name in the same form.
  public let issuer: String
  /// First moment of validity, UNIX milliseconds.
  public let notBefore: Int64
  /// Last second of validity, UNIX milliseconds of its beginning.
  public let notAfter: Int64
  /// Serial number in upper-case hexadecimal.
  public let serial: String
  /// Object identifiers of all extensions, dotted.
  public let extensionIdentifiers: [String]
  /// The key it speaks for.
  public let publicKey: PublicKey

  /// Reads strict DER.
  ///
  /// Throws `invalidCertificate`.
  public init(der: [UInt8]) throws(CryptographyError) {
    try self.init(CertificateHandle(der: der), der: der)
  }

  /// Reads the first certificate of a text in PEM form.
  ///
  /// Throws `invalidCertificate`.
  public init(pem: String) throws(CryptographyError) {
    guard let der = PEM.decode(pem, labelSuffix: "CERTIFICATE") else {
      throw CryptographyError(.invalidCertificate, "no certificate in PEM form in the text")
    }
    try self.init(der: der)
  }

  /// Reads a file's bytes, PEM or DER; `name` is the file's, for the error.
  public init(bytes: [UInt8], name: String) throws(CryptographyError) {
    do {
      // DER of a certificate always begins with SEQUENCE; text never does.
      if bytes.first == 0x30, let certificate = try? Certificate(der: bytes) {
        self = certificate
      } else {
        self = try Certificate(pem: String(decoding: bytes, as: UTF8.self))
      }
    } catch {
      throw CryptographyError(
        .invalidCertificate, "\(name) is not a certificate in DER or PEM form: \(error.detail)")
    }
  }

  init(_ parsed: borrowing CertificateHandle, der: [UInt8]) throws(CryptographyError) {
    guard
      let notBefore = unsafe CertificateHandle.milliseconds(X509_get0_notBefore(parsed.handle)),
      let notAfter = unsafe CertificateHandle.milliseconds(X509_get0_notAfter(parsed.handle))
    else {
      throw CryptographyError(.invalidCertificate, "the certificate's validity cannot be read")
    }
    self.der = der
    self.notBefore = notBefore
    self.notAfter = notAfter
    subject = parsed.name(of: true)
    issuer = parsed.name(of: false)
    serial = parsed.serial()
    extensionIdentifiers = parsed.extensionIdentifiers()
    publicKey = try parsed.publicKey()
  }

  /// Whether an extension of this dotted object identifier is present.
  public func hasExtension(oid: String) -> Bool { extensionIdentifiers.contains(oid) }

  /// SHA-256 of the DER, 64 lower-case hexadecimal characters.
  public var sha256Fingerprint: String { SHA256.hex(der) }

  /// The certificate in PEM form.
  public var pem: String { PEM.encode(der, label: "CERTIFICATE") }

  /// Subject and serial.
  public var description: String { "\(subject) (serial \(serial))" }

  /// Two certificates are equal when their bytes are.
  public static func == (a: Certificate, b: Certificate) -> Bool { a.der == b.der }
}
