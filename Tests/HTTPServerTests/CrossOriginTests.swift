import HTTPServer
import Testing

@Suite("Other origins")
struct CrossOriginTests {
  private func router(_ origins: [String]?) throws -> Router {
    let crossOrigin = try origins.map { try #require(CrossOrigin(origins: $0)) }
    var router = Router(
      access: AccessPolicy(
        identify: { _ throws(Problem) in
          throw Problem(status: 401, type: "unknown-key", title: "", detail: "")
        }, crossOrigin: crossOrigin))
    router.on(.get, "/shop", scope: .orders) { _ in .text("") }
    router.on(.get, "/open", scope: nil) { _ in .text("open") }
    return router
  }

  private func fields(_ origin: String?, _ more: [(String, String)] = []) -> [(String, String)] {
    (origin.map { [("Origin", $0)] } ?? []) + more
  }

  private let asks = [("Access-Control-Request-Method", "GET")]

  @Test func `without configuration nothing is said to browsers`() async throws {
    let router = try router(nil)
    let answer = await router.respond(
      to: try Request(.get, "/open", headers: fields("https://shop.example.com")))
    #expect(!answer.headers.contains { $0.0.hasPrefix("Access-Control") || $0.0 == "Vary" })
    let asked = await router.respond(
      to: try Request(.options, "/open", headers: fields("https://shop.example.com", asks)))
    #expect(asked.status == 405)
  }

  @Test func `a configured origin is let ask, and sees refusals too`() async throws {
    let origin = "https://shop.example.com"
    let router = try router([origin])
    let asked = await router.respond(
      to: try Request(.options, "/shop", headers: fields(origin, asks)))
    #expect(asked.status == 204)
    #expect(asked.header("Access-Control-Allow-Origin") == origin)
    #expect(asked.header("Access-Control-Allow-Methods") == "GET, HEAD")
    #expect(asked.header("Access-Control-Allow-Headers")?.contains("Authorization") == true)
    #expect(asked.header("Access-Control-Allow-Credentials") == nil)
    for (path, status) in [("/open", 200), ("/shop", 401), ("/none", 404)] {
      let answer = await router.respond(to: try Request(.get, path, headers: fields(origin)))
      #expect(answer.status == status)
      #expect(answer.header("Access-Control-Allow-Origin") == origin)
      #expect(answer.header("Vary") == "Origin")
    }
  }

  @Test(arguments: ["https://shop.example.com.evil.test", "http://shop.example.com", "null", nil])
  func `another origin is told nothing, and caches are told to keep them apart`(origin: String?)
    async throws
  {
    let router = try router(["https://shop.example.com"])
    let answer = await router.respond(to: try Request(.get, "/open", headers: fields(origin)))
    #expect(answer.header("Access-Control-Allow-Origin") == nil)
    #expect(answer.header("Vary") == "Origin")
    let asked = await router.respond(
      to: try Request(.options, "/open", headers: fields(origin, asks)))
    #expect(asked.status == 405)
  }

  @Test func `the fields reach a browser over the wire`() async throws {
    try await LiveServer.with(try router(["*"])) { live in
      let answer = await live.answersTo(
        "OPTIONS /shop HTTP/1.1\r\nHost: t\r\nOrigin: https://a.test\r\n"
          + "Access-Control-Request-Method: GET\r\n\r\n")
      #expect(answer?.status == 204)
      #expect(answer?.head.contains("Access-Control-Allow-Origin: https://a.test") == true)
    }
  }

  @Test func `what is no origin is refused`() {
    for bad in [
      "", "shop.example.com", "https://", "https://a/", "https://a b", "ftp://a", "HTTPS://A",
    ] {
      #expect(CrossOrigin(origins: [bad]) == nil, "\(bad)")
    }
    #expect(CrossOrigin(origins: []) == nil)
    #expect(CrossOrigin(origins: ["http://localhost:3000", "https://[::1]:8443"]) != nil)
  }
}
