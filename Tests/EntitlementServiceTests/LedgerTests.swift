import Catalog
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

@Suite("The ledger of balances") struct LedgerTests {
  private func coins(_ id: String, on start: Int64 = 0, quantity: Int64 = 1) -> LineageState {
    lineage(
      id, [transaction(id, "coins.100", "Consumable", on: start) { $0.quantity = quantity }])
  }

  private func boosts(_ id: String, on start: Int64 = 0) -> LineageState {
    lineage(id, [transaction(id, "boosts.10", "Consumable", on: start)]) {
      $0.decidedAt = day(start)
    }
  }

  private func spend(_ service: TestService, _ units: String, key: String) async throws
    -> (status: Int, body: String)
  {
    let answer = try await service.request(
      .post, "/v1/customers/alice/spends",
      #"{"units": \#(units), "environment": "Sandbox", "reason": "a game"}"#, key: key)
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  @Test func `the same consumable bought twice counts twice`() async throws {
    let service = try TestService()
    try await service.read(coins("1"))
    try await service.read(coins("2", quantity: 2))
    #expect(try await service.state("alice").balances == ["coins": 300])
    #expect(try await service.told() == ["alice coins +100 = 100", "alice coins +200 = 300"])
  }

  @Test func `each period of a subscription brings its credit once, however often it is seen`()
    async throws
  {
    let service = try TestService(
      products: """
        "pro.monthly": {"kind": "auto-renewable", "displayPrice": "9.99", "credits": {"coins": 50},
          "subscription": {"group": "Pro", "level": 2, "period": "P1M"}}
        """)
    func period(_ id: String, _ start: Int64, item: String) -> LineageTransaction {
      monthly(id, from: start, to: start + 30) { $0.webOrderLineItemId = item }
    }
    try await service.read(lineage("1", [period("1", 0, item: "a")]))
    // A restored copy of the first period is another transaction of the same period.
    try await service.read(
      lineage("1", [period("1", 0, item: "a"), period("9", 0, item: "a")], revision: 2))
    #expect(try await service.state("alice").balances == ["coins": 50])
    try await service.read(
      lineage(
        "1", [period("1", 0, item: "a"), period("9", 0, item: "a"), period("2", 30, item: "b")],
        revision: 3))
    #expect(try await service.state("alice").balances == ["coins": 100])
  }

  @Test func `family members get rights and no credits`() async throws {
    let service = try TestService(
      products: """
        "pro.monthly": {"kind": "auto-renewable", "displayPrice": "9.99", "entitlements": ["pro"],
          "credits": {"coins": 50}, "subscription": {"group": "Pro", "level": 2, "period": "P1M"}}
        """)
    try await service.read(
      lineage("1", [monthly("1", from: 0, to: 30) { $0.inAppOwnershipType = "FAMILY_SHARED" }]))
    let state = try await service.state("alice")
    #expect(state.rights == ["pro"] && state.balances.isEmpty)
  }

  @Test func `a spend takes all of its units or nothing`() async throws {
    let service = try TestService()
    try await service.read(coins("1"))
    try await service.read(boosts("2"))
    let short = try await spend(service, #"{"coins": 50, "boosts": 11}"#, key: "a")
    #expect(short.status == 422)
    #expect(short.body.contains("urn:purser:problem:balance-short"))
    #expect(short.body.contains(#""short":{"boosts":{"available":10,"needed":11}}"#))
    #expect(try await service.state("alice").balances == ["coins": 100, "boosts": 10])
    let taken = try await spend(service, #"{"coins": 50, "boosts": 10}"#, key: "a")
    #expect(taken.status == 201)
    #expect(try await service.state("alice").balances == ["coins": 50, "boosts": 0])
    #expect(
      try await service.told().suffix(2) == ["alice boosts -10 = 0", "alice coins -50 = 50"])
  }

  @Test func `the same key is the same spend, and another body under it is refused`() async throws {
    let service = try TestService()
    try await service.read(coins("1"))
    let first = try await spend(service, #"{"coins": 60}"#, key: "k")
    let again = try await spend(service, #"{"coins": 60}"#, key: "k")
    #expect(first.status == 201 && again.status == 200)
    #expect(first.body == again.body)
    #expect(try await service.state("alice").balances == ["coins": 40])
    let other = try await spend(service, #"{"coins": 61}"#, key: "k")
    #expect(other.status == 422 && other.body.contains("idempotency-key-reused"))
    let without = try await service.request(
      .post, "/v1/customers/alice/spends", #"{"units": {"coins": 1}}"#)
    #expect(without.status == 400)
  }

  @Test(arguments: [#"{}"#, #"{"coins": 0}"#, #"{"coins": -5}"#, #"{"Coins": 1}"#])
  func `amounts that are none are refused`(units: String) async throws {
    let service = try TestService()
    let answer = try await spend(service, units, key: "k")
    #expect(answer.status == 422 && answer.body.contains("invalid-units"))
  }

  @Test func `spends of many at once never take more than there is`() async throws {
    let service = try TestService()
    try await service.read(coins("1"))
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<30 {
        group.addTask { try await spend(service, #"{"coins": 7}"#, key: "\(number)").status }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses.count { $0 == 201 } == 14)
    #expect(statuses.count { $0 == 422 } == 16)
    #expect(try await service.state("alice").balances == ["coins": 2])
  }

  @Test func `what expires is spent first, and only what is left of it expires`() async throws {
    let service = try TestService()
    try await service.read(boosts("1"))
    try await service.read(boosts("2", on: 10))
    let given = try await service.request(
      .post, "/v1/customers/alice/credits",
      #"{"units": {"boosts": 5}, "environment": "Sandbox", "reason": "an apology"}"#, key: "g")
    #expect(given.status == 201)
    _ = try await spend(service, #"{"boosts": 4}"#, key: "a")
    service.clock.set(day(30))
    #expect(try await service.nextDue() == day(30))
    try await service.fire()
    #expect(try await service.told().last == "alice boosts -6 = 15")
    service.clock.set(day(40))
    try await service.fire()
    #expect(try await service.state("alice").balances == ["boosts": 5])
    #expect(try await service.nextDue() == nil)
    #expect(try await service.wrongBalances() == [])
  }

  @Test func `nobody spends what has expired before the timer takes it`() async throws {
    let service = try TestService()
    try await service.read(boosts("1"))
    service.clock.set(day(30))
    let late = try await spend(service, #"{"boosts": 1}"#, key: "a")
    #expect(late.status == 422 && late.body.contains(#""available":0"#))
  }

  @Test func `a refund does not take again what has expired`() async throws {
    let service = try TestService()
    try await service.read(boosts("1"))
    _ = try await service.request(
      .post, "/v1/customers/alice/credits",
      #"{"units": {"boosts": 100}, "environment": "Sandbox"}"#, key: "g")
    _ = try await spend(service, #"{"boosts": 4}"#, key: "a")
    service.clock.set(day(31))
    try await service.fire()
    #expect(try await service.state("alice").balances == ["boosts": 100])
    var refunded = boosts("1")
    refunded.revision = 2
    refunded.transactions[0].revocationDate = day(31)
    refunded.decidedAt = day(31)
    try await service.read(refunded)
    #expect(try await service.told().last == "alice boosts -4 = 96")
    #expect(try await service.wrongBalances() == [])
  }

  @Test func `a refund of what never ends leaves what is given for a time its end`() async throws {
    let service = try TestService()
    let given = try await service.request(
      .post, "/v1/customers/alice/credits",
      #"{"units": {"coins": 7}, "environment": "Sandbox", "expiresAt": \#(day(20))}"#, key: "g")
    #expect(given.status == 201)
    try await service.read(coins("1"))
    var refunded = coins("1")
    refunded.revision = 2
    refunded.transactions[0].revocationDate = day(1)
    refunded.decidedAt = day(1)
    try await service.read(refunded)
    #expect(try await service.state("alice").balances == ["coins": 7])
    service.clock.set(day(20))
    try await service.fire()
    #expect(try await service.state("alice").balances == ["coins": 0])
    #expect(try await service.wrongBalances() == [])
  }

  @Test func `a purchase that moved between two who then become one is worth once`() async throws {
    let service = try TestService()
    func state(_ customer: String, _ holding: Holding, _ revision: Int64) -> LineageState {
      lineage("1", coins("1").transactions, revision: revision) {
        $0.customer = customer
        $0.holding = holding
        $0.cause = LineageCause(kind: revision == 2 ? "transfer" : "notification")
        $0.decidedAt = day(revision)
      }
    }
    try await service.read(state("alice", .held, 1))
    try await service.read(state("alice", .left, 2))
    try await service.read(state("bob", .held, 2))
    try await service.merge("alice", into: "bob", at: day(3))
    #expect(try await service.state("bob").balances == ["coins": 100])
    // Apple says the same again.
    try await service.read(state("bob", .held, 3))
    #expect(try await service.state("bob").balances == ["coins": 100])
    #expect(try await service.wrongBalances() == [])
  }

  @Test func `a credit pays a debt first, and what pays a debt does not expire`() async throws {
    let service = try TestService(policies: #"{"refundBalance": "debt"}"#)
    try await service.read(boosts("1"))
    _ = try await spend(service, #"{"boosts": 10}"#, key: "a")
    var refunded = boosts("1")
    refunded.revision = 2
    refunded.transactions[0].revocationDate = day(1)
    try await service.read(refunded)
    #expect(try await service.state("alice").balances == ["boosts": -10])
    try await service.read(boosts("2", on: 1))
    #expect(try await service.state("alice").balances == ["boosts": 0])
    service.clock.set(day(40))
    try await service.fire()
    #expect(try await service.state("alice").balances == ["boosts": 0])
    #expect(try await service.wrongBalances() == [])
  }

  @Test func `a refund seen with its purchase is two entries, and its reversal gives all back`()
    async throws
  {
    let service = try TestService()
    var state = coins("1")
    state.transactions[0].revocationDate = day(1)
    try await service.read(state)
    #expect(try await service.told() == ["alice coins +100 = 100", "alice coins -100 = 0"])
    try await service.read(lineage("1", coins("1").transactions, revision: 2))
    #expect(try await service.state("alice").balances == ["coins": 100])
  }

  @Test func `a prorated refund takes its share, and a later full one the rest`() async throws {
    let service = try TestService()
    var state = coins("1")
    try await service.read(state)
    state.revision = 2
    state.transactions[0].revocationDate = day(1)
    state.transactions[0].revocationType = "REFUND_PRORATED"
    state.transactions[0].revocationPercentage = 33_333
    try await service.read(state)
    #expect(try await service.told().last == "alice coins -34 = 66")
    state.revision = 3
    state.transactions[0].revocationType = "REFUND_FULL"
    try await service.read(state)
    #expect(try await service.told().last == "alice coins -66 = 0")
  }

  @Test func `what a purchase brought stays when the catalog changes its amount`() async throws {
    let service = try TestService()
    try await service.read(coins("1"))
    service.rules.replace(
      with: try sampleRules(
        products: sampleProducts.replacing(#"{"coins": 100}"#, with: #"{"coins": 500}"#)))
    try await service.reevaluate()
    #expect(try await service.state("alice").balances == ["coins": 100])
    try await service.read(coins("2"))
    #expect(try await service.state("alice").balances == ["coins": 600])
    var refunded = coins("1")
    refunded.revision = 2
    refunded.transactions[0].revocationDate = day(1)
    try await service.read(refunded)
    #expect(try await service.state("alice").balances == ["coins": 500])
  }

  @Test func `the entries are listed newest first, each with its cause, page by page`() async throws
  {
    let service = try TestService()
    for number in 1...5 {
      service.clock.advance(by: 1000)
      try await service.read(coins("\(number)"))
    }
    service.clock.advance(by: 1000)
    _ = try await spend(service, #"{"coins": 3}"#, key: "k")
    var amounts: [Int64] = []
    var cursor = ""
    repeat {
      let answer = try await service.request(
        .get, "/v1/customers/alice/balances/entries?limit=4\(cursor)")
      #expect(answer.status == 200)
      let page = try EventJSON.decode(EntryPage.self, from: answer.body)
      amounts += page.entries.map(\.amount)
      if cursor.isEmpty {
        #expect(page.entries.first?.kind == "spend")
        #expect(page.entries.first?.reason == "a game")
        #expect(page.entries.first?.author == "anyone")
        #expect(page.entries.first?.spendId != nil)
        #expect(page.entries.last?.transactionId == "3")
      }
      cursor = page.next.map { "&cursor=\($0)" } ?? ""
    } while !cursor.isEmpty
    #expect(amounts == [-3, 100, 100, 100, 100, 100])
  }

  private struct EntryPage: Decodable {
    struct Entry: Decodable {
      let kind: String
      let amount: Int64
      let reason: String?
      let author: String?
      let spendId: String?
      let transactionId: String?
    }
    let entries: [Entry]
    let next: String?
  }
}
