import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

@Suite("Merges, transfers and erasures") struct CustomerChangeTests {
  private let coins = transaction("8", "coins.100", "Consumable", on: 0)
  private let period = monthly("1", from: 0, to: 30, reason: "PURCHASE")

  private func told(
    _ original: String, _ transactions: [LineageTransaction], to customer: String,
    _ holding: Holding = .held, revision: Int64 = 1, cause: String = "proof"
  ) -> LineageState {
    lineage(original, transactions, revision: revision) {
      $0.customer = customer
      $0.holding = holding
      $0.cause = LineageCause(kind: cause)
    }
  }

  private func spend(_ service: TestService, _ customer: String, _ amount: Int, key: String)
    async throws -> Int
  {
    try await service.request(
      .post, "/v1/customers/\(customer)/spends",
      #"{"units": {"coins": \#(amount)}, "environment": "Sandbox"}"#, key: key
    ).status
  }

  /// A guest with a subscription, a grant and 40 coins left of 100; `alice` has 100 coins.
  private func twoCustomers() async throws -> TestService {
    let service = try TestService()
    try await service.read(told("8", [coins], to: "guest"))
    try await service.read(told("1", [period], to: "guest"))
    try await service.read(
      told("9", [transaction("9", "coins.100", "Consumable", on: 0)], to: "alice"))
    #expect(try await spend(service, "guest", 60, key: "s") == 201)
    let granted = try await service.request(
      .post, "/v1/customers/guest/grants",
      #"{"entitlement": "vip", "environment": "Sandbox", "reason": "won a prize"}"#, key: "g")
    #expect(granted.status == 201)
    return service
  }

  /// What the ledger publishes for a merge of `guest` into `alice`.
  private var moves: [LineageState] {
    [("8", coins), ("1", period)].flatMap { original, bought in
      [
        told(original, [bought], to: "guest", .left, revision: 2, cause: "merge"),
        told(original, [bought], to: "alice", revision: 2, cause: "merge"),
      ]
    }
  }

  private func isMerged(_ service: TestService) async throws {
    let (alice, guest) = (try await service.state("alice"), try await service.state("guest"))
    #expect(alice.rights == ["pro", "vip"])
    #expect(alice.balances == ["coins": 140])
    #expect(guest.rights == [] && guest.balances.values.allSatisfy { $0 == 0 })
    #expect(try await service.wrongBalances() == [])
    #expect(try await service.published().count { $0.type == "entitlements.customer-merged" } == 1)
    try await expectSameAfterRebuild(service)
  }

  @Test func `a merge moves rights, grants and what is left of balances, once`() async throws {
    let service = try await twoCustomers()
    try await service.merge("guest", into: "alice")
    try await isMerged(service)
    for move in moves { try await service.read(move) }
    try await isMerged(service)
    // Told again, it changes nothing.
    let count = try await service.published().count
    try await service.merge("guest", into: "alice")
    for move in moves { try await service.read(move) }
    #expect(try await service.published().count == count)
  }

  @Test(arguments: 0..<24)
  func `in whatever order merge and moves are read, the end is the same`(seed: Int) async throws {
    let service = try await twoCustomers()
    var random = SeededGenerator(seed: UInt64(seed))
    // States of one customer keep their order; between customers and topics there is none.
    var lines: [[LineageState?]] = [
      moves.filter { $0.customer == "guest" }, moves.filter { $0.customer == "alice" }, [nil],
    ]
    while let line = lines.indices.filter({ !lines[$0].isEmpty }).randomElement(using: &random) {
      if let state = lines[line].removeFirst() {
        try await service.read(state)
      } else {
        try await service.merge("guest", into: "alice")
      }
    }
    try await isMerged(service)
  }

  @Test func `a purchase read only after the merge goes to the one who stays, once`() async throws {
    let service = try TestService()
    try await service.merge("guest", into: "alice")
    try await service.read(told("8", [coins], to: "alice", revision: 2, cause: "merge"))
    try await service.read(told("8", [coins], to: "guest"))
    try await service.read(told("8", [coins], to: "guest", .left, revision: 2, cause: "merge"))
    #expect(try await service.state("alice").balances == ["coins": 100])
    #expect(try await service.state("guest").balances == [:])
  }

  @Test func `the merged customer is answered and written to as the one who stays`() async throws {
    let service = try await twoCustomers()
    try await service.merge("guest", into: "alice")
    let answer = try await service.request(.get, "/v1/customers/guest/entitlements")
    #expect(String(decoding: answer.body, as: UTF8.self).contains(#""customer":"alice""#))
    // The spend of before the merge is still the same spend.
    #expect(try await spend(service, "guest", 60, key: "s") == 200)
    #expect(try await spend(service, "guest", 10, key: "t") == 201)
    #expect(try await service.state("alice").balances == ["coins": 130])
    try await expectSameAfterRebuild(service)
  }

  /// An app signs in between the first try and the next: it asks under another id the second time.
  @Test func `a spend, a credit or a grant repeated under the other id of a merge is the same`()
    async throws
  {
    let service = try await twoCustomers()
    let gift = #"{"units": {"coins": 5}, "environment": "Sandbox"}"#
    let vip = #"{"entitlement": "vip", "environment": "Sandbox", "reason": "won a prize"}"#
    #expect(
      try await service.request(.post, "/v1/customers/alice/credits", gift, key: "c").status == 201)
    try await service.merge("guest", into: "alice")
    let before = try await service.published().count
    #expect(try await spend(service, "alice", 60, key: "s") == 200)
    for customer in ["alice", "guest"] {
      let credit = try await service.request(
        .post, "/v1/customers/\(customer)/credits", gift, key: "c")
      let grant = try await service.request(
        .post, "/v1/customers/\(customer)/grants", vip, key: "g")
      #expect(credit.status == 200 && grant.status == 200, "\(customer)")
    }
    #expect(try await service.published().count == before)
    // Another merge on top: the first key still leads to the first spend.
    try await service.merge("alice", into: "alicia")
    #expect(try await spend(service, "alicia", 60, key: "s") == 200)
    #expect(try await spend(service, "alicia", 61, key: "s") == 422)
    #expect(try await service.state("alicia").balances == ["coins": 145])
    #expect(try await service.wrongBalances() == [])
  }

