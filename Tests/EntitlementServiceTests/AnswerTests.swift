import Catalog
import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

@Suite("Answers") struct AnswerTests {
  private let period = monthly("1", from: 0, to: 30, reason: "PURCHASE")

  private func text(_ response: Response) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  @Test func `a customer of whom nothing is known owns nothing at version 0`() async throws {
    let service = try TestService()
    let answer = try await service.request(.get, "/v1/customers/nobody/entitlements")
    #expect(answer.status == 200 && answer.header("ETag") == "\"0\"")
    #expect(text(answer) == #"{"customer":"nobody","version":0,"entitlements":[]}"#)
  }

  @Test func `the entity tag is the version, and a known one is answered without a body`()
    async throws
  {
    let service = try TestService()
    try await service.read(lineage("1", [period]))
    let answer = try await service.request(.get, "/v1/customers/alice/entitlements")
    #expect(answer.header("ETag") == "\"1\"")
    let again = try await service.request(
      .get, "/v1/customers/alice/entitlements", headers: [("If-None-Match", "\"1\"")])
    #expect(again.status == 304 && again.body.isEmpty)
  }

  @Test(.timeLimit(.minutes(1)))
  func `who waits hears of a change at once`() async throws {
    let service = try TestService()
    let waiting = Task {
      try await service.request(
        .get, "/v1/customers/alice/entitlements",
        headers: [("If-None-Match", "\"0\""), ("Prefer", "wait=30")])
    }
    while service.waiters.count == 0 { await Task.yield() }
    try await service.read(lineage("1", [period]))
    let answer = try await waiting.value
    #expect(answer.status == 200 && text(answer).contains(#""name":"pro""#))
    #expect(service.waiters.count == 0)
  }

  @Test(.timeLimit(.minutes(1)))
  func `who waits as a guest hears of the merge`() async throws {
    let service = try TestService()
    try await service.read(lineage("1", [period]))
    let waiting = Task {
      try await service.request(
        .get, "/v1/customers/guest/entitlements",
        headers: [("If-None-Match", "\"0\""), ("Prefer", "wait=30")])
    }
    while service.waiters.count == 0 { await Task.yield() }
    try await service.merge("guest", into: "alice")
    let answer = try await waiting.value
    #expect(answer.status == 200 && text(answer).contains(#""customer":"alice""#))
  }

  @Test(.timeLimit(.minutes(1)))
  func `without a change the wait ends with 304`() async throws {
    let service = try TestService()
    let answer = try await service.request(
      .get, "/v1/customers/alice/balances",
      headers: [("If-None-Match", "\"0\""), ("Prefer", "wait=0")])
    #expect(answer.status == 304)
  }

  @Test(.timeLimit(.minutes(1)))
  func `more waits for one customer than allowed are answered at once`() async throws {
    let service = try TestService()
    let headers = [("If-None-Match", "\"0\""), ("Prefer", "wait=30")]
    let waiting = (0..<8).map { _ in
      Task {
        try await service.request(.get, "/v1/customers/alice/check?right=pro", headers: headers)
      }
    }
    while service.waiters.count < 8 { await Task.yield() }
    let ninth = try await service.request(
      .get, "/v1/customers/alice/check?right=pro", headers: headers)
    #expect(ninth.status == 304)
    service.waiters.stopAll()
    for one in waiting { #expect(try await one.value.status == 304) }
  }

  @Test func `many rights are checked at once, in one environment`() async throws {
    let service = try TestService()
    try await service.read(lineage("1", [period]))
    let sandbox = try await service.request(
      .get, "/v1/customers/alice/check?right=pro,extra&right=vip&environment=Sandbox")
    #expect(text(sandbox).contains(#""rights":{"extra":false,"pro":true,"vip":false}"#))
    // Production is asked unless another environment is named.
    let production = try await service.request(.get, "/v1/customers/alice/check?right=pro")
    #expect(text(production).contains(#""rights":{"pro":false}"#))
    #expect(
      try await service.request(.get, "/v1/customers/alice/check").status == 400)
    #expect(
      try await service.request(
        .get, "/v1/customers/alice/check?right=pro&environment=Moon"
      ).status == 400)
  }

  @Test func `the customers of a right are listed page by page, each once`() async throws {
    let service = try TestService()
    for number in 0..<25 {
      try await service.read(lineage("\(number)", [period]) { $0.customer = "c\(number)" })
    }
    try await service.read(
      lineage("off", [monthly("1", from: -60, to: -30)]) { $0.customer = "lapsed" })
    var found: [String] = []
    var cursor = ""
    repeat {
      let page = try EventJSON.decode(
        CustomerPage.self,
        from: try await service.request(
          .get, "/v1/entitlements/pro/customers?environment=Sandbox&limit=10\(cursor)"
        ).body)
      #expect(page.customers.count <= 10)
      #expect(page.customers.allSatisfy { $0.entitlement.name == "pro" })
      found += page.customers.map(\.customer)
      cursor = page.next.map { "&cursor=\($0)" } ?? ""
    } while !cursor.isEmpty
    #expect(found == (0..<25).map { "c\($0)" }.sorted())
    let none = try await service.request(.get, "/v1/entitlements/pro/customers")
    #expect(text(none).contains(#""customers":[]"#))
  }

  private struct CustomerPage: Decodable {
    struct Row: Decodable {
      let customer: String
      let entitlement: Entitlement
    }
    let customers: [Row]
    let next: String?
  }

  @Test func `purchases are answered with all transactions, of one environment where asked`()
    async throws
  {
    let service = try TestService()
    try await service.read(lineage("1", [period]))
    try await service.read(
      lineage("2", [period]) {
        $0.lineage = LineageID(
          bundleId: "com.example.app", environment: "Production", originalTransactionId: "2")
      })
    let all = text(try await service.request(.get, "/v1/customers/alice/purchases"))
    #expect(all.contains(#""originalTransactionId":"1""#))
    #expect(all.contains(#""originalTransactionId":"2""#))
    let sandbox = text(
      try await service.request(.get, "/v1/customers/alice/purchases?environment=Sandbox"))
    #expect(sandbox.contains(#""originalTransactionId":"1""#))
    #expect(!sandbox.contains(#""originalTransactionId":"2""#))
  }

  @Test(arguments: [
    "limit=0", "limit=501", "limit=x", "cursor=%21", "cursor=" + Base64URL.encode(Array("x".utf8)),
  ])
  func `a page that cannot be is refused`(query: String) async throws {
    let service = try TestService()
    let answer = try await service.request(.get, "/v1/customers/alice/timeline?\(query)")
    #expect(answer.status == 400 && text(answer).contains("invalid-parameter"))
  }
}

