import Cryptography
import HTTPClient
import Synchronization
import TestSupport
import Testing

@testable import AppStore

/// A chain whose certificates name where to ask, and what its issuers answer.
struct RevocableChain {
  let chain: SigningChain
  var certificates: [Certificate] { [chain.leaf, chain.intermediate, chain.root] }

  init() throws {
    var plan = AppStoreChains.plan(name: "Revocable")
    plan.intermediateExtensions = [.revocationAddress("http://root.test/ocsp")]
    plan.leafExtensions = [.revocationAddress("http://intermediate.test/ocsp")]
    chain = try plan.make()
  }

  static let shared = Result { try RevocableChain() }

  /// The answer of an issuer about its certificate, valid for an hour around `now`.
  func answer(
    aboutLeaf: Bool, _ status: RevocationStatus = .good, from: Int64 = AppStoreChains.now - 1000,
    until: Int64 = AppStoreChains.now + 3_600_000, signer: (Certificate, PrivateKey)? = nil
  ) throws -> [UInt8] {
    let issuer = aboutLeaf ? chain.intermediate : chain.root
    let key = aboutLeaf ? chain.intermediateKey : chain.rootKey
    return try RevocationResponder(
      issuer: issuer, signer: signer?.0 ?? issuer, key: signer?.1 ?? key
    ).answer(about: aboutLeaf ? chain.leaf : chain.intermediate, status, from: from, until: until)
  }
}

@Suite("Revocation by OCSP") struct RevocationTests {
  private let now = AppStoreChains.now
  private var sample: RevocableChain { get throws { try RevocableChain.shared.get() } }

  private func question() throws -> RevocationQuestion {
    let chain = try sample.chain
    return try #require(try RevocationQuestion(chain.leaf, issuer: chain.intermediate))
  }

  @Test func `the question goes where the certificate says, and the answer is believed`() throws {
    let question = try question()
    #expect(question.url == "http://intermediate.test/ocsp")
    #expect(try question.read(sample.answer(aboutLeaf: true), now: now) == .good)
    let revoked = try sample.answer(aboutLeaf: true, .revoked(at: now - 60_000))
    #expect(try question.read(revoked, now: now) == .revoked(at: now - 60_000))
  }

  @Test func `an answer of yesterday or of tomorrow is none`() throws {
    let question = try question()
    let answer = try sample.answer(aboutLeaf: true)
    #expect(try question.read(answer, now: now + 3_600_000 + 59_000) == .good)
    for time in [now + 3_600_000 + 62_000, now - 63_000] {
      #expect(throws: CryptographyError.self) { try question.read(answer, now: time) }
    }
  }

  @Test func `nobody but the issuer, or whom it made its responder, may answer`() throws {
    let chain = try sample.chain
    let question = try question()
    let key = try PrivateKey(generate: .p256)
    func certificate(_ extensions: [CertificateExtension], by issuer: PrivateKey) throws
      -> Certificate
    {
      try CertificateBuilder(
        subject: [("CN", "Responder")],
        issuer: [("CN", "Revocable Intermediate"), ("O", "Revocable")],
        notBefore: now - AppStoreChains.day, notAfter: now + AppStoreChains.day,
        publicKey: key.publicKey, extensions: [.digitalSignature] + extensions
      ).signed(by: issuer)
    }
    let delegated = try certificate([.revocationSigning], by: chain.intermediateKey)
    let answer = try sample.answer(aboutLeaf: true, signer: (delegated, key))
    #expect(try question.read(answer, now: now) == .good)

    let undelegated = try certificate([], by: chain.intermediateKey)
    let stranger = try certificate([.revocationSigning], by: try PrivateKey(generate: .p384))
    for signer in [undelegated, stranger, chain.leaf] {
      let key = signer == chain.leaf ? chain.leafKey : key
      let forged = try sample.answer(aboutLeaf: true, signer: (signer, key))
      #expect(throws: CryptographyError.self) { try question.read(forged, now: now) }
    }
  }

