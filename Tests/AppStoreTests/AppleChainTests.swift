import AppStore
import Cryptography
import TestSupport
import Testing

/// The table of chain tests in testdata/apple/README.md.
@Suite("Apple's own chain samples")
struct AppleChainTests {
  static let time: Int64 = 1_761_962_975_000

  /// A header of these certificates around a payload signed by nobody we know.
  private func refusal(
    root: String, x5c: [String], at date: Int64 = time
  ) throws -> Rejection.Code? {
    let verifier = try SignedDataVerifier(
      roots: [Certificate(der: TestData.bytes("apple/certs/\(root)"))],
      apps: [AppIdentity(bundleId: "com.example", environments: [.sandbox])], clock: { date })
    let entries = x5c.map { "\"\($0)\"" }.joined(separator: ",")
    let header = Base64URL.encode(Array("{\"alg\":\"ES256\",\"x5c\":[\(entries)]}".utf8))
    let payload = Base64URL.encode(Array("{}".utf8))
    let signature = Base64URL.encode([UInt8](repeating: 1, count: 64))
    do {
      _ = try verifier.verifySignature("\(header).\(payload).\(signature)")
      return nil
    } catch {
      return error.code
    }
  }

  private func base64(_ file: String) throws -> String {
    Base64.encode(try TestData.bytes("apple/certs/\(file)"))
  }

  @Test func `each sample chain is judged as Apple's tests judge it`() throws {
    let leaf = try base64("chain/leaf.der")
    let intermediate = try base64("chain/intermediate.der")
    let ca = try base64("testCA.der")
    let otherLeaf = try base64("chain/leaf-for-intermediate-invalid-oid.der")
    let otherIntermediate = try base64("chain/intermediate-invalid-oid.der")
    let badLeaf = try base64("chain/leaf-invalid-oid.der")
    let apple = "apple-root/AppleRootCA-G3.cer"
    // A chain that stands leaves only the signature to complain about.
    #expect(try refusal(root: "testCA.der", x5c: [leaf, intermediate, ca]) == .badSignature)
    #expect(
      try refusal(root: "testCA.der", x5c: [otherLeaf, otherIntermediate, ca]) == .missingMarker)
    #expect(try refusal(root: "testCA.der", x5c: [badLeaf, intermediate, ca]) == .missingMarker)
    #expect(try refusal(root: "testCA.der", x5c: [intermediate, ca]) == .chainLength)
    #expect(
      try refusal(root: "testCA.der", x5c: [leaf + "a", intermediate, ca]) == .invalidCertificate)
    #expect(
      try refusal(root: "testCA.der", x5c: ["YWJjMTIz", intermediate, ca]) == .invalidCertificate)
    #expect(
      try refusal(root: "testCA.der", x5c: [leaf, intermediate, "YWJjMTIz"]) == .invalidCertificate)
    #expect(try refusal(root: apple, x5c: [leaf, intermediate, ca]) == .untrustedChain)
    #expect(
      try refusal(
        root: apple,
        x5c: [
          base64("chain/real-apple-leaf.der"), base64("chain/real-apple-intermediate.der"),
          base64(apple),
        ]) == .badSignature)
  }

  @Test func `each sample chain is valid only in its time, and gives the leaf's key`() throws {
    func chain(_ root: String, _ leaf: String, _ intermediate: String) throws -> VerifiedChain {
      try CertificateChain.verify(
        leaf: Certificate(der: TestData.bytes("apple/certs/chain/\(leaf)")),
        intermediate: Certificate(der: TestData.bytes("apple/certs/chain/\(intermediate)")),
        roots: [Certificate(der: TestData.bytes("apple/certs/\(root)"))])
    }
    func isValid(_ chain: VerifiedChain, at seconds: Int64) -> Bool {
      (chain.validFrom...chain.validThrough).contains(seconds * 1000)
    }
    let test = try chain("testCA.der", "leaf.der", "intermediate.der")
    #expect(
      try test.leafKey.spki == TestData.bytes("apple/certs/chain/leaf-public-key.spki.der"))
    #expect(isValid(test, at: 1_761_962_975))
    #expect(!isValid(test, at: 2_280_946_846) && !isValid(test, at: 1_600_000_000))
    let real = try chain(
      "apple-root/AppleRootCA-G3.cer", "real-apple-leaf.der", "real-apple-intermediate.der")
    #expect(isValid(real, at: 1_761_962_975) && !isValid(real, at: 1_830_297_600))
    #expect(real.leafKey.curve == .p256)
  }
}
