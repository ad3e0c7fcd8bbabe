import AppStore
import Cryptography
import TestSupport
import Testing

/// The table of receipts in testdata/apple/README.md.
@Suite("A receipt signed by Apple")
struct ReceiptVerifierTests {
  @Test func `the sandbox receipt of 2020 is valid at its own date, with all its purchases`() throws
  {
    let verified = try ReceiptSamples.appleVerifier().verify(ReceiptSamples.sandboxText())
    let receipt = verified.receipt
    #expect(verified.environment == .sandbox && verified.signer == .appStore)
    #expect(verified.app.bundleId == ReceiptSamples.sandboxBundle)
    #expect(verified.hash.utf8.count == 64)
    #expect(receipt.environmentName == "ProductionSandbox" && receipt.environment == .sandbox)
    #expect(receipt.bundleId == ReceiptSamples.sandboxBundle)
    #expect(receipt.bundleIdBytes == [0x0C, 24] + Array(ReceiptSamples.sandboxBundle.utf8))
    #expect(receipt.applicationVersion == "4" && receipt.originalApplicationVersion == "1.0")
    #expect(receipt.creationDate == ReceiptSamples.sandboxCreation)
    #expect(receipt.appItemId == 0 && receipt.expirationDate == nil)
    #expect(receipt.opaqueValue?.count == 16 && receipt.deviceHash?.count == 20)
    #expect(receipt.inApps.count == 9)
    #expect(receipt.inApps.first?.transactionId == "1000000692879214")
    #expect(receipt.inApps.last?.transactionId == "1000000692878476")
    #expect(receipt.inApps.allSatisfy { $0.originalTransactionId == "1000000692878476" })
    #expect(receipt.inApps.map(\.isTrial) == Array(repeating: false, count: 8) + [true])
    #expect(receipt.inApps.allSatisfy { $0.quantity == 1 && $0.cancellationDate == nil })
    #expect(!receipt.unknown.isEmpty)
  }

  @Test func `it says of each purchase what verifyReceipt says of it`() throws {
    let receipt = try ReceiptSamples.appleVerifier().verify(ReceiptSamples.sandboxText()).receipt
    let answer = try VerifyReceiptResponse(
      json: TestData.bytes("apple/receipts/sandbox-verifyReceipt-response.json"))
    let told = try #require(answer.receipt)
    #expect(told.bundleId == receipt.bundleId && told.receiptType == receipt.environmentName)
    #expect(told.receiptCreationDate == receipt.creationDate)
    #expect(told.originalPurchaseDate == receipt.originalPurchaseDate)
    #expect(told.inApp.count == receipt.inApps.count)
    for (theirs, ours) in zip(told.inApp, receipt.inApps) {
      #expect(theirs.transactionId == ours.transactionId)
      #expect(theirs.originalTransactionId == ours.originalTransactionId)
      #expect(theirs.productId == ours.productId && theirs.quantity == ours.quantity)
      #expect(theirs.purchaseDate == ours.purchaseDate)
      #expect(theirs.originalPurchaseDate == ours.originalPurchaseDate)
      #expect(theirs.expiresDate == ours.expiresDate)
      #expect(theirs.webOrderLineItemId == ours.webOrderLineItemId)
      #expect(theirs.isTrialPeriod == ours.isTrial)
      #expect(theirs.isInIntroOfferPeriod == ours.isInIntroOffer)
    }
  }

  @Test func `a changed byte of the content breaks the signature`() throws {
    let good = try ReceiptSamples.sandboxBytes()
    let verifier = try ReceiptSamples.appleVerifier()
    _ = try verifier.verify(bytes: good)
    // The content lies at 62..<4273: openssl asn1parse.
    for place in stride(from: 66, to: 4273, by: 211) {
      var bytes = good
      bytes[place] ^= 0x01
      let code = ReceiptSamples.code { _ = try verifier.verify(bytes: bytes) }
      #expect(code == .badSignature, "byte \(place)")
    }
    var bytes = good
    bytes[good.count - 1] ^= 0x01
    #expect(ReceiptSamples.code { _ = try verifier.verify(bytes: bytes) } == .badSignature)
  }

  @Test func `another root, app or environment refuses it by its own code`() throws {
    let text = try ReceiptSamples.sandboxText()
    let stranger = try ReceiptVerifier(
      roots: [Certificate(der: TestData.bytes("apple/certs/apple-root/AppleRootCA-G3.cer"))],
      apps: [AppIdentity(bundleId: ReceiptSamples.sandboxBundle, environments: [.sandbox])])
    let other = try ReceiptSamples.appleVerifier(bundle: "com.example")
    let production = try ReceiptSamples.appleVerifier([.production])
    let sandbox = try ReceiptSamples.appleVerifier()
    let cases: [(ReceiptRejection.Code, Bool, () throws -> Void)] = [
      (.wrongRoot, false, { _ = try stranger.verify(text) }),
      (.wrongApp, true, { _ = try other.verify(text) }),
      (.wrongApp, true, { _ = try sandbox.verify(text, expectedBundle: "com.example") }),
      (.wrongEnvironment, true, { _ = try production.verify(text) }),
    ]
    for (code, isGenuine, body) in cases {
      let rejection = #expect(throws: ReceiptRejection.self) { try body() }
      #expect(rejection?.code == code)
      #expect(rejection?.isGenuine == isGenuine && rejection?.isRetryable == false)
    }
  }