@Suite("Grants") struct GrantTests {
  private func grant(_ service: TestService, _ body: String, key: String? = "k") async throws
    -> (status: Int, body: String)
  {
    let answer = try await service.request(
      .post, "/v1/customers/alice/grants", body, key: key)
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  @Test func `a grant gives its right at once, and says who gave it and why`() async throws {
    let service = try TestService()
    let answer = try await grant(
      service, #"{"entitlement": "pro", "reason": "an apology", "author": "ann"}"#)
    #expect(answer.status == 201)
    #expect(answer.body.contains(#""author":"anyone: ann""#))
    #expect(try await service.told() == ["alice grant.created", "alice activated pro"])
    let told = try await service.rights().first
    #expect(told?.cause.kind == "grant" && told?.cause.reason == "an apology")
    #expect(told?.entitlement.environment == "Production")
  }

  @Test func `the same key is the same grant, and another body under it is refused`() async throws {
    let service = try TestService()
    let body = #"{"entitlement": "pro", "reason": "an apology"}"#
    let first = try await grant(service, body)
    let again = try await grant(service, body)
    #expect(first.status == 201 && again.status == 200 && first.body == again.body)
    #expect(try await service.published().count == 2)
    let other = try await grant(service, #"{"entitlement": "vip", "reason": "an apology"}"#)
    #expect(other.status == 422 && other.body.contains("idempotency-key-reused"))
    #expect(try await grant(service, body, key: nil).body.contains("idempotency-key-missing"))
  }

  @Test func `a grant ends at its time, or when it is taken back, once`() async throws {
    let service = try TestService()
    _ = try await grant(
      service, #"{"entitlement": "pro", "reason": "a trial", "expiresAt": \#(day(7))}"#)
    service.clock.set(day(7))
    #expect(try await service.nextDue() == day(7))
    try await service.fire()
    #expect(try await service.told().last == "alice deactivated pro")

    let second = try await grant(service, #"{"entitlement": "vip", "reason": "a prize"}"#, key: "2")
    let id = try EventJSON.decode(Grant.self, from: Array(second.body.utf8)).id
    for _ in 0..<2 {
      let removed = try await service.request(
        .post, "/v1/customers/alice/grants/\(id)/removal", #"{"reason": "a mistake"}"#)
      #expect(removed.status == 200)
    }
    #expect(
      try await service.told().suffix(4) == [
        "alice grant.created", "alice activated vip", "alice grant.removed",
        "alice deactivated vip",
      ])
    let unknown = try await service.request(
      .post, "/v1/customers/alice/grants/nothing/removal", #"{"reason": "a mistake"}"#)
    #expect(unknown.status == 404)
  }

  @Test(arguments: [
    (#"{"entitlement": "Pro!", "reason": "x"}"#, "invalid-entitlement"),
    (#"{"entitlement": "pro", "reason": ""}"#, "invalid-text"),
    (#"{"entitlement": "pro", "reason": "x", "expiresAt": 5}"#, "invalid-time"),
    (#"{"entitlement": "pro", "reason": "x", "environment": "Moon"}"#, "unknown-environment"),
    (#"{"entitlement": "pro"}"#, "invalid-field"),
  ])
  func `a grant that cannot be is refused with its reason`(body: String, problem: String)
    async throws
  {
    let service = try TestService()
    let answer = try await grant(service, body)
    #expect(answer.status >= 400 && answer.body.contains("urn:purser:problem:\(problem)"))
    #expect(try await service.published().isEmpty)
  }

  @Test func `a grant does not end a subscription whose renewal is still to be read`() async throws
  {
    let service = try TestService()
    try await service.read(lineage("1", [monthly("1", from: 0, to: 30, reason: "PURCHASE")]))
    // Two hours after its end; the renewal waits in the log.
    service.clock.set(day(30) + 7_200_000)
    _ = try await grant(
      service, #"{"entitlement": "vip", "environment": "Sandbox", "reason": "sorry"}"#)
    #expect(try await service.state("alice").rights == ["pro", "vip"])
    #expect(try await service.rights().allSatisfy(\.entitlement.isActive))
  }
}

@Suite("Catalog changes hold for earlier buyers") struct ReevaluationTests {
  private let withBonus = sampleProducts.replacing(
    #""entitlements": ["pro"],"#, with: #""entitlements": ["pro", "bonus"],"#)

  @Test func `a right attached to a product comes to all who hold it, with events`() async throws {
    let service = try TestService()
    for number in 0..<250 {
      try await service.read(
        lineage("\(number)", [monthly("1", from: 0, to: 30, reason: "PURCHASE")]) {
          $0.customer = "c\(number)"
        })
    }
    try await service.reevaluate()
    #expect(try await service.rights().count == 250)
    service.rules.replace(with: try sampleRules(products: withBonus))
    #expect(try await service.reevaluate() == 3, "in batches of 100")
    let news = try await service.rights().dropFirst(250)
    #expect(news.count == 250)
    #expect(news.allSatisfy { $0.entitlement.name == "bonus" && $0.cause.kind == "catalog" })
    #expect(try await service.reevaluate() == 0)
  }

  @Test
  func `a re-evaluation goes on after the process ended, and begins again for a newer catalog`()
    async throws
  {
    var service = try TestService()
    for number in 0..<250 {
      try await service.read(
        lineage("\(number)", [monthly("1", from: 0, to: 30, reason: "PURCHASE")]) {
          $0.customer = "c\(number)"
        })
    }
    try await service.reevaluate()
    service = try await service.reopened(products: withBonus)
    #expect(try await service.reevaluate(batches: 1) == 1)
    #expect(try await service.rights().count == 350)
    service = try await service.reopened(products: withBonus)
    #expect(try await service.reevaluate() == 2)
    #expect(try await service.rights().count == 500)
    // Back to the old catalog in the middle of nothing: all lose it again.
    service = try await service.reopened()
    try await service.reevaluate()
    #expect(try await service.state("c7").rights == ["pro"])
  }

  @Test func `when the catalog learns a product its buyers get it, credits too`() async throws {
    let service = try TestService(
      products: #""other": {"kind": "consumable", "displayPrice": "1"}"#)
    try await service.reevaluate()
    try await service.read(lineage("1", [monthly("1", from: 0, to: 30, reason: "PURCHASE")]))
    try await service.read(lineage("8", [transaction("8", "coins.100", "Consumable", on: 0)]))
    #expect(try await service.told() == [])
    service.rules.replace(with: try sampleRules())
    try await service.reevaluate()
    let state = try await service.state("alice")
    #expect(state.rights == ["pro"] && state.balances == ["coins": 100])
    service.rules.replace(with: try sampleRules(policies: #"{"refundAccess": "keep"}"#))
    try await service.reevaluate()
    #expect(try await service.state("alice").balances == ["coins": 100])
  }

  @Test func `what is decided is not decided again by a change of prices or texts`() throws {
    let dearer = sampleProducts.replacing("9.99", with: "19.99")
    #expect(try sampleRules().hash == sampleRules(products: dearer).hash)
    #expect(try sampleRules().hash != sampleRules(products: withBonus).hash)
    #expect(
      try sampleRules().hash != sampleRules(policies: #"{"refundAccess": "keep"}"#).hash)
  }

  @Test func `a re-evaluation does not end what may still be renewed`() async throws {
    let service = try TestService()
    try await service.read(lineage("1", [monthly("1", from: 0, to: 30, reason: "PURCHASE")]))
    service.clock.set(day(31))
    service.rules.replace(with: try sampleRules(products: withBonus))
    try await service.reevaluate()
    #expect(try await service.state("alice").rights == ["bonus", "pro"])
  }
}
