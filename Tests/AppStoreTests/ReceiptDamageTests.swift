import AppStore
import Cryptography
import TestSupport
import Testing

@Suite("Damaged receipts")
struct ReceiptDamageTests {
  private func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var result = bytes
    for _ in 0..<Int.random(in: 1...3, using: &random) where !result.isEmpty {
      let place = Int.random(in: 0..<result.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: result[place] = UInt8.random(in: 0...255, using: &random)
      case 1: result[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: result.remove(at: place)
      default: result.insert(UInt8.random(in: 0...255, using: &random), at: place)
      }
    }
    return result
  }

  @Test func `a receipt cut off anywhere is refused, never a crash`() throws {
    let apple = try ReceiptSamples.sandboxBytes()
    let verifier = try ReceiptSamples.appleVerifier()
    for length in 0..<apple.count {
      let cut = Array(apple[..<length])
      let code = ReceiptSamples.code { _ = try verifier.verify(bytes: cut) }
      #expect(code == .malformedReceipt, "\(length) bytes")
    }
    let xcode = try ReceiptSamples.bytes(ReceiptSamples.xcodeText("with-transaction"))
    for length in 0..<xcode.count {
      let text = Base64.encode(Array(xcode[..<length]))
      #expect(throws: ReceiptRejection.self, "\(length) bytes") {
        try ReceiptIdentifiers.unprovedTransactionId(inAppReceipt: text)
      }
    }
    let code = ReceiptSamples.code { _ = try verifier.verify(bytes: apple + [0]) }
    #expect(code == .malformedReceipt)
  }

  @Test func `no damage to Apple's receipt passes with another content`() throws {
    let good = try ReceiptSamples.sandboxBytes()
    let verifier = try ReceiptSamples.appleVerifier()
    let expected = try verifier.verify(bytes: good)
    var random = SeededGenerator(seed: 20_200_722)
    for round in 0..<1000 {
      let bytes = damaged(good, &random)
      // Bytes that nobody signed may change: versions, an unused certificate, unsigned attributes.
      if let verified = try? verifier.verify(bytes: bytes) {
        #expect(verified.receipt == expected.receipt, "round \(round)")
        #expect(verified.hash == expected.hash, "round \(round)")
      }
    }
  }

  @Test func `no damage to what is signed crashes its readers`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try ReceiptSamples.ownVerifier()
    let content = ReceiptSamples.receipt().content
    var random = SeededGenerator(seed: 12)
    var read = 0
    for _ in 0..<150 {
      let bytes = try chain.receiptSigner.sign(content: damaged(content, &random))
      let code = ReceiptSamples.code { _ = try verifier.verify(bytes: bytes) }
      if code == nil { read += 1 }
      #expect(code == nil || code != .badSignature)
      _ = try? ReceiptIdentifiers.unprovedTransactionId(inAppReceipt: Base64.encode(bytes))
    }
    #expect(read < 150)
  }

  @Test func `no damage to text crashes what recognizes it`() throws {
    let samples = [
      try ReceiptSamples.xcodeText("with-transaction"),
      try TestData.text("apple/mock_signed_data/legacyTransaction"),
      try TestData.text("apple/xcode/xcode-signed-renewal-info"), "1000000692878476",
    ]
    var random = SeededGenerator(seed: 5)
    for sample in samples {
      for _ in 0..<150 {
        let text = String(decoding: damaged(Array(sample.utf8), &random), as: UTF8.self)
        #expect(!ProofText.recognize(text).name.isEmpty)
        _ = try? ReceiptIdentifiers.unprovedTransactionId(inAppReceipt: text)
        _ = try? ReceiptIdentifiers.unprovedTransactionId(inLegacyTransactionReceipt: text)
      }
    }
  }
}
