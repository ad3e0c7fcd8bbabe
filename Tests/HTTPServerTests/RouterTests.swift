import HTTPServer
import Testing

@Suite("Router")
struct RouterTests {
  static func router() -> Router {
    var router = Router()
    router.on(.get, "/v1/orders/{id}", scope: nil) { .text("order " + $0.parameter("id")) }
    router.on(.get, "/v1/orders/latest", scope: nil) { _ in .text("latest") }
    router.on(.delete, "/v1/orders/{id}", scope: nil) { _ in .empty() }
    router.on(.post, "/v1/orders", scope: nil) { _ in .text("made", status: 201) }
    router.on(.get, "/v1/{kind}/{id}/lines", scope: nil) { request in
      .text("\(request.parameter("kind")) \(request.parameter("id"))")
    }
    router.direct(.get, "/healthz") { _ in .text("ok") }
    return router
  }

  static func answer(_ method: Method, _ target: String) async -> Response {
    do throws(Problem) {
      return await router().respond(to: try Request(method, target))
    } catch {
      return error.response
    }
  }

  static func text(_ response: Response) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  @Test(arguments: [
    ("/v1/orders/7", "order 7"), ("/v1/orders/latest", "latest"), ("/healthz", "ok"),
    ("/v1/orders/a%2Fb", "order a/b"), ("/v1/orders/%C3%A9?x=1", "order é"),
    ("/v1/things/5/lines", "things 5"), ("http://other.example/healthz", "ok"),
    ("/v1/orders/a+b", "order a+b"), ("/v1/orders/%2e%2e%2e", "order ..."),
  ])
  func `a target reaches its route`(_ target: String, _ expected: String) async {
    let response = await Self.answer(.get, target)
    #expect(response.status == 200)
    #expect(Self.text(response) == expected)
  }

  @Test(arguments: [
    "/", "/v1", "/v1/orders/", "/v1/orders/7/", "/v1//orders", "//healthz", "/healthz/",
    "/V1/orders/7", "/v1%2Forders%2F7", "/healthz%20",
  ])
  func `a path that is no route is answered 404`(_ target: String) async {
    let response = await Self.answer(.get, target)
    #expect(response.status == 404)
    #expect(Self.text(response).contains("urn:purser:problem:not-found"))
  }

  @Test(arguments: [
    "/v1/orders/%", "/v1/orders/%4", "/v1/orders/%zz", "/v1/orders/%00", "/v1/orders/%0d%0a",
    "/v1/orders/%ff", "/v1/orders/%c0%af", "/v1/orders/%ed%a0%80", "/v1/orders/..",
    "/v1/orders/%2e%2e", "/v1/orders/%2E", "/v1/./orders", "/v1/orders/%7f", "orders", "*",
    "/healthz?x=%", "/healthz?%ff=1", "/healthz?a=%00",
  ])
  func `a broken or sly target is answered 400`(_ target: String) async {
    let response = await Self.answer(.get, target)
    #expect(response.status == 400)
    #expect(response.header("content-type") == "application/problem+json")
  }

  @Test func `a wrong method is answered 405 with the allowed ones`() async {
    let response = await Self.answer(.put, "/v1/orders/7")
    #expect(response.status == 405)
    #expect(response.header("Allow") == "DELETE, GET, HEAD")
    let other = await Self.answer(.get, "/v1/orders")
    #expect(other.header("Allow") == "POST")
  }

  @Test func `a method of a more general pattern is found`() async {
    let response = await Self.answer(.delete, "/v1/orders/latest")
    #expect(response.status == 204)
  }

  @Test func `HEAD answers like GET without the body`() async {
    let response = await Self.answer(.head, "/v1/orders/7")
    #expect(response.status == 200)
    #expect(response.body.isEmpty)
  }

  @Test func `routes are listed for checks against the API description`() {
    #expect(
      Self.router().routes.map { "\($0.method) \($0.pattern)" } == [
        "GET /healthz", "POST /v1/orders", "GET /v1/orders/latest", "DELETE /v1/orders/{id}",
        "GET /v1/orders/{id}", "GET /v1/{kind}/{id}/lines",
      ])
  }

  @Test func `query parameters are decoded and keep their order`() throws {
    let request = try Request(.get, "/x?a=1&b=two+words&a=%26%3D&flag&=5")
    #expect(request.queryValue("a") == "1")
    #expect(request.query.all("a") == ["1", "&="])
    #expect(request.queryValue("b") == "two words")
    #expect(request.queryValue("flag") == "")
    #expect(request.queryValue("c") == nil)
    #expect(request.path == "/x")
  }

  @Test func `a query with more parameters than anyone needs is refused`() {
    let query = String(repeating: "a=1&", count: 101)
    let problem = #expect(throws: Problem.self) { _ = try Request(.get, "/x?\(query)") }
    #expect(problem?.type == "malformed-query")
  }

  @Test func `a sane request id is echoed and an insane one replaced`() async throws {
    for (sent, isKept) in [
      ("abc-1.2_3", true), ("", false), ("a b", false), ("x\"y", false),
      (String(repeating: "x", count: 129), false), (String(repeating: "x", count: 128), true),
    ] {
      let request = try Request(.get, "/healthz", headers: [("x-request-id", sent)])
      let response = await Self.router().respond(to: request)
      #expect((response.header("X-Request-Id") == sent) == isKept)
      #expect(response.header("X-Request-Id")?.isEmpty == false)
    }
  }
}
