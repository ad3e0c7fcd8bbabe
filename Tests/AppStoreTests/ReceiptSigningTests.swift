import AppStore
import Cryptography
import TestSupport
import Testing

@Suite("A receipt signed by a chain of the test")
struct ReceiptSigningTests {
  @Test func `every attribute comes back as it was written, unknown ones as bytes`() throws {
    var inApp = InAppReceipt(
      productId: "com.example.coins", transactionId: "7", originalTransactionId: "6",
      purchaseDate: AppStoreChains.now - 5000, quantity: 10)
    inApp.originalPurchaseDate = AppStoreChains.now - 9000
    inApp.productType = .consumable
    inApp.expiresDate = AppStoreChains.now + 9000
    inApp.webOrderLineItemId = "9000000000000000000"
    inApp.cancellationDate = AppStoreChains.now - 2000
    inApp.isTrial = true
    inApp.isInIntroOffer = false
    inApp.promotionalOfferId = "sommer-ä"
    inApp.unknown = [ReceiptAttribute(type: 1799, version: 3, value: [1, 2, 3])]
    var receipt = ReceiptSamples.receipt()
    receipt.inApps.append(inApp)
    receipt.appItemId = 531_412
    receipt.applicationVersion = "1.2.3"
    receipt.opaqueValue = [9, 8, 7]
    receipt.deviceHash = Array(repeating: 5, count: 20)
    receipt.originalPurchaseDate = -62_135_769_600_000
    receipt.originalApplicationVersion = "1.0"
    receipt.expirationDate = AppStoreChains.now + 1000
    receipt.unknown = [
      ReceiptAttribute(type: 99, value: []), ReceiptAttribute(type: 1_000_000, value: [0xFF]),
    ]
    let bytes = try AppStoreChains.chain().receiptSigner.sign(receipt)
    let verified = try ReceiptSamples.ownVerifier().verify(bytes: bytes)
    #expect(verified.receipt == receipt)
    #expect(receipt.hasExpired(at: AppStoreChains.now + 1000))
    #expect(!receipt.hasExpired(at: AppStoreChains.now + 999))
  }

