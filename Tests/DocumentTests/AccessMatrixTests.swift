import Cryptography
import Testing

@testable import HTTPServer

/// Every route × every kind of caller, held against the routers of the services.
///
/// A new route fails here until it has its row. A row names who is let through; all others must be
/// refused, each in its own way.
@Suite("Access matrix") struct AccessMatrixTests {
  /// Everyone who may ask.
  ///
  /// A token speaks for the customer `ann`.
  enum Caller: String, CaseIterable, Sendable {
    case nobody
    case unknownKey
    case expiredKey
    case ordersKey
    case readKey
    case writeKey
    case adminKey
    /// A token where the path names its customer, or no customer.
    case token
    /// The same where tokens may spend.
    case spendingToken
    /// A token where the path names another customer.
    case strangersToken
    case badToken
  }

  /// Who is let through, in one word each.
  private static let groups: [String: Set<Caller>] = [
    "everyone": Set(Caller.allCases),
    "orders": [.ordersKey, .adminKey],
    "read": [.readKey, .adminKey],
    "write": [.writeKey, .adminKey],
    "admin": [.adminKey],
    // Of their own customer, by the path.
    "tokens": [.token, .spendingToken],
    // The path does not say whose: the handler checks, or nothing of a customer is shown.
    "any-token": [.token, .spendingToken, .strangersToken],
    "spending-tokens": [.spendingToken],
  ]

  /// Service, route, who.
  ///
  /// Routes with `any-token` that show something of a customer have tests of
  /// their own with their service.
  private static let table = """
    order-service       GET /v1/products                            orders any-token
    order-service       GET /v1/offerings                           orders any-token
    order-service       GET /v1/customers/{customer}/offers         orders tokens
    order-service       POST /v1/offers/promotional                 orders any-token
    order-service       POST /v1/offers/introductory                orders any-token
    order-service       POST /v1/orders                             orders any-token
    order-service       GET /v1/orders/{id}                         orders any-token
    order-service       POST /v1/orders/{id}/proofs                 orders any-token
    order-service       GET /v1/orders                              orders any-token
    order-service       GET /v1/orders/{id}/moves                   orders any-token
    order-service       GET /v1/orders/{id}/events                  orders any-token
    order-service       POST /v1/orders/{id}/cancel                 orders any-token
    order-service       POST /v1/orders/{id}/pending                orders any-token
    order-service       POST /v1/restores                           orders any-token
    order-service       GET /v1/restores/{id}                       orders any-token
    order-service       GET /v1/customers/{customer}                orders tokens
    order-service       PUT /v1/customers/{customer}/account-token  orders tokens
    order-service       POST /v1/customers/{customer}/merge         write
    order-service       POST /v1/customers/{customer}/transfers     write
    order-service       POST /v1/customers/{customer}/erasure       admin
    order-service       GET /v1/customers/{customer}/export         admin
    order-service       GET /v1/audit                               admin

    verify-service      POST /v1/notifications                      everyone
    verify-service      POST /v1/notifications/{bundleId}           everyone
    verify-service      GET /v1/audit                               admin
    verify-service      POST /v1/admin/transactions/{id}/refresh    admin
    verify-service      PUT /v1/admin/transactions/{id}/app-account-token admin
    verify-service      GET /v1/admin/apple-orders/{orderId}        admin
    verify-service      POST /v1/admin/subscriptions/{id}/extend    admin
    verify-service      POST /v1/admin/extensions                   admin
    verify-service      GET /v1/admin/extensions/{productId}/{requestIdentifier} admin
    verify-service      POST /v1/admin/test-notifications           admin
    verify-service      GET /v1/admin/test-notifications/{token}    admin
    verify-service      PUT /v1/admin/imports/{id}                  admin
    verify-service      POST /v1/admin/imports/{id}/lines           admin
    verify-service      GET /v1/admin/imports/{id}                  admin
    verify-service      GET /v1/admin/jobs                          admin

    entitlement-service GET /v1/customers/{customer}/entitlements   read tokens
    entitlement-service GET /v1/customers/{customer}/balances       read tokens
    entitlement-service GET /v1/customers/{customer}/check          read tokens
    entitlement-service GET /v1/customers/{customer}/purchases      read tokens
    entitlement-service GET /v1/customers/{customer}/balances/entries read
    entitlement-service GET /v1/customers/{customer}/timeline       read
    entitlement-service GET /v1/customers/{customer}/grants         read
    entitlement-service GET /v1/customers/{customer}/refund-settings read
    entitlement-service GET /v1/entitlements/{right}/customers      read
    entitlement-service GET /v1/customers/{customer}/export         admin
    entitlement-service POST /v1/customers/{customer}/grants        write
    entitlement-service POST /v1/customers/{customer}/grants/{grant}/removal write
    entitlement-service POST /v1/customers/{customer}/spends        write spending-tokens
    entitlement-service POST /v1/customers/{customer}/credits       write
    entitlement-service PUT /v1/customers/{customer}/refund-settings write
    entitlement-service GET /v1/webhooks                            admin
    entitlement-service POST /v1/webhooks                           admin
    entitlement-service GET /v1/webhooks/{webhook}                  admin
    entitlement-service PUT /v1/webhooks/{webhook}                  admin
    entitlement-service DELETE /v1/webhooks/{webhook}               admin
    entitlement-service POST /v1/webhooks/{webhook}/secret          admin
    entitlement-service GET /v1/webhooks/{webhook}/deliveries       admin
    entitlement-service POST /v1/webhooks/{webhook}/resend          admin
    entitlement-service GET /v1/audit                               admin

    all                 GET /healthz                                everyone
    all                 GET /readyz                                 everyone
    all                 GET /metrics                                everyone
    """

