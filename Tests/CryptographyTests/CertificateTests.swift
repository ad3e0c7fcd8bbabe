import Cryptography
import TestSupport
import Testing

@Suite("Certificates")
struct CertificateTests {
  @Test func `Apple's root is read from DER and from PEM`() throws {
    let bytes = try TestData.bytes("apple/certs/apple-root/AppleRootCA-G3.cer")
    let root = try Certificate(der: bytes)
    #expect(
      root.sha256Fingerprint
        == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
    #expect(root.serial == "2DC5FC88D2C54B95")
    #expect(root.subject.contains("CN=Apple Root CA - G3") && root.subject == root.issuer)
    #expect(root.publicKey.curve == .p384)
    #expect(root.hasExtension(oid: "2.5.29.19") && !root.hasExtension(oid: "2.5.29.37"))
    #expect(root.notBefore == 1_398_881_946_000 && root.notAfter == 2_187_800_346_000)
    #expect(try Certificate(bytes: Array(root.pem.utf8), name: "root.pem") == root)
    #expect(try Certificate(bytes: bytes, name: "root.cer") == root)
  }

  @Test func `an unreadable file is named in the error`() {
    for bytes in [[0, 1, 2], [], Array("hello".utf8), [0x30, 0x82]] as [[UInt8]] {
      let error = #expect(throws: CryptographyError.self) {
        try Certificate(bytes: bytes, name: "roots/apple.cer")
      }
      #expect(error?.kind == .invalidCertificate)
      #expect(error?.detail.contains("roots/apple.cer") == true)
    }
  }

  @Test func `a certificate has one form only`() throws {
    let der = try TestData.bytes("apple/certs/testCA.der")
    #expect(throws: CryptographyError.self) { try Certificate(der: der + [0]) }
    #expect(throws: CryptographyError.self) { try Certificate(der: Array(der.dropLast())) }
    // The same length in one byte more than DER allows.
    #expect(der[0] == 0x30 && der[1] == 0x82)
    let longer = [0x30, 0x83, 0x00] + der[2...]
    #expect(throws: CryptographyError.self) { try Certificate(der: Array(longer)) }
  }

  @Test func `what the builder writes is what is read`() throws {
    let key = try PrivateKey(generate: .p384)
    var builder = CertificateBuilder(
      subject: [("CN", "Müller Root"), ("O", "Shop")], issuer: [("CN", "Issuer")],
      notBefore: 1_700_000_000_999, notAfter: 2_600_000_000_000, publicKey: key.publicKey,
      extensions: [
        .basicConstraints(isAuthority: true, pathLength: 0), .certificateSigning,
        try .subjectKeyIdentifier(key.publicKey), .marker(oid: "1.2.840.113635.100.6.2.1"),
      ])
    builder.serial = [0x01, 0x02, 0xFF]
    let made = try builder.signed(by: key)
    #expect(made.serial == "0102FF")
    #expect(made.notBefore == 1_700_000_000_000 && made.notAfter == 2_600_000_000_000)
    #expect(made.issuer == "/CN=Issuer" && made.subject.hasSuffix("/O=Shop"))
    #expect(
      made.extensionIdentifiers
        == ["2.5.29.19", "2.5.29.15", "2.5.29.14", "1.2.840.113635.100.6.2.1"])
    // app-store.md §10: SEQUENCE { OID, OCTET STRING { NULL } }.
    let marker: [UInt8] = [
      0x30, 0x10, 0x06, 0x0A, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x02, 0x01, 0x04,
      0x02, 0x05, 0x00,
    ]
    #expect(Hex.encode(made.der).contains(Hex.encode(marker)))
  }
}