  @Test func `one key used by both before a merge stays two spends`() async throws {
    let service = try await twoCustomers()
    #expect(try await spend(service, "alice", 10, key: "s") == 201)
    try await service.merge("guest", into: "alice")
    #expect(try await spend(service, "alice", 10, key: "s") == 200)
    #expect(try await spend(service, "guest", 60, key: "s") == 200)
    #expect(try await service.state("alice").balances == ["coins": 130])
  }

  @Test func `a merge of a merged customer ends at the last one`() async throws {
    let service = try await twoCustomers()
    try await service.merge("guest", into: "alice")
    try await service.merge("alice", into: "alicia")
    let state = try await service.state("alicia")
    #expect(state.rights == ["pro", "vip"] && state.balances == ["coins": 140])
    let answer = try await service.request(.get, "/v1/customers/guest/balances")
    #expect(String(decoding: answer.body, as: UTF8.self).contains(#""customer":"alicia""#))
    #expect(try await service.wrongBalances() == [])
    try await expectSameAfterRebuild(service)
  }

  @Test func `a transfer by support moves the whole credit, and what was spent is a shortfall`()
    async throws
  {
    let service = try TestService()
    try await service.read(told("8", [coins], to: "bob"))
    #expect(try await spend(service, "bob", 60, key: "s") == 201)
    // The new owner is told first; what the old one still has is not credited twice.
    try await service.read(told("8", [coins], to: "alice", revision: 2, cause: "transfer"))
    #expect(try await service.state("alice").balances == [:])
    try await service.read(told("8", [coins], to: "bob", .left, revision: 2, cause: "transfer"))
    #expect(
      try await service.told().suffix(2)
        == ["bob coins -40 = 0 short 60", "alice coins +100 = 100"])
    #expect(try await service.wrongBalances() == [])
    try await expectSameAfterRebuild(service)
  }

  @Test func `a lineage that comes back gives back what was taken`() async throws {
    let service = try TestService()
    try await service.read(told("8", [coins], to: "bob"))
    try await service.read(told("8", [coins], to: "bob", .left, revision: 2, cause: "transfer"))
    try await service.read(told("8", [coins], to: "bob", revision: 3, cause: "transfer"))
    #expect(try await service.state("bob").balances == ["coins": 100])
    #expect(try await service.wrongBalances() == [])
  }

  @Test func `an erased customer is forgotten, but for the version, which never restarts`()
    async throws
  {
    let service = try await twoCustomers()
    let put = try await service.request(
      .put, "/v1/customers/guest/refund-settings", #"{"customerConsented": true}"#)
    #expect(put.status == 200)
    #expect(try await service.auditText().contains("guest"))
    let before = try await service.published().count { $0.key == "guest" }
    try await service.erase("guest", at: day(1))
    let last = try await service.published().last { $0.key == "guest" }
    #expect(last?.type == "entitlements.customer-erased")
    let erased = try EventJSON.decode(EntitlementsErased.self, from: last?.value ?? [])
    #expect(erased.cause.author == "support" && erased.cause.reason == "asked for it")
    // A right each of subscription and grant went, then the erasure itself.
    #expect(erased.version == Int64(before) + 3)
    let tombstone = try await service.published(.entitlementState).last { $0.key == "guest" }
    #expect(tombstone?.value == nil && tombstone != nil)
    let kept = try await service.store.readers.read { reader in
      try [
        "purchases", "grants", "balances", "balance_entries", "balance_lots", "spends",
        "entitlements", "refund_settings", "refund_requests",
      ].filter { table in
        try reader.first("SELECT 1 FROM \(table) WHERE customer = 'guest'") { _ in true } ?? false
      }
    }
    #expect(kept == [])
    #expect(try await service.auditText().contains("guest") == false)
    try await expectSameAfterRebuild(service)
    // What was decided before, and is read late or once more, brings nothing back.
    try await service.read(told("1", [period], to: "guest"))
    #expect(try await service.state("guest").rights == [])

    // The ledger decided it before it had read of the erasure: nothing comes back.
    var back = told("5", [transaction("5", "themes.all", "Non-Consumable", on: 2)], to: "guest")
    back.decidedAt = day(2)
    try await service.read(back)
    #expect(try await service.state("guest").rights == [])
    // Erased once more, its versions go on.
    try await service.erase("guest", at: day(3))
    let again = try await service.published().last { $0.key == "guest" }
    #expect(
      try EventJSON.decode(EntitlementsErased.self, from: again?.value ?? []).version
        == erased.version + 1)
    try await expectSameAfterRebuild(service)
  }

  @Test func `of an erased customer only the end is told, to whoever knows the id`() async throws {
    let service = try await twoCustomers()
    try await service.merge("guest", into: "alice")
    try await service.erase("alice", at: day(1))
    for customer in ["alice", "guest"] {
      let answer = try await service.request(.get, "/v1/customers/\(customer)/timeline")
      let text = String(decoding: answer.body, as: UTF8.self)
      #expect(text.contains("customer-erased") && !text.contains("asked for it"), "\(text)")
      let page = try EventJSON.decode(TimelinePage.self, from: answer.body)
      #expect(page.timeline.count == 1 && (page.timeline.first?.version ?? 0) > 1)
      let export = try await service.request(.get, "/v1/customers/\(customer)/export")
      let other = customer == "alice" ? "guest" : "alice"
      #expect(!String(decoding: export.body, as: UTF8.self).contains(other))
      // The version that readers compare with goes on.
      let read = try await service.request(.get, "/v1/customers/\(customer)/entitlements")
      #expect(
        String(decoding: read.body, as: UTF8.self)
          .contains("\"version\":\(page.timeline.first?.version ?? 0)"))
    }
  }

  @Test func `nothing can be given to an erased customer, so that no retry brings it back`()
    async throws
  {
    let service = try await twoCustomers()
    try await service.erase("guest", at: day(1))
    let grant = #"{"entitlement": "vip", "reason": "again", "environment": "Sandbox"}"#
    let coins = #"{"units": {"coins": 1}, "reason": "again", "environment": "Sandbox"}"#
    let writes: [(Method, String, String)] = [
      (.post, "grants", grant), (.post, "credits", coins), (.post, "spends", coins),
      (.put, "refund-settings", #"{"customerConsented": true}"#),
    ]
    for (method, path, body) in writes {
      let answer = try await service.request(
        method, "/v1/customers/guest/\(path)", body, key: "again-\(path)")
      #expect(answer.status == 410, "\(path)")
      #expect(String(decoding: answer.body, as: UTF8.self).contains("customer-erased"))
    }
    #expect(try await service.state("guest").rights == [])
  }

  @Test(arguments: [true, false])
  func `an erased customer's coins are not credited again to who claims the purchase`(
    erasedFirst: Bool
  ) async throws {
    let service = try TestService()
    let provisional = "$appstore:com.example.app/Sandbox/8"
    try await service.read(told("8", [coins], to: "guest"))
    let moves = [
      told("8", [coins], to: "guest", .left, revision: 2, cause: "erasure"),
      told("8", [coins], to: provisional, revision: 2, cause: "erasure"),
    ]
    if erasedFirst { try await service.erase("guest", at: day(1)) }
    for move in moves { try await service.read(move) }
    if !erasedFirst { try await service.erase("guest", at: day(1)) }
    try await service.read(told("8", [coins], to: provisional, .left, revision: 3))
    try await service.read(told("8", [coins], to: "thief", revision: 3))
    for customer in ["guest", provisional, "thief"] {
      #expect(try await service.state(customer).balances.values.allSatisfy { $0 == 0 })
    }
  }

  @Test func `everything about a customer is in the timeline with author, cause and time`()
    async throws
  {
    let service = try await twoCustomers()
    try await service.merge("guest", into: "alice")
    let answer = try await service.request(.get, "/v1/customers/guest/timeline?limit=2")
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(text.contains(#""type":"purser.entitlements.customer-merged.v1""#))
    #expect(text.contains(#""author":"login""#) && text.contains(#""reason":"signed in""#))
    #expect(text.contains(#""at":\#(day(0))"#))
    var versions = 0
    var cursor = ""
    repeat {
      let page = try EventJSON.decode(
        TimelinePage.self,
        from: try await service.request(.get, "/v1/customers/guest/timeline?limit=2\(cursor)").body)
      versions += page.timeline.count
      cursor = page.next.map { "&cursor=\($0)" } ?? ""
    } while !cursor.isEmpty
    #expect(try await service.published().count { $0.key == "guest" } == versions)
  }

  private struct TimelinePage: Decodable {
    struct Entry: Decodable { let version: Int64 }
    let timeline: [Entry]
    let next: String?
  }

  @Test func `an export holds everything of one customer and of those who became one with it`()
    async throws
  {
    let service = try await twoCustomers()
    try await service.merge("guest", into: "alice")
    let answer = try await service.request(.get, "/v1/customers/alice/export")
    let export = try EventJSON.decode(Export.self, from: answer.body)
    #expect(export.customer == "alice" && export.aliases == ["guest"])
    #expect(export.grants.count == 1 && export.purchases.count == 3 && export.spends.count == 1)
    #expect(export.entries.map(\.amount).reduce(0, +) == 140)
    #expect(export.entitlements.count { $0.isActive } == 2)
    #expect(export.truncated.isEmpty && !export.timeline.isEmpty)
  }

  private struct Export: Decodable {
    struct Entry: Decodable { let amount: Int64 }
    struct Anything: Decodable {}
    let customer: String
    let aliases: [String]
    let entitlements: [Entitlement]
    let entries: [Entry]
    let grants: [Grant]
    let spends: [Anything]
    let purchases: [Anything]
    let timeline: [Anything]
    let truncated: [String]
  }
}
