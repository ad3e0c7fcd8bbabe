import Cryptography
import HTTPServer
import ServiceRuntime
import Synchronization
import Testing

@testable import Access

@Suite("Keys fetched from the issuer")
struct TokenKeyFetcherTests {
  /// An issuer's address that answers as told.
  private final class Address: Sendable {
    let asked = Atomic<Int>(0)
    let answer: Mutex<Response>
    /// While there is one, answers wait for it.
    let gate = Mutex<Completion<Void>?>(nil)
    let server: Server

    init(_ text: String) throws {
      answer = Mutex(.text(text, contentType: "application/json"))
      var router = Router()
      let box = Box()
      router.on(.get, "/jwks", scope: nil) { _ in
        guard let address = box.address.withLock({ $0 }) else { return .empty(503) }
        let response = address.next()
        await address.gate.withLock { $0 }?.value()
        return response
      }
      server = try Server(port: 0, router: router, log: .silent, metrics: Metrics())
      box.address.withLock { $0 = self }
    }

    private final class Box: Sendable {
      let address = Mutex<Address?>(nil)
    }

    func next() -> Response {
      asked.wrappingAdd(1, ordering: .relaxed)
      return answer.withLock { $0 }
    }

    var count: Int { asked.load(ordering: .relaxed) }
    func give(_ response: Response) { answer.withLock { $0 = response } }
  }

  private func eventually(_ condition: () -> Bool) async -> Bool {
    let deadline = Deadline.after(.seconds(10))
    while !condition() {
      if deadline.hasPassed { return false }
      try? await Task.sleep(for: .milliseconds(2))
    }
    return true
  }

