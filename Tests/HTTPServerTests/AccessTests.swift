import Cryptography
import HTTPServer
import Testing

@Suite("Access")
struct AccessTests {
  static func keyFile() -> String {
    """
    # keys of the shop

    shop:orders+entitlements:read:\(SHA256.hex("shop-key"))
    game:entitlements:write:\(SHA256.hex("game-key").uppercased())
    boss:admin:\(SHA256.hex("boss-key"))
    """
  }

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

  @Test(arguments: [
    ("Bearer shop-key", [200, 200, 403, 403, 200]), ("bearer game-key", [403, 403, 200, 403, 200]),
    ("Bearer boss-key", [200, 200, 200, 200, 200]), ("Bearer other", [401, 401, 401, 401, 200]),
    ("Bearer SHOP-KEY", [401, 401, 401, 401, 200]), ("Bearer", [401, 401, 401, 401, 200]),
    ("Basic shop-key", [401, 401, 401, 401, 200]), (nil, [401, 401, 401, 401, 200]),
    ("Bearer shop-key x", [401, 401, 401, 401, 200]),
  ] as [(String?, [Int])])
  func `each key reaches what its scopes allow`(_ header: String?, _ expected: [Int]) async throws {
    let router = Self.router(AccessPolicy(keys: try AccessKeys(parsing: Self.keyFile())))
    var statuses: [Int] = []
    for (method, path) in Self.routes {
      let headers = header.map { [("Authorization", $0)] } ?? []
      let response = await router.respond(to: try Request(method, path, headers: headers))
      statuses.append(response.status)
      if response.status == 401 { #expect(response.header("WWW-Authenticate") != nil) }
    }
    #expect(statuses == expected)
  }

  @Test(arguments: [
    (nil, "missing-key"), ("Bearer other", "unknown-key"), ("Bearer game-key", "scope-missing"),
  ] as [(String?, String)])
  func `each refusal has its own type and is counted`(_ header: String?, _ type: String)
    async throws
  {
    let router = Self.router(AccessPolicy(keys: try AccessKeys(parsing: Self.keyFile())))
    try await LiveServer.with(router) { live in
      let field = header.map { "Authorization: \($0)\r\n" } ?? ""
      let answer = await live.answersTo(
        "POST /orders HTTP/1.1\r\nHost: t\r\n\(field)Content-Length: 3\r\n\r\nabc")
      #expect(answer?.body.contains("urn:purser:problem:\(type)") == true)
      #expect(live.refusals(type) == 1)
    }
  }

  @Test func `two Authorization fields are no key`() async throws {
    let router = Self.router(AccessPolicy(keys: try AccessKeys(parsing: Self.keyFile())))
    let request = try Request(
      .get, "/read",
      headers: [("Authorization", "Bearer boss-key"), ("Authorization", "Bearer x")])
    #expect(await router.respond(to: request).status == 401)
  }

  @Test func `the handler sees who asks, and nobody where all are let through`() async throws {
    let keys = try AccessKeys(parsing: Self.keyFile())
    let headers = [("Authorization", "Bearer shop-key")]
    let known = await Self.router(AccessPolicy(keys: keys))
      .respond(to: try Request(.get, "/read", headers: headers))
    #expect(String(decoding: known.body, as: UTF8.self) == "shop")
    let anyone = await Self.router(.insecure).respond(to: try Request(.delete, "/admin"))
    #expect(String(decoding: anyone.body, as: UTF8.self) == "nobody")
  }

  @Test func `a token goes to the verifier and a key never does`() async throws {
    let policy = AccessPolicy(keys: try AccessKeys(parsing: Self.keyFile())) {
      token throws(Problem) in
      guard token == "a.b.c" else {
        throw Problem(status: 401, type: "bad-token", title: "Bad token", detail: "")
      }
      return Principal(name: "ann", scopes: [.orders], customer: "ann")
    }
    for (token, path, status) in [
      ("a.b.c", "/orders", 200), ("a.b.d", "/orders", 401), ("a.b.c", "/write", 403),
      ("shop-key", "/orders", 200),
    ] {
      let request = try Request(.post, path, headers: [("Authorization", "Bearer \(token)")])
      #expect(await Self.router(policy).respond(to: request).status == status)
    }
  }

  @Test func `every fault of a key file is named by its line and no key is quoted`() {
    let text = """
      a:orders:\(SHA256.hex("a"))
      no colon
      b:everything:\(SHA256.hex("b"))
      c:orders:abc
      a:orders:\(SHA256.hex("d"))
      e::\(SHA256.hex("e"))
      f:orders:\(SHA256.hex("a"))
      :orders:\(SHA256.hex("g"))
      """
    let error = #expect(throws: AccessKeysError.self) { _ = try AccessKeys(parsing: text) }
    #expect(error?.faults.map(\.line) == [2, 3, 4, 5, 6, 7, 8])
    #expect(error?.description.contains(SHA256.hex("a")) == false)
  }

  @Test func `an empty key file holds no key and lets nobody in`() async throws {
    let keys = try AccessKeys(parsing: "# nothing\n")
    #expect(keys.isEmpty)
    let response = await Self.router(AccessPolicy(keys: keys))
      .respond(to: try Request(.get, "/read", headers: [("Authorization", "Bearer x")]))
    #expect(response.status == 401)
  }
}
