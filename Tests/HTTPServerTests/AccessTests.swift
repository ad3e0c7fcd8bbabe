import HTTPServer
import ServiceRuntime
import Testing

@Suite("Access")
struct AccessTests {
  /// Three keys, and tokens of ann that have two dots.
  static let policy = AccessPolicy(identify: { text throws(Problem) in
    switch text {
    case "shop-key": return Principal(name: "shop", scopes: [.orders, .entitlementsRead])
    case "game-key": return Principal(name: "game", scopes: [.entitlementsWrite])
    case "boss-key": return Principal(name: "boss", scopes: [.admin])
    case "ann.s.token":
      return Principal(name: "token:ann", scopes: [.orders, .entitlementsRead], customer: "ann")
    default:
      throw Problem(
        status: 401, type: "unknown-key", title: "Unknown key", detail: "",
        headers: [("WWW-Authenticate", "Bearer")])
    }
  })

  static func router(_ access: AccessPolicy) -> Router {
    var router = Router(access: access)
    let handler: Router.Handler = { .text($0.principal?.name ?? "nobody") }
    router.on(.post, "/orders", scope: .orders, handler: handler)
    router.on(.get, "/read", scope: .entitlementsRead, handler: handler)
    router.on(.post, "/write", scope: .entitlementsWrite, handler: handler)
    router.on(.delete, "/admin", scope: .admin, handler: handler)
    router.on(.post, "/open", scope: nil, handler: handler)
    return router
  }

  static let routes: [(Method, String)] = [
    (.post, "/orders"), (.get, "/read"), (.post, "/write"), (.delete, "/admin"), (.post, "/open"),
  ]

