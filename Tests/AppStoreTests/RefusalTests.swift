import AppStore
import Cryptography
import TestSupport
import Testing

/// One refusal per rule of app-store.md §1, and the list at the end of §10.
@Suite("Refusals of signed data")
struct RefusalTests {
  static let now = AppStoreChains.now

  private func verifier(
    _ roots: [Certificate], clock: Int64 = now
  ) throws -> SignedDataVerifier {
    try SignedDataVerifier(
      roots: roots,
      apps: [
        AppIdentity(
          bundleId: "com.example", appAppleId: 41, environments: [.sandbox, .production])
      ],
      clock: { clock })
  }

  private func transaction(signedDate: Int64? = now) -> TransactionPayload {
    var payload = TransactionPayload()
    payload.transactionId = "1"
    payload.bundleId = "com.example"
    payload.environment = .sandbox
    payload.signedDate = signedDate
    return payload
  }

  private func code(_ verifier: SignedDataVerifier, _ jws: String) -> Rejection.Code? {
    do {
      _ = try verifier.verifyTransaction(jws)
      return nil
    } catch {
      return error.code
    }
  }

  private func parts(_ jws: String) -> [String] {
    jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// A JWS with any header text, signed by the chain's leaf.
  private func signed(_ header: String, by chain: SigningChain) throws -> String {
    let payload = parts(try chain.signer.sign(transaction()))[1]
    let message = Base64URL.encode(Array(header.utf8)) + "." + payload
    return message + "." + Base64URL.encode(try chain.leafKey.signES256(Array(message.utf8)))
  }

  private func x5c(_ certificates: [Certificate]) -> String {
    certificates.map { "\"\(Base64.encode($0.der))\"" }.joined(separator: ",")
  }

  @Test func `a good transaction is accepted, or every refusal below would be vain`() throws {
    let chain = try AppStoreChains.chain()
    #expect(code(try verifier([chain.root]), try chain.signer.sign(transaction())) == nil)
    let header = "{\"typ\":\"JWT\",\"x5c\":[\(x5c(chain.signer.certificates))],\"alg\":\"ES256\"}"
    #expect(code(try verifier([chain.root]), try signed(header, by: chain)) == nil)
  }

  @Test func `a chain without Apple's marks is refused`() throws {
    var plan = AppStoreChains.plan()
    plan.intermediateMarker = nil
    var chain = try plan.make()
    #expect(
      code(try verifier([chain.root]), try chain.signer.sign(transaction())) == .missingMarker)
    plan.intermediateMarker = "1.2.840.113635.100.6.2.1"
    plan.leafMarker = "1.2.840.113635.100.6.11.2"
    chain = try plan.make()
    #expect(
      code(try verifier([chain.root]), try chain.signer.sign(transaction())) == .missingMarker)
  }

  @Test func `one, two or four certificates are refused`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    let all = [chain.leaf, chain.intermediate, chain.root]
    for certificates in [[], [all[0]], Array(all.prefix(2)), all + [chain.root]] {
      let signer = JWSSigner(leafKey: chain.leafKey, certificates: certificates)
      #expect(code(verifier, try signer.sign(transaction())) == .chainLength)
    }
  }

  @Test func `swapped certificates and a foreign root of the same name are refused`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    let swapped = JWSSigner(
      leafKey: chain.leafKey, certificates: [chain.intermediate, chain.leaf, chain.root])
    #expect(code(verifier, try swapped.sign(transaction())) == .untrustedChain)
    let impostor = try AppStoreChains.plan().make()
    #expect(code(verifier, try impostor.signer.sign(transaction())) == .untrustedChain)
    // Also when it brings the genuine root along.
    let dressed = JWSSigner(
      leafKey: impostor.leafKey,
      certificates: [impostor.leaf, impostor.intermediate, chain.root])
    #expect(code(verifier, try dressed.sign(transaction())) == .untrustedChain)
  }

  @Test func `the third certificate is no anchor, but must be one`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    let other = try AppStoreChains.plan(name: "Other").make().root
    let signer = JWSSigner(
      leafKey: chain.leafKey, certificates: [chain.leaf, chain.intermediate, other])
    #expect(code(verifier, try signer.sign(transaction())) == nil)
    let two = x5c([chain.leaf, chain.intermediate])
    let header = "{\"alg\":\"ES256\",\"x5c\":[\(two),\"AAAA\"]}"
    // Also when leaf and intermediate are known already.
    #expect(code(verifier, try signed(header, by: chain)) == .invalidCertificate)
  }

  @Test func `an expired leaf still proves what was signed in its time`() throws {
    var plan = AppStoreChains.plan()
    plan.leafNotAfter = Self.now
    let chain = try plan.make()
    let later = try verifier([chain.root], clock: Self.now + AppStoreChains.day)
    #expect(code(later, try chain.signer.sign(transaction(signedDate: Self.now))) == nil)
    #expect(
      code(later, try chain.signer.sign(transaction(signedDate: Self.now + 1000)))
        == .certificateExpired)
    #expect(
      code(later, try chain.signer.sign(transaction(signedDate: nil))) == .certificateExpired)
    let early = chain.leaf.notBefore - 1
    #expect(
      code(later, try chain.signer.sign(transaction(signedDate: early))) == .certificateNotYetValid)
  }

  @Test func `an app transaction is judged at its creation date`() throws {
    var plan = AppStoreChains.plan()
    plan.leafNotAfter = Self.now
    let chain = try plan.make()
    let later = try verifier([chain.root], clock: Self.now + AppStoreChains.day)
    var payload = AppTransactionPayload()
    payload.bundleId = "com.example"
    payload.receiptType = .sandbox
    payload.receiptCreationDate = Self.now
    #expect(throws: Never.self) {
      try later.verifyAppTransaction(chain.signer.sign(payload))
    }
    payload.receiptCreationDate = Self.now + 1000
    let jws = try chain.signer.sign(payload)
    let rejection = #expect(throws: Rejection.self) { try later.verifyAppTransaction(jws) }
    #expect(rejection?.code == .certificateExpired && rejection?.isGenuine == false)
  }

  @Test(arguments: ["none", "HS256", "ES384", "es256", ""])
  func `any other algorithm is refused`(algorithm: String) throws {
    let chain = try AppStoreChains.chain()
    let header = "{\"alg\":\"\(algorithm)\",\"x5c\":[\(x5c(chain.signer.certificates))]}"
    #expect(code(try verifier([chain.root]), try signed(header, by: chain)) == .wrongAlgorithm)
  }

  @Test func `a header that is not Apple's is refused`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    let certificates = x5c(chain.signer.certificates)
    for header in [
      "", "[]", "{", "{}", "{\"alg\":\"ES256\"}", "{\"alg\":\"ES256\",\"x5c\":\"abc\"}",
      "{\"alg\":\"ES256\",\"x5c\":[1,2,3]}", "{\"x5c\":[\(certificates)]}",
      "{\"alg\":5,\"x5c\":[\(certificates)]}",
      "{\"alg\":\"ES256\",\"crit\":[\"b64\"],\"b64\":false,\"x5c\":[\(certificates)]}",
    ] {
      #expect(
        code(verifier, try signed(header, by: chain)) == .malformedJWS, "\(header.prefix(40))")
    }
  }

  @Test func `certificates in base64url are refused`() throws {
    let chain = try AppStoreChains.chain()
    // A leaf whose text differs between the two alphabets; nearly every one does.
    let entries = chain.signer.certificates.map { "\"\(Base64URL.encode($0.der))\"" }
    let header = "{\"alg\":\"ES256\",\"x5c\":[\(entries.joined(separator: ","))]}"
    #expect(
      code(try verifier([chain.root]), try signed(header, by: chain)) == .invalidCertificate)
  }

  @Test func `a DER signature, a cut one and a padded one are refused`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    let good = parts(try chain.signer.sign(transaction()))
    let message = good[0] + "." + good[1]
    let der = Base64URL.encode(try chain.leafKey.signDER(Array(message.utf8)))
    for signature in [der, String(good[2].dropLast()), good[2] + "==", "", good[2] + "AA"] {
      #expect(code(verifier, message + "." + signature) == .malformedJWS)
    }
    #expect(code(verifier, message) == .malformedJWS)
    #expect(code(verifier, message + "." + good[2] + ".") == .malformedJWS)
    #expect(code(verifier, "." + good[1] + "." + good[2]) == .malformedJWS)
    #expect(code(verifier, good[0] + "." + good[1] + "=." + good[2]) == .malformedJWS)
  }

  @Test func `a changed payload and a key that is not the leaf's are refused`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    let good = parts(try chain.signer.sign(transaction()))
    var changed = transaction()
    changed.productId = "com.example.pro"
    let other = parts(try chain.signer.sign(changed))
    for _ in 0..<2 {
      #expect(code(verifier, [good[0], other[1], good[2]].joined(separator: ".")) == .badSignature)
      // The second round meets a chain that is known.
      #expect(code(verifier, good.joined(separator: ".")) == nil)
    }
    let forger = JWSSigner(
      leafKey: try PrivateKey(generate: .p256), certificates: chain.signer.certificates)
    #expect(code(verifier, try forger.sign(transaction())) == .badSignature)
    let rejection = #expect(throws: Rejection.self) {
      try verifier.verifyTransaction(forger.sign(transaction()))
    }
    #expect(rejection?.isGenuine == false && rejection?.isRetryable == false)
  }

  @Test func `a leaf on another curve is refused`() throws {
    var plan = AppStoreChains.plan()
    plan.leafCurve = .p384
    let chain = try plan.make()
    let good = parts(try AppStoreChains.chain().signer.sign(transaction()))
    let header = "{\"alg\":\"ES256\",\"x5c\":[\(x5c(chain.signer.certificates))]}"
    let jws = [Base64URL.encode(Array(header.utf8)), good[1], good[2]].joined(separator: ".")
    #expect(code(try verifier([chain.root]), jws) == .wrongKey)
  }

  @Test func `app and environment are checked after the signature, in this order`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    var payload = transaction()
    payload.bundleId = "com.other"
    payload.environment = .xcode
    #expect(code(verifier, try chain.signer.sign(payload)) == .wrongApp)
    payload.bundleId = nil
    #expect(code(verifier, try chain.signer.sign(payload)) == .wrongApp)
    payload.bundleId = "com.example"
    for environment in [.xcode, .localTesting, AppEnvironment(rawValue: "Moon"), nil] {
      payload.environment = environment
      #expect(code(verifier, try chain.signer.sign(payload)) == .wrongEnvironment)
    }
    payload.environment = .production
    #expect(code(verifier, try chain.signer.sign(payload)) == nil)
    #expect(throws: Rejection.self) {
      try verifier.verifyTransaction(chain.signer.sign(payload), expectedBundle: "com.else")
    }
  }

  @Test func `the app's number counts in Production only`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    func code(_ id: Int64?, _ environment: AppEnvironment) throws -> Rejection.Code? {
      var payload = AppTransactionPayload()
      payload.bundleId = "com.example"
      payload.appAppleId = id
      payload.receiptType = environment
      let jws = try chain.signer.sign(payload)
      do {
        _ = try verifier.verifyAppTransaction(jws)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(try code(41, .production) == nil)
    #expect(try code(42, .production) == .wrongApp)
    #expect(try code(nil, .production) == .wrongApp)
    #expect(try code(42, .sandbox) == nil)
    #expect(try code(nil, .sandbox) == nil)
  }

  @Test func `a known field of the wrong type is named`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    let jws = try chain.signer.sign(
      Array(
        "{\"bundleId\":\"com.example\",\"environment\":\"Sandbox\",\"price\":\"9.99\"}".utf8))
    let rejection = #expect(throws: Rejection.self) { try verifier.verifyTransaction(jws) }
    #expect(rejection?.code == .malformedPayload && rejection?.isGenuine == true)
    #expect(rejection?.detail.contains("field price") == true)
    for payload in ["", "[]", "null", "{", "{\"signedDate\":\"now\"}", "{}x"] {
      let jws = try chain.signer.sign(Array(payload.utf8))
      #expect(code(verifier, jws) == .malformedPayload, "\(payload)")
    }
  }
}
