import HTTPServer
import ServiceRuntime
import Synchronization
import Testing

@Suite("Rate limits")
struct RateLimitTests {
  private final class Time: Sendable {
    let nanoseconds = Atomic<Int64>(1_000_000_000_000)
    func advance(seconds: Double) {
      nanoseconds.wrappingAdd(Int64(seconds * 1e9), ordering: .relaxed)
    }
  }

  /// Three requests in six seconds for a key, two in ten for a customer.
  private func router(_ time: Time, metrics: Metrics = Metrics()) -> Router {
    let limits = RateLimits(
      perKey: RateQuota(requests: 3, seconds: 6), perCustomer: RateQuota(requests: 2, seconds: 10),
      metrics: metrics, now: { time.nanoseconds.load(ordering: .relaxed) })
    var router = Router(
      access: AccessPolicy(
        identify: { text throws(Problem) in
          text.hasPrefix("ann")
            ? Principal(name: "token:ann", scopes: [.orders], customer: "ann")
            : Principal(name: text, scopes: [.orders])
        }, limits: limits))
    router.on(.get, "/shop", scope: .orders, tokens: .noCustomer) { _ in .text("") }
    router.on(.get, "/customers/{customer}", scope: .orders) { _ in .text("") }
    router.on(.post, "/orders", scope: .orders, tokens: .admittedByHandler) { request in
      try request.admit(customer: String(decoding: request.body, as: UTF8.self))
      try request.admit(customer: String(decoding: request.body, as: UTF8.self))
      return .text("")
    }
    router.on(.get, "/open", scope: nil) { _ in .text("") }
    return router
  }

  private func ask(
    _ router: Router, _ key: String, _ path: String, _ method: HTTPServer.Method = .get,
    body: String = ""
  ) async throws -> Response {
    await router.respond(
      to: try Request(
        method, path, headers: [("Authorization", "Bearer \(key)")], body: Array(body.utf8)))
  }

  @Test func `a key has its quota, hears what is left of it, and gets it back with time`()
    async throws
  {
    let time = Time()
    let router = router(time)
    for left in [("2", "2"), ("1", "4"), ("0", "6")] {
      let answer = try await ask(router, "a", "/shop")
      #expect(answer.status == 200)
      #expect(answer.header("RateLimit-Policy") == "\"key\";q=3;w=6")
      #expect(answer.header("RateLimit") == "\"key\";r=\(left.0);t=\(left.1)")
    }
    let refused = try await ask(router, "a", "/shop")
    #expect(refused.status == 429)
    #expect(refused.header("Retry-After") == "2")
    #expect(refused.header("RateLimit") == "\"key\";r=0;t=6")
    #expect(String(decoding: refused.body, as: UTF8.self).contains("rate-limited"))
    #expect(try await ask(router, "b", "/shop").status == 200, "another key has its own quota")
    time.advance(seconds: 2)
    #expect(try await ask(router, "a", "/shop").status == 200)
    #expect(try await ask(router, "a", "/shop").status == 429)
    time.advance(seconds: 60)
    for _ in 0..<3 { #expect(try await ask(router, "a", "/shop").status == 200) }
    #expect(try await ask(router, "a", "/shop").status == 429)
  }

  @Test func `refused requests do not put off the next one that is let through`() async throws {
    let time = Time()
    let router = router(time)
    for _ in 0..<50 { _ = try await ask(router, "a", "/shop") }
    time.advance(seconds: 2)
    #expect(try await ask(router, "a", "/shop").status == 200)
  }

  @Test func `a customer has one quota, whoever asks and wherever it is named`() async throws {
    let time = Time()
    let metrics = Metrics()
    let router = router(time, metrics: metrics)
    let first = try await ask(router, "a", "/customers/ann")
    #expect(first.header("RateLimit") == "\"key\";r=2;t=2, \"customer\";r=1;t=5")
    // Named twice in one request, counted once.
    #expect(try await ask(router, "b", "/orders", .post, body: "ann").status == 200)
    let refused = try await ask(router, "ann.own.token", "/shop")
    #expect(refused.status == 429)
    #expect(refused.header("RateLimit-Policy") == "\"customer\";q=2;w=10")
    #expect(try await ask(router, "b", "/orders", .post, body: "ann").status == 429)
    #expect(try await ask(router, "b", "/customers/bob").status == 200)
    let counted = metrics.counter("http_rate_limited_total", "", labels: ["by": "customer"])
    #expect(counted.value == 2)
  }

  @Test func `open routes and refused callers are not counted`() async throws {
    let router = router(Time())
    for _ in 0..<20 {
      let answer = await router.respond(to: try Request(.get, "/open"))
      #expect(answer.status == 200 && answer.header("RateLimit") == nil)
      #expect(await router.respond(to: try Request(.get, "/shop")).status == 401)
    }
  }

  @Test func `a quota outside of its bounds is none`() {
    #expect(RateQuota(requests: 0, seconds: 1) == nil)
    #expect(RateQuota(requests: 1, seconds: 0) == nil)
    #expect(RateQuota(requests: 1_000_001, seconds: 1) == nil)
    #expect(RateQuota(requests: 1, seconds: 86_401) == nil)
  }
}