  private static func rows(_ service: AssembledService) -> [String: Set<Caller>] {
    var rows: [String: Set<Caller>] = [:]
    for line in table.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard words[0] == service.name || words[0] == "all" else { continue }
      let callers = words.dropFirst(3).map { groups[$0] ?? [] }
      rows["\(words[1]) \(words[2])"] = callers.reduce(into: []) { $0.formUnion($1) }
    }
    return rows
  }

  /// A token that the issuer of the test signs.
  private static func token(_ key: PrivateKey, tampered: Bool = false) throws -> String {
    let parts = [
      "{\"alg\":\"ES256\",\"kid\":\"k\"}",
      "{\"iss\":\"https://id.example.com\",\"aud\":\"purser\",\"sub\":\"ann\",\"exp\":4102444800}",
    ].map { Base64URL.encode(Array($0.utf8)) }
    let message = parts.joined(separator: ".")
    var signature = try key.signES256(Array(message.utf8))
    if tampered { signature[0] ^= 1 }
    return "\(message).\(Base64URL.encode(signature))"
  }

  private static func bearer(_ caller: Caller, _ issuer: PrivateKey) throws -> String? {
    switch caller {
    case .nobody: nil
    case .token, .spendingToken, .strangersToken: try token(issuer)
    case .badToken: try token(issuer, tampered: true)
    default: caller.rawValue
    }
  }

  /// The status with which a caller is refused who is not let through.
  private static func refusal(_ caller: Caller) -> Int {
    switch caller {
    case .nobody, .unknownKey, .expiredKey, .badToken: 401
    default: 403
    }
  }

  private static func server(_ service: AssembledService, _ issuer: PrivateKey, spending: Bool)
    throws -> Server
  {
    let point = Array(issuer.publicKey.spki.suffix(64))
    let (x, y) = (
      Base64URL.encode(Array(point.prefix(32))), Base64URL.encode(Array(point.suffix(32)))
    )
    let keys: [(Caller, String, String)] = [
      (.expiredKey, "admin", " expires=2020-01-01"), (.ordersKey, "orders", ""),
      (.readKey, "entitlements:read", ""), (.writeKey, "entitlements:write", ""),
      (.adminKey, "admin", ""),
    ]
    return try #require(
      try service.server(
        access: [
          "PURSER_API_KEYS": keys.map { caller, scopes, more in
            "\(caller.rawValue):\(scopes):\(SHA256.hex(caller.rawValue))\(more)"
          }.joined(separator: "\n"),
          "PURSER_JWT_ISSUER": "https://id.example.com", "PURSER_JWT_AUDIENCE": "purser",
          "PURSER_JWT_KEYS": "FOLDER/jwks.json", "PURSER_JWT_SPEND": spending ? "1" : "0",
        ],
        files: [
          "jwks.json": """
          {"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"\(x)","y":"\(y)"}]}
          """
        ]))
  }

  @Test(arguments: AssembledService.all)
  func `every route has its row, and no row is without a route`(service: AssembledService) throws {
    let server = try #require(try service.server())
    let routes = Set(server.routes.map { "\($0.method) \($0.pattern)" })
    let rows = Set(Self.rows(service).keys)
    #expect(routes.subtracting(rows).sorted() == [], "say in the table who may use them")
    #expect(rows.subtracting(routes).sorted() == [], "no route of \(service)")
  }

  @Test(arguments: AssembledService.all, Caller.allCases)
  func `a caller is let through where the table says so, and refused everywhere else`(
    service: AssembledService, caller: Caller
  ) throws {
    let issuer = try PrivateKey(generate: .p256)
    let server = try Self.server(service, issuer, spending: caller == .spendingToken)
    let headers = try Self.bearer(caller, issuer).map { [("Authorization", "Bearer \($0)")] } ?? []
    let customer = caller == .strangersToken ? "bob" : "ann"
    for (route, allowed) in Self.rows(service) {
      let words = route.split(separator: " ").map(String.init)
      let path = words[1].split(separator: "/").map { part in
        part == "{customer}" ? customer : part.hasPrefix("{") ? "some" : String(part)
      }.joined(separator: "/")
      var request = try Request(
        HTTPServer.Method(rawValue: words[0]), "/\(path)", headers: headers)
      switch server.core.router.resolve(&request) {
      case .found(let found):
        #expect(found.pattern.text == words[1])
        #expect(allowed.contains(caller), "\(route) lets \(caller.rawValue) through")
      case .refused(let problem, _):
        #expect(!allowed.contains(caller), "\(route) refuses \(caller.rawValue): \(problem)")
        #expect(
          problem.status == Self.refusal(caller), "\(route) to \(caller.rawValue): \(problem)")
      case .answered: Issue.record("\(route) was answered without a handler")
      }
    }
  }

  @Test(arguments: AssembledService.all)
  func `nothing that changes customers at large is open to tokens`(service: AssembledService) throws
  {
    let server = try #require(try service.server())
    for route in server.routes where route.scope == .admin {
      #expect(route.tokens == .denied, "\(route.method) \(route.pattern)")
    }
  }
}
