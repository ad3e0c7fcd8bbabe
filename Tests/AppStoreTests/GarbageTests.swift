import AppStore
import Cryptography
import TestSupport
import Testing

@Suite("Damaged input")
struct GarbageTests {
  /// A generator with a seed, so that a failure can be repeated (SplitMix64).
  private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private func damaged(_ bytes: [UInt8], _ random: inout Seeded) -> [UInt8] {
    var result = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      guard !result.isEmpty else { return result }
      let place = Int.random(in: 0..<result.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: result[place] = UInt8.random(in: 0...255, using: &random)
      case 1: result.remove(at: place)
      case 2: result.insert(UInt8.random(in: 32...126, using: &random), at: place)
      default: result.removeSubrange(place...)
      }
    }
    return result
  }

  @Test func `no damage to signed data passes or crashes`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try SignedDataVerifier(
      roots: [chain.root], apps: [AppIdentity(bundleId: "com.example", environments: [.sandbox])],
      clock: { AppStoreChains.now })
    let good = try chain.signer.sign(
      Array("{\"bundleId\":\"com.example\",\"environment\":\"Sandbox\"}".utf8))
    _ = try verifier.verifyTransaction(good)
    var random = Seeded(state: 20_231_114)
    for round in 0..<1500 {
      let text = String(decoding: damaged(Array(good.utf8), &random), as: UTF8.self)
      guard text != good else { continue }
      #expect(throws: Rejection.self, "round \(round)") { try verifier.verifyTransaction(text) }
    }
    for length in 0..<good.utf8.count where length % 7 == 0 {
      let text = String(good.prefix(length))
      #expect(throws: Rejection.self) { try verifier.verifyTransaction(text) }
    }
  }

  @Test func `no damage to a payload crashes its reader`() throws {
    let files = ["signedTransaction", "signedRenewalInfo", "signedSummaryNotification"]
    var random = Seeded(state: 7)
    for file in files {
      let json = try TestData.bytes("apple/models/\(file).json")
      for _ in 0..<2000 {
        let bytes = damaged(json, &random)
        // Reading may succeed or throw its own error; what it reads must be writable again.
        if let read = try? TransactionPayload(json: bytes) {
          #expect(throws: Never.self) { try JSONTree(of: read) }
        }
        _ = try? NotificationPayload(json: bytes)
      }
    }
  }

  @Test func `no damage to a certificate or key crashes its reader`() throws {
    let der = try TestData.bytes("apple/certs/chain/real-apple-leaf.der")
    let key = Array(try PrivateKey(generate: .p256).pem().utf8)
    var random = Seeded(state: 99)
    for _ in 0..<500 {
      if let read = try? Certificate(der: damaged(der, &random)) {
        #expect(!read.der.isEmpty)
      }
      _ = try? PrivateKey(pem: String(decoding: damaged(key, &random), as: UTF8.self))
    }
  }
}
