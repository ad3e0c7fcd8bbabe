import AppStore
import Catalog
import Cryptography
import Events
import FoundationEssentials
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import order_service

@Suite("Offers")
struct OfferTests {
  private static let now: Int64 = 1_800_000_000_000
  private static let month: Int64 = 30 * 86_400_000

  private static let emptyRenewal = LineageRenewal(signedDate: 0, hash: "h")

  private let store: Store
  private let key: PrivateKey
  private let router: Router

  init() throws {
    let folder = TestFolder.path("offers")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    store = try Store(
      path: "\(folder)/orders.sqlite", migrations: OrderTables.migrations, source: "/test",
      topics: TopicNames(), clock: ManualClock(Self.now), log: .silent, metrics: Metrics())
    key = try PrivateKey(generate: .p256)
    let catalog = try Catalog(
      json: Array(
        """
        {"products": {
          "pro": {"kind": "auto-renewable", "displayPrice": "9.99",
            "subscription": {"group": "Pro", "groupID": "21", "level": 1, "period": "P1M", "offers": {
              "introductory": [{"paymentMode": "free", "period": "P1W"}],
              "promotional": [{"id": "back", "paymentMode": "free", "period": "P1M"}],
              "winBack": [{"id": "again", "paymentMode": "free", "period": "P1M"}]}}},
          "news": {"kind": "auto-renewable", "displayPrice": "1.99",
            "subscription": {"group": "News", "groupID": "22", "level": 1, "period": "P1M",
              "offers": {"introductory": [{"paymentMode": "free", "period": "P3D"}]}}},
          "news.yearly": {"kind": "auto-renewable", "displayPrice": "9.99",
            "subscription": {"group": "News", "groupID": "22", "level": 1, "period": "P1Y"}},
          "coins": {"kind": "consumable", "displayPrice": "0.99"}}}
        """.utf8))
    let apps = try Apps(
      json: Array(
        """
        {"roots": ["r"], "catalog": "c", "apps": [{"bundleId": "com.example.app", "appAppleId": 1,
          "environments": {"Production": {}, "Sandbox": {}}}]}
        """.utf8))
    let shop = Shop(
      apps: apps, catalogs: ["com.example.app": Reloadable("catalog", fixed: catalog)])
    let api = try APIKey(
      issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "2X9R4HXF34", privateKey: key)
    var router = Router(
      access: AccessPolicy(identify: { text throws(Problem) in
        text == "ann.s.token"
          ? Principal(name: "token:ann", scopes: [.orders], customer: "ann")
          : Principal(name: text, scopes: [.orders])
      }))
    OfferRoutes(
      signOffer: SignOffer(
        store: store, shop: shop, keys: ["com.example.app": api], metrics: Metrics())
    ).add(to: &router)
    self.router = router
  }

  /// A subscription of group 21 that was bought a month ago.
  private func state(
    _ customer: String, revision: Int64 = 1, ends: Int64 = month,
    environment: String = "Production",
    _ fill: (inout LineageState) -> Void = { _ in }
  ) -> LineageState {
    var one = LineageTransaction(
      transactionId: "7001", productId: "pro", type: "Auto-Renewable Subscription", quantity: 1,
      purchaseDate: Self.now - Self.month, signedDate: Self.now, hash: "h")
    one.subscriptionGroupIdentifier = "21"
    one.expiresDate = Self.now + ends
    var state = LineageState(
      lineage: LineageID(
        bundleId: "com.example.app", environment: environment, originalTransactionId: "7001"),
      revision: revision, customer: customer, holding: .held, transactions: [one],
      cause: LineageCause(kind: "notification"), decidedAt: Self.now)
    fill(&state)
    return state
  }

  private func note(_ state: LineageState) async throws {
    try await store.change { change in
      try SubscriptionHistory.note(change.transaction, state)
    }
  }

  private func groups(_ customer: String, _ query: String = "") async throws -> [String] {
    struct Answer: Decodable {
      struct Group: Decodable {
        let groupId: String
        let introductory: Bool
        let promotional: Bool
        let winBack: [String]
      }
      let groups: [Group]
    }
    let response = try await ask(.get, "/v1/customers/\(customer)/offers\(query)", "")
    try #require(response.status == 200)
    return try JSONDecoder().decode(Answer.self, from: Data(response.body)).groups.map { group in
      "\(group.groupId)\(group.introductory ? " introductory" : "")"
        + "\(group.promotional ? " promotional" : "")\(group.winBack.map { " " + $0 }.joined())"
    }
  }

  private func ask(
    _ method: HTTPServer.Method, _ path: String, _ body: String, as caller: String = "backend"
  ) async throws -> Response {
    await router.respond(
      to: try Request(
        method, path, headers: [("Authorization", "Bearer \(caller)")], body: Array(body.utf8)))
  }

  private func type(_ response: Response) -> String {
    let text = String(decoding: response.body, as: UTF8.self)
    guard let range = text.firstRange(of: "urn:purser:problem:") else { return "none" }
    return String(text[range.upperBound...].prefix { $0 != "\"" })
  }