  @Test func `SHA-1, SHA-256 and SHA-384 all stand, and the hash is the content's alone`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try ReceiptSamples.ownVerifier()
    var hashes: Set<String> = []
    for digest: SignedMessage.DigestKind in [.sha1, .sha256, .sha384] {
      let signer = ReceiptSigner(
        leafKey: chain.leafKey, certificates: [chain.leaf, chain.intermediate], digest: digest)
      let bytes = try signer.sign(ReceiptSamples.receipt())
      #expect(try SignedMessage(bytes).digest == digest)
      hashes.insert(try verifier.verify(bytes: bytes).hash)
    }
    #expect(hashes.count == 1)
  }

  @Test func `each kind of receipt belongs to one environment`() throws {
    let signer = try AppStoreChains.chain().receiptSigner
    let verifier = try ReceiptSamples.ownVerifier(nil, [.production, .sandbox])
    let cases: [(String, AppEnvironment?)] = [
      ("Production", .production), ("ProductionVPP", .production),
      ("ProductionSandbox", .sandbox), ("ProductionVPPSandbox", .sandbox), ("Xcode", nil),
      ("LocalTesting", nil), ("production", nil), ("ProductionMoon", nil),
    ]
    for (name, environment) in cases {
      var receipt = ReceiptSamples.receipt()
      receipt.environmentName = name
      let bytes = try signer.sign(receipt)
      if let environment {
        #expect(try verifier.verify(bytes: bytes).environment == environment)
      } else {
        let code = ReceiptSamples.code { _ = try verifier.verify(bytes: bytes) }
        #expect(code == .wrongEnvironment, "\(name)")
      }
    }
  }

  @Test func `certificates count at the receipt's own date, to the second`() throws {
    var plan = AppStoreChains.plan()
    plan.leafNotAfter = AppStoreChains.now
    let chain = try plan.make()
    let verifier = try ReceiptSamples.ownVerifier(chain)
    let cases: [(Int64, ReceiptRejection.Code?)] = [
      (plan.notBefore - 1000, .certificateNotYetValid), (plan.notBefore, nil),
      (AppStoreChains.now, nil), (AppStoreChains.now + 1000, .certificateExpired),
    ]
    for (date, code) in cases {
      var receipt = ReceiptSamples.receipt()
      receipt.creationDate = date
      let bytes = try chain.receiptSigner.sign(receipt)
      #expect(ReceiptSamples.code { _ = try verifier.verify(bytes: bytes) } == code, "\(date)")
    }
  }

  @Test func `a chain without Apple's marks, or an incomplete one, is refused`() throws {
    var noLeafMark = AppStoreChains.plan()
    noLeafMark.leafMarker = nil
    var noIntermediateMark = AppStoreChains.plan()
    noIntermediateMark.intermediateMarker = "1.2.840.113635.100.6.2.2"
    for plan in [noLeafMark, noIntermediateMark] {
      let chain = try plan.make()
      let bytes = try chain.receiptSigner.sign(ReceiptSamples.receipt())
      let verifier = try ReceiptSamples.ownVerifier(chain)
      #expect(ReceiptSamples.code { _ = try verifier.verify(bytes: bytes) } == .missingMarker)
    }
    let chain = try AppStoreChains.chain()
    let verifier = try ReceiptSamples.ownVerifier()
    let lonely = ReceiptSigner(leafKey: chain.leafKey, certificates: [chain.leaf])
    let rooted = ReceiptSigner(leafKey: chain.leafKey, certificates: [chain.leaf, chain.root])
    for signer in [lonely, rooted] {
      let bytes = try signer.sign(ReceiptSamples.receipt())
      #expect(ReceiptSamples.code { _ = try verifier.verify(bytes: bytes) } == .wrongRoot)
    }
  }

  @Test func `a genuine chain around a stranger's signature does not help`() throws {
    let chain = try AppStoreChains.chain()
    let key = try PrivateKey(generate: .p256)
    let forged = try CertificateBuilder(
      subject: [("CN", "Forger")], issuer: [("CN", "Forger")], notBefore: 0,
      notAfter: 2_000_000_000_000, publicKey: key.publicKey
    ).signed(by: key)
    let signer = ReceiptSigner(
      leafKey: key, certificates: [forged, chain.leaf, chain.intermediate, chain.root])
    let bytes = try signer.sign(ReceiptSamples.receipt())
    let verifier = try ReceiptSamples.ownVerifier()
    #expect(ReceiptSamples.code { _ = try verifier.verify(bytes: bytes) } == .wrongRoot)
  }

  @Test func `signed content that is no receipt is genuine and malformed`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try ReceiptSamples.ownVerifier()
    var nameless = ReceiptSamples.receipt()
    nameless.inApps[0].productId = ""
    var dateless = ReceiptSamples.receipt()
    dateless.inApps[0].unknown = [ReceiptAttribute(type: 1712, value: [0x16, 1, 0x20])]
    var openEnded = ReceiptSamples.receipt()
    openEnded.bundleIdBytes = [0x0C, 0x80, 0x61, 0, 0]
    let contents: [[UInt8]] = [
      [], [0x31], [0x31, 0x00], Array("{\"bundle_id\":\"com.example\"}".utf8),
      ReceiptSamples.receipt().content + [0], nameless.content, dateless.content,
      openEnded.content, [0x31, 0x05, 0x30, 0x03, 0x02, 0x01, 0x00],
    ]
    for content in contents {
      let bytes = try chain.receiptSigner.sign(content: content)
      let rejection = #expect(throws: ReceiptRejection.self) { try verifier.verify(bytes: bytes) }
      #expect(rejection?.code == .malformedContent && rejection?.isGenuine == true)
    }
  }
}