  @Test func `garbage, other certificates and damaged answers say nothing`() throws {
    let question = try question()
    let other = try sample.answer(aboutLeaf: false)
    #expect(throws: CryptographyError.self) { try question.read(other, now: now) }
    let good = try sample.answer(aboutLeaf: true)
    for length in stride(from: 0, to: good.count, by: 7) {
      #expect(throws: CryptographyError.self) {
        try question.read(Array(good.prefix(length)), now: now)
      }
    }
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<300 {
      var damaged = good
      damaged[Int.random(in: 0..<damaged.count, using: &generator)] ^=
        1
        << UInt8.random(
          in: 0..<8, using: &generator)
      // Whatever it throws, it never says "revoked" of a chain of which nobody said so.
      let status = try? question.read(damaged, now: now)
      #expect(status == nil || status == .good)
    }
  }

  @Test func `a certificate without an address cannot be asked about`() throws {
    let chain = try AppStoreChains.chain()
    #expect(try RevocationQuestion(chain.leaf, issuer: chain.intermediate) == nil)
  }
}

@Suite("The revocation of chains") struct RevocationCheckerTests {
  /// Answers for both issuers, counts what it is asked, and has a clock that is set by hand.
  private final class Responders: Sendable {
    let asked = Atomic<Int>(0)
    let uptime = Mutex(Duration.zero)
    let answers = Mutex<[String: Result<HTTPResponse, HTTPClientError>]>([:])

    func set(_ host: String, _ body: [UInt8], status: Int = 200) {
      answers.withLock {
        $0["http://\(host).test/ocsp"] = .success(HTTPResponse(status: status, body: body))
      }
    }

    func checker() -> RevocationChecker {
      var timing = APITiming { AppStoreChains.now }
      timing.uptime = { self.uptime.withLock { $0 } }
      return RevocationChecker(timing: timing) { (request) async throws(HTTPClientError) in
        self.asked.wrappingAdd(1, ordering: .relaxed)
        await Task.yield()
        let fault = HTTPClientError(kind: .timedOut, origin: "test", detail: "no answer")
        return try (self.answers.withLock { $0[request.url] } ?? .failure(fault)).get()
      }
    }
  }

  private var sample: RevocableChain { get throws { try RevocableChain.shared.get() } }

  private func responders() throws -> Responders {
    let responders = Responders()
    responders.set("root", try sample.answer(aboutLeaf: false))
    responders.set("intermediate", try sample.answer(aboutLeaf: true))
    return responders
  }

  @Test func `both certificates are asked about once in a quarter of an hour`() async throws {
    let responders = try responders()
    let checker = responders.checker()
    let chain = try sample.certificates
    #expect(checker.known(chain) == nil)
    let all = await withTaskGroup(of: RevocationState.self) { group in
      for _ in 0..<20 { group.addTask { await checker.check(chain) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(all == Array(repeating: .good, count: 20))
    #expect(responders.asked.load(ordering: .relaxed) == 2)
    responders.uptime.withLock { $0 = .seconds(899) }
    #expect(checker.known(chain) == .good)
    responders.uptime.withLock { $0 = .seconds(901) }
    #expect(checker.known(chain) == nil)
    #expect(await checker.check(chain) == .good)
    #expect(responders.asked.load(ordering: .relaxed) == 4)
  }

  @Test func `a revoked leaf and a revoked intermediate end the chain`() async throws {
    let date = AppStoreChains.now - 5000
    let leaf = try responders()
    leaf.set("intermediate", try sample.answer(aboutLeaf: true, .revoked(at: date)))
    #expect(await leaf.checker().check(try sample.certificates) == .revoked(at: date))
    let intermediate = try responders()
    intermediate.set("root", try sample.answer(aboutLeaf: false, .revoked(at: date)))
    #expect(await intermediate.checker().check(try sample.certificates) == .revoked(at: date))
    #expect(intermediate.asked.load(ordering: .relaxed) == 1)
  }

  @Test func `no answer is never a verdict, and is not asked for again at once`() async throws {
    let responders = try responders()
    responders.set("intermediate", Array("<html>down</html>".utf8), status: 503)
    let checker = responders.checker()
    for _ in 0..<3 {
      guard case .unavailable = await checker.check(try sample.certificates) else {
        Issue.record("an outage was taken for a verdict")
        return
      }
    }
    #expect(responders.asked.load(ordering: .relaxed) == 2)
    responders.set("intermediate", try sample.answer(aboutLeaf: true))
    responders.uptime.withLock { $0 = .seconds(21) }
    #expect(await checker.check(try sample.certificates) == .good)
  }

  @Test func `no more chains are remembered than may`() async throws {
    let checker = Responders().checker()
    let chain = try sample.certificates
    for number in 0..<40 {
      var plan = AppStoreChains.plan(name: "C\(number)")
      plan.authority = (chain[2], try sample.chain.rootKey)
      _ = await checker.check([try plan.make().leaf, chain[1], chain[2]])
    }
    #expect(checker.count == 32)
  }
}