  @Test func `a new customer may have the introductory offer of each group`() async throws {
    #expect(try await groups("ann") == ["21 introductory", "22 introductory"])
  }

  @Test func `nothing is offered to a customer who was erased`() async throws {
    _ = try await store.change { change in
      try change.transaction.run(
        "INSERT INTO erased_customers (hash, erasure_id, erased_at) VALUES (?, 'e', 1)",
        SHA256.hex("ann"))
    }
    let answers = [
      try await ask(.get, "/v1/customers/ann/offers", ""),
      try await ask(
        .post, "/v1/offers/introductory",
        #"{"customer":"ann","productId":"pro","transactionId":"12"}"#),
      try await ask(
        .post, "/v1/offers/promotional",
        #"{"customer":"ann","productId":"pro","offerId":"back"}"#),
    ]
    #expect(answers.map(\.status) == [410, 410, 410])
  }

  @Test func `a subscriber may have promotional offers of that group alone`() async throws {
    try await note(state("ann"))
    #expect(try await groups("ann") == ["21 promotional", "22 introductory"])
    #expect(
      try await groups("ann", "?environment=Sandbox") == ["21 introductory", "22 introductory"])
    #expect(try await groups("bob") == ["21 introductory", "22 introductory"])
  }

  @Test
  func `a trial that was had is used up, though another has the purchase since`() async throws {
    try await note(state("ann") { $0.transactions[0].offerType = 1 })
    try await note(state("ann", revision: 2) { $0.holding = .left })
    #expect(try await groups("ann") == ["21 promotional", "22 introductory"])
    let signed = try await ask(
      .post, "/v1/offers/introductory",
      #"{"customer":"ann","productId":"pro","transactionId":"7001"}"#)
    #expect(String(decoding: signed.body, as: UTF8.self).contains(#""isEligible":false"#))
    // Without a trial nothing is left of it.
    try await note(state("bob"))
    try await note(state("bob", revision: 2) { $0.holding = .left })
    #expect(try await groups("bob") == ["21 introductory", "22 introductory"])
  }

  @Test
  func
    `whoever lapsed without an introductory offer may have it, and what Apple offers to win back`()
    async throws
  {
    try await note(
      state("ann", ends: -1) { state in
        state.renewal = Self.emptyRenewal
        state.renewal?.eligibleWinBackOfferIds = ["again", "other"]
      })
    #expect(
      try await groups("ann") == ["21 introductory promotional again other", "22 introductory"])
  }

  @Test
  func `an introductory offer is had once for each group, and a grace period counts as running`()
    async throws
  {
    try await note(state("ann", ends: -1) { $0.transactions[0].offerType = 1 })
    #expect(try await groups("ann") == ["21 promotional", "22 introductory"])
    try await note(
      state("bob", ends: -1) { state in
        state.renewal = Self.emptyRenewal
        state.renewal?.gracePeriodExpiresDate = Self.now + 1
      })
    #expect(try await groups("bob") == ["21 promotional", "22 introductory"])
  }

  @Test func `a refund ends it, and what the family shares is not the customer's own`() async throws
  {
    try await note(state("ann") { $0.transactions[0].revocationDate = Self.now })
    #expect(try await groups("ann").first == "21 introductory promotional")
    try await note(state("bob") { $0.transactions[0].inAppOwnershipType = "FAMILY_SHARED" })
    #expect(try await groups("bob").first == "21 introductory")
  }

  @Test func `older states change nothing, and a lineage that left takes what was no trial along`()
    async throws
  {
    try await note(state("ann", revision: 5))
    try await note(state("ann", revision: 4, ends: -1))
    #expect(try await groups("ann").first == "21 promotional")
    try await note(state("ann", revision: 6) { $0.holding = .left })
    try await note(state("bob", revision: 6))
    #expect(try await groups("ann").first == "21 introductory")
    #expect(try await groups("bob").first == "21 promotional")
  }

  @Test func `a promotional offer is signed in both forms, for StoreKit to check`() async throws {
    struct Answer: Decodable {
      let keyId: String
      let nonce: String
      let timestamp: Int64
      let signature: String
      let jws: String
    }
    try await note(state("ann"))
    let token = "0A3F3C4E-7D1B-4E6A-9C11-0D5A5A6B7C8D"
    let response = try await ask(
      .post, "/v1/offers/promotional",
      #"{"customer": "ann", "productId": "pro", "offerId": "back", "account": "\#(token)"}"#)
    #expect(response.status == 200 && response.header("Cache-Control") == "no-store")
    let answer = try JSONDecoder().decode(Answer.self, from: Data(response.body))
    #expect(answer.timestamp == Self.now && answer.keyId == "2X9R4HXF34")
    #expect(answer.nonce == answer.nonce.lowercased())
    let text = [
      "com.example.app", "2X9R4HXF34", "pro", "back", token.lowercased(), answer.nonce,
      "\(answer.timestamp)",
    ].joined(separator: "\u{2063}")
    let signature = try #require(Base64.decode(answer.signature))
    #expect(key.publicKey.verifyDER(signature: signature, over: Array(text.utf8)))
    let claims = try claims(answer.jws)
    #expect(claims.aud == "promotional-offer" && claims.bid == "com.example.app")
    #expect(claims.productId == "pro" && claims.offerIdentifier == "back")
    #expect(claims.transactionId == "7001" && claims.iat == Self.now / 1000)
  }

  private struct Claims: Decodable {
    let aud: String
    let bid: String
    let iat: Int64
    let productId: String?
    let offerIdentifier: String?
    let transactionId: String?
    let allowIntroductoryOffer: Bool?
  }

  private func claims(_ jws: String) throws -> Claims {
    let parts = jws.split(separator: ".").map(String.init)
    let signature = try #require(Base64URL.decode(parts[2]))
    #expect(
      key.publicKey.verifyES256(signature: signature, over: Array("\(parts[0]).\(parts[1])".utf8)))
    return try JSONDecoder().decode(
      Claims.self, from: Data(try #require(Base64URL.decode(parts[1]))))
  }

  @Test func `the introductory offer is signed as allowed or not`() async throws {
    struct Answer: Decodable {
      let isEligible: Bool
      let jws: String
    }
    try await note(state("ann"))
    for (customer, body, allowed, id) in [
      ("ann", #"{"customer": "ann", "productId": "pro"}"#, false, "7001"),
      ("ann", #"{"customer": "ann", "productId": "news"}"#, true, "7001"),
      ("bob", #"{"customer": "bob", "productId": "pro", "transactionId": "99"}"#, true, "99"),
    ] {
      let response = try await ask(.post, "/v1/offers/introductory", body)
      let answer = try JSONDecoder().decode(Answer.self, from: Data(response.body))
      let claims = try claims(answer.jws)
      #expect(
        answer.isEligible == allowed && claims.allowIntroductoryOffer == allowed, "\(customer)")
      #expect(claims.transactionId == id && claims.aud == "introductory-offer-eligibility")
    }
  }

  private static let longAccount =
    #"{"customer": "ann", "productId": "pro", "offerId": "back", "account": "\#(manyLetters)"}"#
  private static let manyLetters = String(repeating: "a", count: 5000)

  @Test(
    arguments: [
      (
        "promotional", #"{"customer": "bob", "productId": "pro", "offerId": "back"}"#,
        "offer-not-allowed"
      ),
      (
        "promotional", #"{"customer": "ann", "productId": "pro", "offerId": "none"}"#,
        "unknown-offer"
      ),
      (
        "promotional", #"{"customer": "ann", "productId": "pro", "offerId": "again"}"#,
        "unknown-offer"
      ),
      (
        "promotional", #"{"customer": "ann", "productId": "coins", "offerId": "back"}"#,
        "not-a-subscription"
      ),
      (
        "promotional", #"{"customer": "ann", "productId": "none", "offerId": "back"}"#,
        "unknown-product"
      ),
      (
        "promotional", #"{"customer": "$x", "productId": "pro", "offerId": "back"}"#,
        "invalid-customer"
      ),
      (
        "promotional",
        #"{"customer": "ann", "productId": "pro", "offerId": "back", "account": "a\u2063b"}"#,
        "invalid-field"
      ),
      (
        "promotional",
        #"{"customer": "ann", "productId": "pro", "offerId": "back", "account": "a\nb"}"#,
        "invalid-field"
      ),
      ("promotional", longAccount, "invalid-field"),
      (
        "introductory",
        #"{"customer": "ann", "productId": "news.yearly", "transactionId": "12"}"#,
        "unknown-offer"
      ),
      (
        "introductory", #"{"customer": "ann", "productId": "pro", "transactionId": "1 2"}"#,
        "invalid-field"
      ),
      (
        "promotional",
        #"{"customer": "ann", "productId": "pro", "offerId": "back", "environment": "Xcode"}"#,
        "unknown-environment"
      ),
      ("introductory", #"{"customer": "bob", "productId": "pro"}"#, "missing-transaction"),
      (
        "introductory", #"{"customer": "ann", "productId": "pro", "transactionId": ""}"#,
        "invalid-field"
      ),
    ])
  func `what may not be had or cannot be signed is told by its type`(
    route: String, body: String, expected: String
  ) async throws {
    try await note(state("ann"))
    #expect(type(try await ask(.post, "/v1/offers/\(route)", body)) == expected)
  }

  @Test func `a token gets offers for its own customer alone`() async throws {
    try await note(state("ann"))
    let body = #"{"customer": "ann", "productId": "pro", "offerId": "back"}"#
    #expect(try await ask(.post, "/v1/offers/promotional", body, as: "ann.s.token").status == 200)
    let other = body.replacing("ann", with: "bob")
    #expect(
      type(try await ask(.post, "/v1/offers/promotional", other, as: "ann.s.token"))
        == "other-customer")
    #expect(try await ask(.get, "/v1/customers/bob/offers", "", as: "ann.s.token").status == 403)
  }
}
