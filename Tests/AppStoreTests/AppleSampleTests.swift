import AppStore
import Cryptography
import TestSupport
import Testing

/// The tables of mock_signed_data and xcode in testdata/apple/README.md.
@Suite("Apple's own signed samples")
struct AppleSampleTests {
  private func verifier(
    _ environment: AppEnvironment, _ bundleId: String, _ appAppleId: Int64?
  ) throws -> SignedDataVerifier {
    try SignedDataVerifier(
      roots: [Certificate(der: TestData.bytes("apple/certs/testCA.der"))],
      apps: [
        AppIdentity(bundleId: bundleId, appAppleId: appAppleId, environments: [environment])
      ],
      clock: { 1_761_962_975_000 })
  }

  private func sample(_ name: String) throws -> String {
    try TestData.text("apple/mock_signed_data/\(name)")
  }

  private func code(_ body: () throws -> Void) -> Rejection.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? Rejection)?.code
    }
  }

  @Test func `the test notification is valid for its app in Sandbox, whatever the app id`() throws {
    for appAppleId: Int64 in [1234, 1235] {
      let verified = try verifier(.sandbox, "com.example", appAppleId)
        .verifyNotification(sample("testNotification"))
      let payload = verified.notification.payload
      #expect(payload.notificationType == .test)
      #expect(payload.notificationUUID == "9ad56bd2-0bc6-42e0-af24-fd996d87a1e6")
      #expect(payload.signedDate == 1_681_314_324_000)
      #expect(payload.data?.appAppleId == 1234 && payload.data?.bundleId == "com.example")
      #expect(verified.notification.environment == .sandbox)
      #expect(verified.notification.signer == .appStore)
      #expect(verified.transaction == nil && verified.renewalInfo == nil)
    }
  }

  @Test func `a genuine notification for another app or environment is told apart`() throws {
    let text = try sample("testNotification")
    let cases: [(AppEnvironment, String, Int64, Rejection.Code)] = [
      (.production, "com.example", 1234, .wrongEnvironment),
      (.production, "com.example", 1235, .wrongApp),
      (.sandbox, "com.example.x", 1234, .wrongApp),
    ]
    for (environment, bundleId, appAppleId, code) in cases {
      let verifier = try verifier(environment, bundleId, appAppleId)
      let rejection = #expect(throws: Rejection.self) { try verifier.verifyNotification(text) }
      #expect(rejection?.code == code && rejection?.isGenuine == true)
      #expect(rejection?.isRetryable == false)
    }
  }

  @Test func `one kind of signed object is not taken for another`() throws {
    let sandbox = try verifier(.sandbox, "com.example", nil)
    let text = try sample("testNotification")
    #expect(code { _ = try sandbox.verifyTransaction(text) } == .wrongApp)
    #expect(code { _ = try sandbox.verifyRenewalInfo(text) } == .wrongEnvironment)
    let transaction = try sample("transactionInfo")
    #expect(code { _ = try sandbox.verifyNotification(transaction) } == .notANotification)
  }

  @Test func `transaction and renewal info are valid for their environment only`() throws {
    let transaction = try sample("transactionInfo")
    let renewal = try sample("renewalInfo")
    let sandbox = try verifier(.sandbox, "com.example", nil)
    let verified = try sandbox.verifyTransaction(transaction)
    #expect(verified.environment == .sandbox && verified.app?.bundleId == "com.example")
    #expect(verified.payload.signedDate == 1_672_956_154_000)
    #expect(try sandbox.verifyRenewalInfo(renewal).environment == .sandbox)
    let other = try verifier(.sandbox, "com.example.x", nil)
    #expect(code { _ = try other.verifyTransaction(transaction) } == .wrongApp)
    #expect(try other.verifyRenewalInfo(renewal).environment == .sandbox)
    let production = try verifier(.production, "com.example", 1234)
    #expect(code { _ = try production.verifyTransaction(transaction) } == .wrongEnvironment)
    #expect(code { _ = try production.verifyRenewalInfo(renewal) } == .wrongEnvironment)
  }

  @Test func `samples that are wrong in themselves are refused by their fault`() throws {
    let sandbox = try verifier(.sandbox, "com.example", nil)
    let wrongBundle = try sample("wrongBundleId")
    let missingX5C = try sample("missingX5CHeaderClaim")
    #expect(code { _ = try sandbox.verifyNotification(wrongBundle) } == .wrongApp)
    #expect(code { _ = try sandbox.verifyNotification(missingX5C) } == .malformedJWS)
    for text in ["a.b.c.d", "a.b.c", "", ".", "..", try sample("legacyTransaction")] {
      #expect(code { _ = try sandbox.verifyTransaction(text) } == .malformedJWS)
    }
  }
}

@Suite("Xcode's signed samples")
struct XcodeSampleTests {
  static let bundleId = "com.example.naturelab.backyardbirds.example"

  private func sample(_ name: String) throws -> String {
    try TestData.text("apple/xcode/\(name)")
  }

