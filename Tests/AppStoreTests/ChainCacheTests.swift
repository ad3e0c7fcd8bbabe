import AppStore
import Cryptography
import Synchronization
import TestSupport
import Testing

@Suite("Cache of verified chains")
struct ChainCacheTests {
  static let now = AppStoreChains.now

  private func verifier(
    _ roots: [Certificate], limit: Int = 64, gate: (@Sendable () -> Bool)? = nil
  ) throws -> SignedDataVerifier {
    try SignedDataVerifier(
      roots: roots, apps: [AppIdentity(bundleId: "com.example", environments: [.sandbox])],
      cacheLimit: limit, uncachedChainGate: gate, clock: { Self.now })
  }

  private func payload(_ signedDate: Int64 = now) -> TransactionPayload {
    var payload = TransactionPayload()
    payload.bundleId = "com.example"
    payload.environment = .sandbox
    payload.signedDate = signedDate
    return payload
  }

  @Test func `a chain is verified once, then known`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    for _ in 0..<10 { _ = try verifier.verifyTransaction(chain.signer.sign(payload())) }
    #expect(verifier.cacheCounts.misses == 1 && verifier.cacheCounts.hits == 9)
    // One entry finds the chain by its certificates, one by the whole header, which is faster.
    #expect(verifier.cacheCounts.entries == 2)
  }

  @Test func `a known chain is still refused after its end`() throws {
    var plan = AppStoreChains.plan()
    plan.leafNotAfter = Self.now
    let chain = try plan.make()
    let verifier = try verifier([chain.root])
    _ = try verifier.verifyTransaction(chain.signer.sign(payload()))
    let late = try chain.signer.sign(payload(Self.now + 1000))
    let rejection = #expect(throws: Rejection.self) { try verifier.verifyTransaction(late) }
    #expect(rejection?.code == .certificateExpired)
    #expect(verifier.cacheCounts.hits == 1)
  }

  @Test func `the cache never outgrows its bound, and forgets the least used first`() throws {
    let base = try AppStoreChains.chain()
    var plan = AppStoreChains.plan()
    plan.authority = (base.root, base.rootKey)
    let verifier = try verifier([base.root], limit: 4)
    let favorite = try base.signer.sign(payload())
    let others = try (0..<6).map { _ in try plan.make().signer.sign(payload()) }
    for other in others {
      _ = try verifier.verifyTransaction(favorite)
      _ = try verifier.verifyTransaction(other)
      #expect(verifier.cacheCounts.entries <= 4)
    }
    // Two entries a chain, seven chains, four places.
    #expect(verifier.cacheCounts.misses == 7 && verifier.cacheCounts.evictions == 10)
    _ = try verifier.verifyTransaction(#require(others.last))
    #expect(verifier.cacheCounts.misses == 7)
    _ = try verifier.verifyTransaction(#require(others.first))
    #expect(verifier.cacheCounts.misses == 8)
  }

  @Test func `strangers leave nothing in the cache`() throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root])
    let stranger = try AppStoreChains.plan().make()
    let forged = try stranger.signer.sign(payload())
    for _ in 0..<3 {
      #expect(throws: Rejection.self) { try verifier.verifyTransaction(forged) }
    }
    #expect(verifier.cacheCounts.entries == 0 && verifier.cacheCounts.misses == 3)
    // A genuine chain under ever new headers costs one entry, not one per header.
    let forger = try PrivateKey(generate: .p256)
    for _ in 0..<3 {
      let third = try AppStoreChains.plan(name: UUIDs.version4()).make().root
      let signer = JWSSigner(
        leafKey: forger, certificates: [chain.leaf, chain.intermediate, third])
      let text = try signer.sign(payload())
      #expect(throws: Rejection.self) { try verifier.verifyTransaction(text) }
    }
    #expect(verifier.cacheCounts.entries == 1)
  }

  @Test func `the gate is asked for unknown chains only, and its no is retryable`() throws {
    let chain = try AppStoreChains.chain()
    let tokens = Mutex(1)
    let verifier = try verifier([chain.root]) {
      tokens.withLock { tokens in
        tokens -= 1
        return tokens >= 0
      }
    }
    for _ in 0..<5 { _ = try verifier.verifyTransaction(chain.signer.sign(payload())) }
    let other = try AppStoreChains.plan().make().signer.sign(payload())
    let rejection = #expect(throws: Rejection.self) { try verifier.verifyTransaction(other) }
    #expect(rejection?.code == .busy && rejection?.isRetryable == true)
    #expect(rejection?.isGenuine == false)
  }

  @Test func `many tasks may verify at once`() async throws {
    let chain = try AppStoreChains.chain()
    let verifier = try verifier([chain.root], limit: 2)
    let good = try chain.signer.sign(payload())
    let bad = try AppStoreChains.plan().make().signer.sign(payload())
    let right = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<100 {
        group.addTask {
          let isGood = index % 2 == 0
          return ((try? verifier.verifyTransaction(isGood ? good : bad)) != nil) == isGood
        }
      }
      return await group.allSatisfy { $0 }
    }
    #expect(right)
  }
}
