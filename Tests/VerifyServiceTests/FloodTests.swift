import AppStore
import Glibc
import ServiceRuntime
import TestSupport
import Testing

@testable import verify_service

/// What a flood of foreign chains costs the edge.
///
/// The bound, as docs/operations.md states it: at most 50 chains a second are verified in full (after a
/// burst of 200), each at most as costly as fifteen good notifications; every other forgery costs less
/// than half of one. Costs are CPU time, so the machine and its load do not matter.
@Suite("A flood of foreign chains", .serialized) struct FloodTests {
  /// CPU time of this thread in seconds.
  private func cpu(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
      var time = timespec()
      _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let began = now()
    try body()
    return now() - began
  }

  private func good(_ samples: NotificationSamples) throws -> String {
    try samples.notification(
      "DID_RENEW", at: NotificationSamples.start, NotificationSamples.transaction(),
      NotificationSamples.renewal(), status: 1)
  }

  private func verifier(_ samples: NotificationSamples, _ gate: @escaping @Sendable () -> Bool)
    throws -> SignedDataVerifier
  {
    try SignedDataVerifier(
      roots: [samples.chain.root],
      apps: [AppIdentity(bundleId: "com.example.app", environments: [.sandbox])],
      uncachedChainGate: gate
    ) { AppStoreChains.now }
  }

  /// Forgeries that a stranger can make: whole notifications under other roots, also with Apple's own
  /// intermediate in them, and genuine ones with another signature.
  private func forgeries(_ samples: NotificationSamples) throws -> [String] {
    let genuine = try good(samples)
    var forged: [String] = []
    for number in 0..<4 {
      let stranger = try AppStoreChains.plan(name: "Stranger \(number)").make()
      forged.append(try stranger.signer.sign(NotificationPayload()))
      forged.append(
        try JWSSigner(
          leafKey: stranger.leafKey,
          certificates: [stranger.leaf, samples.chain.intermediate, samples.chain.root]
        ).sign(NotificationPayload()))
    }
    forged.append(String(genuine.dropLast(20)) + String(repeating: "A", count: 20))
    return forged
  }

  @Test func `beyond the bucket a forgery costs less than half a good notification`() throws {
    let samples = try NotificationSamples()
    let genuine = try good(samples)
    let verifier = try verifier(samples) { false }
    // The genuine chain is known, as it is on every edge that has run for a second.
    let open = try self.verifier(samples) { true }
    _ = try open.verifyNotification(genuine)
    let goodCost = try cpu { for _ in 0..<200 { _ = try open.verifyNotification(genuine) } } / 200
    let forged = try forgeries(samples).dropLast()
    let cost =
      cpu {
        for round in 0..<800 {
          _ = try? verifier.verifyNotification(forged[forged.startIndex + round % forged.count])
        }
      } / 800
    #expect(cost < goodCost / 2, "a forgery costs \(cost) s, a good notification \(goodCost) s")
  }

  @Test func `a chain that is verified in full costs at most fifteen good notifications`() throws {
    let samples = try NotificationSamples()
    let genuine = try good(samples)
    let open = try verifier(samples) { true }
    _ = try open.verifyNotification(genuine)
    let goodCost = try cpu { for _ in 0..<100 { _ = try open.verifyNotification(genuine) } } / 100
    for forged in try forgeries(samples).dropLast() {
      let cost = cpu { for _ in 0..<20 { _ = try? open.verifyNotification(forged) } } / 20
      #expect(cost < 15 * goodCost, "in full \(cost) s, a good notification \(goodCost) s")
    }
  }

  @Test func `a genuine header with another signature costs less than half of a good one`() throws {
    let samples = try NotificationSamples()
    let genuine = try good(samples)
    let verifier = try verifier(samples) { false }
    let open = try self.verifier(samples) { true }
    _ = try open.verifyNotification(genuine)
    let spoiled = try #require(try forgeries(samples).last)
    let goodCost = try cpu { for _ in 0..<200 { _ = try open.verifyNotification(genuine) } } / 200
    let cost = cpu { for _ in 0..<200 { _ = try? open.verifyNotification(spoiled) } } / 200
    #expect(cost < goodCost / 2, "spoiled \(cost) s, good \(goodCost) s")
    #expect(throws: Rejection.self) { try verifier.verifyNotification(spoiled) }
  }

  @Test func `no more chains are verified in full than the bucket has tokens`() throws {
    let samples = try NotificationSamples()
    let genuine = try good(samples)
    let bucket = TokenBucket(perSecond: 50, burst: 200)
    let began = ContinuousClock.now
    let verifier = try verifier(samples) { bucket.take() }
    _ = try verifier.verifyNotification(genuine)
    let forged = try forgeries(samples)
    var inFull = 0
    for round in 0..<3000 {
      do {
        _ = try verifier.verifyNotification(forged[round % forged.count])
        Issue.record("a forgery was taken")
      } catch {
        if error.code == .untrustedChain { inFull += 1 }
      }
      // Good ones pass all the while, whatever the bucket says.
      if round.isMultiple(of: 100) { _ = try verifier.verifyNotification(genuine) }
    }
    let seconds = Double((ContinuousClock.now - began).components.seconds) + 1
    #expect(Double(inFull) <= 200 + 50 * seconds)
    #expect(inFull >= 100)
  }
}