  /// The certificate that a developer would export from Xcode: here taken from the sample.
  private func certificate(_ jws: String) throws -> Certificate {
    let header = try #require(Base64URL.decode(String(jws.prefix { $0 != "." })))
    let text = String(decoding: header, as: UTF8.self)
    let entry = try #require(text.split(separator: "\"").first { $0.hasPrefix("MII") })
    let plain = entry.split(separator: "\\").joined()
    return try Certificate(der: #require(Base64.decode(plain)))
  }

  private func verifier(_ certificates: [Certificate]) throws -> SignedDataVerifier {
    try SignedDataVerifier(
      roots: [Certificate(der: TestData.bytes("apple/certs/testCA.der"))],
      apps: [
        AppIdentity(
          bundleId: Self.bundleId, environments: [.xcode, .sandbox],
          xcodeCertificates: certificates)
      ],
      clock: { 1_700_000_000_000 })
  }

  @Test func `a transaction by Xcode is read with the certificate that was exported`() throws {
    let text = try sample("xcode-signed-transaction")
    let certificate = try certificate(text)
    let verified = try verifier([certificate]).verifyTransaction(text)
    #expect(verified.signer == .xcode(certificateHash: certificate.sha256Fingerprint))
    #expect(verified.environment == .xcode)
    let payload = verified.payload
    #expect(payload.transactionId == "0" && payload.originalTransactionId == "0")
    #expect(payload.webOrderLineItemId == "0" && payload.productId == "pass.premium")
    #expect(payload.subscriptionGroupIdentifier == "6F3A93AB")
    #expect(payload.purchaseDate == 1_697_679_936_049)
    #expect(payload.originalPurchaseDate == 1_697_679_936_049)
    #expect(payload.expiresDate == 1_700_358_336_049 && payload.signedDate == 1_697_679_936_056)
    #expect(payload.quantity == 1 && payload.type == .autoRenewable)
    #expect(payload.inAppOwnershipType == .purchased && payload.isUpgraded == false)
    #expect(payload.offerType == .introductory && payload.transactionReason == .purchase)
    #expect(payload.storefront == "USA" && payload.storefrontId == "143441")
    #expect(payload.appAccountToken == nil && payload.offerIdentifier == nil)
    #expect(payload.revocationDate == nil && payload.revocationReason == nil)
  }

  @Test func `an app transaction by Xcode keeps its strange dates`() throws {
    let text = try sample("xcode-signed-app-transaction")
    let payload = try verifier([certificate(text)]).verifyAppTransaction(text).payload
    #expect(payload.receiptType == .xcode && payload.bundleId == Self.bundleId)
    #expect(payload.appAppleId == nil && payload.versionExternalIdentifier == nil)
    #expect(payload.preorderDate == nil)
    #expect(payload.applicationVersion == "1" && payload.originalApplicationVersion == "1")
    #expect(payload.originalPurchaseDate == -62_135_769_600_000)
    #expect(payload.receiptCreationDate == 1_697_680_122_257)
    #expect(payload.requestDate == 1_697_680_122_257)
    #expect(
      payload.deviceVerification
        == "cYUsXc53EbYc0pOeXG5d6/31LGHeVGf84sqSN0OrJi5u/j2H89WWKgS8N0hMsMlf")
    #expect(payload.deviceVerificationNonce == "48c8b92d-ce0d-4229-bedf-e61b4f9cfc92")
  }

  @Test func `renewal info by Xcode is read`() throws {
    let text = try sample("xcode-signed-renewal-info")
    let payload = try verifier([certificate(text)]).verifyRenewalInfo(text).payload
    #expect(payload.originalTransactionId == "0" && payload.autoRenewStatus == .on)
    #expect(payload.autoRenewProductId == "pass.premium" && payload.productId == "pass.premium")
    #expect(payload.signedDate == 1_697_679_936_711)
    #expect(payload.recentSubscriptionStartDate == 1_697_679_936_049)
    #expect(payload.renewalDate == 1_700_358_336_049)
    #expect(payload.expirationIntent == nil && payload.offerType == nil)
  }

  @Test func `without its certificate, or for Production, Xcode proves nothing`() throws {
    let text = try sample("xcode-signed-transaction")
    let own = try SigningChain.make(notBefore: 0, notAfter: 2_000_000_000_000).leaf
    let stranger = try verifier([own])
    let rejection = #expect(throws: Rejection.self) { try stranger.verifyTransaction(text) }
    #expect(rejection?.code == .untrustedXcodeCertificate && rejection?.isGenuine == false)
    let production = try SignedDataVerifier(
      roots: [Certificate(der: TestData.bytes("apple/certs/testCA.der"))],
      apps: [AppIdentity(bundleId: Self.bundleId, appAppleId: 1, environments: [.production])],
      clock: { 0 })
    let refused = #expect(throws: Rejection.self) { try production.verifyTransaction(text) }
    #expect(refused?.code == .chainLength)
  }

  @Test func `Xcode's certificate signs for no other environment and no other app`() throws {
    let key = try PrivateKey(generate: .p256)
    let own = try CertificateBuilder(
      subject: [("CN", "StoreKit Testing in Xcode")], issuer: [("CN", "StoreKit Testing in Xcode")],
      notBefore: 0, notAfter: 2_000_000_000_000, publicKey: key.publicKey
    ).signed(by: key)
    let signer = JWSSigner(leafKey: key, certificates: [own])
    let verifier = try SignedDataVerifier(
      roots: [Certificate(der: TestData.bytes("apple/certs/testCA.der"))],
      apps: [
        AppIdentity(
          bundleId: "com.dev", environments: [.xcode, .sandbox], xcodeCertificates: [own]),
        AppIdentity(bundleId: "com.shop", appAppleId: 7, environments: [.production, .sandbox]),
      ],
      clock: { 1_700_000_000_000 })
    func code(_ bundleId: String, _ environment: AppEnvironment) throws -> Rejection.Code? {
      var payload = TransactionPayload()
      payload.bundleId = bundleId
      payload.environment = environment
      let jws = try signer.sign(payload)
      do {
        _ = try verifier.verifyTransaction(jws)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(try code("com.dev", .xcode) == nil)
    #expect(try code("com.dev", .sandbox) == .wrongEnvironment)
    #expect(try code("com.shop", .sandbox) == .wrongApp)
    #expect(try code("com.shop", .production) == .wrongApp)
    #expect(try code("com.shop", .xcode) == .wrongApp)
  }
}