  @Test(
    arguments: [
      ("Bearer shop-key", [200, 200, 403, 403, 200]),
      ("bearer game-key", [403, 403, 200, 403, 200]),
      ("Bearer boss-key", [200, 200, 200, 200, 200]), ("Bearer other", [401, 401, 401, 401, 200]),
      ("Bearer SHOP-KEY", [401, 401, 401, 401, 200]), ("Bearer", [401, 401, 401, 401, 200]),
      ("Basic shop-key", [401, 401, 401, 401, 200]), (nil, [401, 401, 401, 401, 200]),
      ("Bearer shop-key x", [401, 401, 401, 401, 200]),
    ] as [(String?, [Int])])
  func `each key reaches what its scopes allow`(_ header: String?, _ expected: [Int]) async throws {
    let router = Self.router(Self.policy)
    var statuses: [Int] = []
    for (method, path) in Self.routes {
      let headers = header.map { [("Authorization", $0)] } ?? []
      let response = await router.respond(to: try Request(method, path, headers: headers))
      statuses.append(response.status)
      if response.status == 401 { #expect(response.header("WWW-Authenticate") != nil) }
    }
    #expect(statuses == expected)
  }

  @Test(
    arguments: [
      (nil, "missing-key"), ("Bearer other", "unknown-key"), ("Bearer game-key", "scope-missing"),
    ] as [(String?, String)])
  func `each refusal has its own type and is counted`(_ header: String?, _ type: String)
    async throws
  {
    let router = Self.router(Self.policy)
    try await LiveServer.with(router) { live in
      let field = header.map { "Authorization: \($0)\r\n" } ?? ""
      let answer = await live.answersTo(
        "POST /orders HTTP/1.1\r\nHost: t\r\n\(field)Content-Length: 3\r\n\r\nabc")
      #expect(answer?.body.contains("urn:purser:problem:\(type)") == true)
      #expect(live.refusals(type) == 1)
    }
  }

  @Test func `two Authorization fields are no key`() async throws {
    let router = Self.router(Self.policy)
    let request = try Request(
      .get, "/read",
      headers: [("Authorization", "Bearer boss-key"), ("Authorization", "Bearer x")])
    #expect(await router.respond(to: request).status == 401)
  }

  @Test func `the handler sees who asks, and nobody where all are let through`() async throws {
    let headers = [("Authorization", "Bearer shop-key")]
    let known = await Self.router(Self.policy)
      .respond(to: try Request(.get, "/read", headers: headers))
    #expect(String(decoding: known.body, as: UTF8.self) == "shop")
    let anyone = await Self.router(.insecure).respond(to: try Request(.delete, "/admin"))
    #expect(String(decoding: anyone.body, as: UTF8.self) == "nobody")
  }

  /// Routes with a customer in the path, with one found by the handler, and with none.
  private func customerRoutes() -> Router {
    var router = Router(access: Self.policy)
    let handler: Router.Handler = { .text($0.principal?.name ?? "") }
    router.on(.get, "/customers/{customer}", scope: .entitlementsRead, handler: handler)
    router.on(.get, "/all", scope: .entitlementsRead, handler: handler)
    router.on(.get, "/shop", scope: .orders, tokens: .noCustomer, handler: handler)
    router.on(
      .put, "/customers/{customer}", scope: .entitlementsRead, tokens: .denied, handler: handler)
    router.on(
      .post, "/customers/{customer}/spend", scope: .entitlementsWrite, tokens: .ownCustomer,
      handler: handler)
    router.on(.post, "/bodies", scope: .orders, tokens: .admittedByHandler) { request in
      try request.admit(customer: String(decoding: request.body, as: UTF8.self))
      return .text("admitted")
    }
    return router
  }

  @Test(
    arguments: [
      (.get, "/customers/ann", "", 200, ""), (.get, "/customers/bob", "", 403, "other-customer"),
      (.get, "/customers/an%CC%A7n", "", 403, "other-customer"),
      (.get, "/all", "", 403, "token-not-allowed"), (.get, "/shop", "", 200, ""),
      (.put, "/customers/ann", "", 403, "token-not-allowed"),
      (.post, "/customers/ann/spend", "", 403, "scope-missing"),
      (.post, "/bodies", "ann", 200, ""), (.post, "/bodies", "bob", 403, "other-customer"),
    ] as [(HTTPServer.Method, String, String, Int, String)])
  func `a token reaches its own customer alone`(
    _ method: HTTPServer.Method, _ path: String, _ body: String, _ status: Int, _ type: String
  ) async throws {
    let response = await customerRoutes().respond(
      to: try Request(
        method, path, headers: [("Authorization", "Bearer ann.s.token")], body: Array(body.utf8)))
    #expect(response.status == status)
    if !type.isEmpty {
      #expect(String(decoding: response.body, as: UTF8.self).contains("urn:purser:problem:\(type)"))
    }
  }

  @Test func `customers are told apart by their bytes`() async throws {
    // The same letter, composed and decomposed: equal to Swift, two customers to the stores.
    var router = Router(
      access: AccessPolicy(identify: { _ throws(Problem) in
        Principal(name: "token", scopes: [.entitlementsRead], customer: "\u{E9}")
      }))
    router.on(.get, "/customers/{customer}", scope: .entitlementsRead) { _ in .text("") }
    for (path, status) in [("/customers/%C3%A9", 200), ("/customers/e%CC%81", 403)] {
      let request = try Request(.get, path, headers: [("Authorization", "Bearer x")])
      #expect(await router.respond(to: request).status == status)
    }
  }

  @Test func `a write has its caller, through tasks of the handler, and a read has none`()
    async throws
  {
    var router = Router(access: Self.policy)
    let handler: Router.Handler = { _ in
      async let caller = Caller.current
      guard let found = await caller else { return .text("none") }
      return .text("\(found.name) \(found.action) \(found.path) \(found.requestId)")
    }
    router.on(.post, "/things/{id}", scope: .admin, handler: handler)
    router.on(.get, "/things/{id}", scope: .admin, handler: handler)
    router.on(.post, "/open", scope: nil, handler: handler)
    let headers = [("Authorization", "Bearer boss-key"), ("X-Request-Id", "r1")]
    for (method, path, text) in [
      (HTTPServer.Method.post, "/things/7", "boss POST /things/{id} /things/7 r1"),
      (.get, "/things/7", "none"), (.post, "/open", "none"),
    ] {
      let response = await router.respond(to: try Request(method, path, headers: headers))
      #expect(String(decoding: response.body, as: UTF8.self) == text)
    }
  }
}