  private func with(
    _ address: Address, _ timing: TokenKeyFetcher.Timing,
    _ body: (TokenKeyFetcher) async throws -> Void
  ) async throws {
    let fetcher = TokenKeyFetcher(
      url: "http://127.0.0.1:\(address.server.port)/jwks", timing: timing, log: .silent,
      metrics: Metrics())
    let serving = Task { try await address.server.run() }
    let fetching = Task { await fetcher.run() }
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(fetcher))
    } catch {
      result = .failure(error)
    }
    await fetcher.stop(by: .after(.seconds(5)))
    await fetching.value
    await address.server.stop(by: .after(.seconds(5)))
    _ = try? await serving.value
    try result.get()
  }

  private func json(_ issuer: SampleIssuer) -> Response {
    .text("{\"keys\":[\(issuer.member)]}", contentType: "application/json")
  }

  @Test func `keys are there soon after the start, and an unknown id fetches them anew`()
    async throws
  {
    let (old, new) = (try SampleIssuer(keyId: "old"), try SampleIssuer(keyId: "new"))
    let address = try Address("{\"keys\":[\(old.member)]}")
    var timing = TokenKeyFetcher.Timing()
    timing.betweenRefreshes = .zero
    try await with(address, timing) { fetcher in
      #expect(await eventually { fetcher.current.set.count == 1 })
      let before = fetcher.current.generation
      address.give(json(new))
      #expect(fetcher.refresh())
      #expect(await eventually { fetcher.current.generation > before })
      if case .key = fetcher.current.set.find(id: "new", .es256) {
      } else {
        Issue.record("the new key is not there")
      }
    }
  }

  @Test func `a request with an unknown key waits for one fetch, and is then let in or refused`()
    async throws
  {
    let (old, new) = (try SampleIssuer(keyId: "old"), try SampleIssuer(keyId: "new"))
    let address = try Address("{\"keys\":[\(old.member)]}")
    var timing = TokenKeyFetcher.Timing()
    timing.betweenRefreshes = .zero
    timing.patience = .seconds(30)
    try await with(address, timing) { fetcher in
      #expect(await eventually { fetcher.current.set.count == 1 })
      let verifier = verifier(fetcher)
      var router = Router(
        access: AccessPolicy(
          identify: { text throws(Problem) in try verifier.identify(text) },
          arrival: { await verifier.keysArrive() }))
      router.on(.get, "/{customer}", scope: .orders) { .text($0.principal?.name ?? "") }
      func ask(_ issuer: SampleIssuer) async throws -> Response {
        await router.respond(
          to: try Request(
            .get, "/ann", headers: [("Authorization", "Bearer \(try issuer.token())")]))
      }
      address.give(json(new))
      let asked = address.count
      let rotated = try await ask(new)
      #expect(rotated.status == 200 && rotated.body == Array("token:ann".utf8))
      #expect(address.count == asked + 1)
      #expect(try await ask(old).status == 401)
      // Without an answer of the issuer nobody can say whose the token is.
      address.give(.empty(503))
      let unanswered = try await ask(try SampleIssuer(keyId: "newer"))
      #expect(unanswered.status == 503 && unanswered.header("Retry-After") != nil)
    }
  }

  @Test func `a fetch that began before the issuer had the key is not the one that is waited for`()
    async throws
  {
    let (old, new) = (try SampleIssuer(keyId: "old"), try SampleIssuer(keyId: "new"))
    let address = try Address("{\"keys\":[\(old.member)]}")
    let gate = Completion<Void>()
    address.gate.withLock { $0 = gate }
    var timing = TokenKeyFetcher.Timing()
    timing.betweenRefreshes = .zero
    timing.patience = .seconds(30)
    try await with(address, timing) { fetcher in
      #expect(await eventually { address.count == 1 })
      address.give(json(new))
      #expect(fetcher.refresh())
      async let arrived = fetcher.arrive()
      #expect(await eventually { fetcher.arrivals.count == 1 })
      address.gate.withLock { $0 = nil }
      gate.complete(with: ())
      #expect(await arrived)
      #expect(address.count == 2)
      if case .key = fetcher.current.set.find(id: "new", .es256) {
      } else {
        Issue.record("the new key is not there")
      }
    }
  }

  @Test func `strangers cannot make it ask without end`() async throws {
    let issuer = try SampleIssuer()
    let address = try Address("{\"keys\":[\(issuer.member)]}")
    var timing = TokenKeyFetcher.Timing()
    timing.betweenRefreshes = .seconds(3600)
    try await with(address, timing) { fetcher in
      #expect(await eventually { fetcher.current.set.count == 1 })
      for _ in 0..<100 { #expect(!fetcher.refresh()) }
      #expect(address.count == 1)
    }
  }

  @Test func `an issuer that fails leaves the last keys in place, and is asked again`() async throws
  {
    let issuer = try SampleIssuer()
    let address = try Address("{\"keys\":[\(issuer.member)]}")
    var timing = TokenKeyFetcher.Timing()
    timing.usual = .milliseconds(5)
    timing.shortest = .milliseconds(1)
    timing.retry = .milliseconds(1)
    try await with(address, timing) { fetcher in
      #expect(await eventually { fetcher.current.set.count == 1 })
      for bad in [Response.empty(503), .text("<html>"), .text("{\"keys\":[]}")] {
        address.give(bad)
        let asked = address.count
        #expect(await eventually { address.count > asked + 2 })
        #expect(fetcher.current.set.count == 1)
      }
    }
  }

  @Test func `while the issuer does not answer, an unknown key is told to come again`() async throws
  {
    let address = try Address("")
    address.give(.empty(503))
    var timing = TokenKeyFetcher.Timing()
    timing.betweenRefreshes = .seconds(3600)
    timing.retry = .seconds(3600)
    try await with(address, timing) { fetcher in
      #expect(await eventually { address.count == 1 })
      for _ in 0..<20 { #expect(fetcher.refresh()) }
      #expect(address.count == 1)
    }
  }

  @Test func `keys that could not be fetched for too long let nobody in`() async throws {
    let issuer = try SampleIssuer()
    let address = try Address("{\"keys\":[\(issuer.member)]}")
    var timing = TokenKeyFetcher.Timing()
    timing.usual = .milliseconds(5)
    timing.retry = .milliseconds(1)
    timing.lifetime = .milliseconds(20)
    try await with(address, timing) { fetcher in
      #expect(await eventually { fetcher.current.set.count == 1 })
      address.give(.empty(503))
      #expect(await eventually { fetcher.current.set.count == 0 })
    }
  }

  @Test(
    arguments: [
      (nil, 600), ("max-age=300", 300), ("public, max-age=5", 60), ("max-age=999999999", 86_400),
      ("no-store", 600), ("max-age=x", 600),
    ] as [(String?, Int64)])
  func `the issuer says how long keys hold, within bounds`(field: String?, seconds: Int64) {
    #expect(TokenKeyFetcher.lifetime(field, TokenKeyFetcher.Timing()) == .seconds(seconds))
  }
}