  @Test func `certificates over SHA-1 stand for receipts and for nothing else`() throws {
    let message = try SignedMessage(ReceiptSamples.sandboxBytes())
    #expect(message.digest == .sha1 && message.certificates.count == 3)
    #expect(message.isSignedBySigner())
    let intermediate = try #require(
      message.certificates.first { $0.subject == message.signer.issuer })
    let roots = [try ReceiptSamples.appleRoot()]
    let chain = try CertificateChain.verify(
      leaf: message.signer, intermediate: intermediate, roots: roots, strength: .withSHA1)
    // Until the day in February 2023 on which receipts that were checked against today failed.
    #expect((1_675_728_000_000..<1_675_814_400_000).contains(chain.validThrough))
    #expect(throws: ChainFault.self) {
      try CertificateChain.verify(
        leaf: message.signer, intermediate: intermediate, roots: roots)
    }
  }

  @Test func `a verifier that trusts nothing, or too much, is not built`() throws {
    let app = AppIdentity(bundleId: "com.example", environments: [.sandbox])
    let own = try AppStoreChains.chain().root
    let apple = try ReceiptSamples.appleRoot()
    #expect(apple.sha256Fingerprint.hasPrefix("b0b1730e"))
    #expect(throws: VerifierConfigurationFault.self) {
      try ReceiptVerifier(roots: [], apps: [app])
    }
    #expect(throws: VerifierConfigurationFault.self) {
      try ReceiptVerifier(roots: [own, apple], apps: [app])
    }
    let fault = #expect(throws: VerifierConfigurationFault.self) {
      try ReceiptVerifier(
        roots: [own],
        apps: [app, app, AppIdentity(bundleId: "com.dev", environments: [.xcode])], sizeLimit: 0)
    }
    #expect(fault?.faults.count == 3)
  }
}

@Suite("A receipt signed by Xcode")
struct XcodeReceiptTests {
  private func certificate() throws -> Certificate {
    let bytes = try ReceiptSamples.bytes(ReceiptSamples.xcodeText("empty"))
    return try SignedMessage(bytes).signer
  }

  private func verifier(_ certificates: [Certificate]) throws -> ReceiptVerifier {
    try ReceiptVerifier(
      roots: [AppStoreChains.chain().root],
      apps: [
        AppIdentity(
          bundleId: ReceiptSamples.xcodeBundle, environments: [.xcode, .sandbox],
          xcodeCertificates: certificates)
      ])
  }

  @Test func `with the exported certificate it is read, in its own encoding`() throws {
    let certificate = try certificate()
    let verifier = try verifier([certificate])
    let empty = try verifier.verify(ReceiptSamples.xcodeText("empty"))
    #expect(empty.environment == .xcode && empty.receipt.environmentName == "Xcode")
    #expect(empty.signer == .xcode(certificateHash: certificate.sha256Fingerprint))
    #expect(empty.receipt.bundleId == ReceiptSamples.xcodeBundle)
    #expect(empty.receipt.applicationVersion == "1" && empty.receipt.inApps.isEmpty)
    // 2023-10-19T01:18:54Z and 4001-01-01T00:00:00Z.
    #expect(empty.receipt.creationDate == 1_697_678_334_000)
    #expect(empty.receipt.expirationDate == 64_092_211_200_000)
    #expect(!empty.receipt.hasExpired(at: 1_800_000_000_000))
    #expect(empty.receipt.opaqueValue?.count == 8 && empty.lineages.isEmpty)

    let full = try verifier.verify(ReceiptSamples.xcodeText("with-transaction")).receipt
    #expect(full.creationDate == 1_697_679_940_000)
    var expected = InAppReceipt(
      productId: "pass.premium", transactionId: "0", purchaseDate: 1_697_679_936_000)
    expected.expiresDate = 1_700_358_336_000
    expected.isInIntroOffer = true
    #expect(full.inApps == [expected])
  }

  @Test func `without its certificate, or for another app, it proves nothing`() throws {
    let text = try ReceiptSamples.xcodeText("empty")
    let own = try AppStoreChains.chain().leaf
    let cases: [(ReceiptRejection.Code, ReceiptVerifier)] = [
      (.untrustedXcodeCertificate, try verifier([own])),
      (.wrongRoot, try ReceiptSamples.ownVerifier()),
      (.wrongRoot, try ReceiptSamples.appleVerifier(bundle: ReceiptSamples.xcodeBundle)),
    ]
    for (code, verifier) in cases {
      #expect(ReceiptSamples.code { _ = try verifier.verify(text) } == code)
    }
    let elsewhere = try ReceiptVerifier(
      roots: [AppStoreChains.chain().root],
      apps: [
        AppIdentity(
          bundleId: "com.dev", environments: [.xcode], xcodeCertificates: [certificate()]),
        AppIdentity(bundleId: ReceiptSamples.xcodeBundle, environments: [.sandbox]),
      ])
    #expect(ReceiptSamples.code { _ = try elsewhere.verify(text) } == .wrongApp)
  }

  @Test func `its certificate signs for no other environment`() throws {
    let key = try PrivateKey(generate: .p256)
    let name = [("CN", "StoreKit Testing in Xcode")]
    let own = try CertificateBuilder(
      subject: name, issuer: name, notBefore: 0, notAfter: 2_000_000_000_000,
      publicKey: key.publicKey
    ).signed(by: key)
    let signer = ReceiptSigner(leafKey: key, certificates: [own])
    let verifier = try verifier([own])
    for (environment, code) in [
      ("Xcode", nil), ("ProductionSandbox", ReceiptRejection.Code.wrongEnvironment),
      ("Production", .wrongEnvironment), ("Sandbox", .wrongEnvironment),
    ] {
      let receipt = AppReceipt(
        environmentName: environment, bundleId: ReceiptSamples.xcodeBundle,
        creationDate: AppStoreChains.now)
      let bytes = try signer.sign(receipt)
      #expect(ReceiptSamples.code { _ = try verifier.verify(bytes: bytes) } == code)
    }
  }
}
