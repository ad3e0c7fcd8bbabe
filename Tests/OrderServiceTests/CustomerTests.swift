import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import Testing

@testable import order_service

@Suite("Customers") struct CustomerTests {
  private struct Known: Decodable {
    let customer: String, aliases: [String], accountTokens: [AccountTokens.Token]
  }

  private let world: OrderWorld

  init() throws { world = try OrderWorld() }

  private func merge(_ customer: String, _ into: String) async throws -> OrderWorld.Answer {
    try await world.send(
      .post, "/v1/customers/\(customer)/merge", #"{"into":"\#(into)","reason":"signed in"}"#,
      as: Principal(name: "support", scopes: [.admin]))
  }

  private func erase(_ customer: String) async throws -> OrderWorld.Answer {
    try await world.send(
      .post, "/v1/customers/\(customer)/erasure", #"{"reason":"asked for it"}"#,
      as: Principal(name: "support", scopes: [.admin]))
  }

  /// The log of writes as a reader of the file would find it.
  private func auditText() async throws -> String {
    try await world.store.readers.read { reader in
      try reader.query(
        """
        SELECT action, caller, path, IFNULL(subject, ''), IFNULL(customer, '') FROM audit ORDER BY id
        """
      ) { "\($0.text(0)) \($0.text(1)) \($0.text(2)) \($0.text(3)) \($0.text(4))" }
    }.joined(separator: "\n")
  }

  private func token(_ customer: String, _ body: String = "") async throws -> OrderWorld.Answer {
    try await world.send(.put, "/v1/customers/\(customer)/account-token", body)
  }

  @Test func `a customer has one account token, however often it is asked for`() async throws {
    let first: AccountTokens.Token = try await token("alice").read()
    let before = world.commits
    #expect(try await token("alice").read() == first)
    #expect(world.commits == before)
    #expect(UUIDs.normalized(first.appAccountToken) == first.appAccountToken)
    let told: [TokenIssued] = try await world.published(.tokenIssued)
    #expect(told.count == 1 && told[0].orderId == nil && told[0].customer == "alice")
    #expect(told[0].token == first.appAccountToken)
    #expect(try await token("bob").read(AccountTokens.Token.self) != first)
  }

  @Test func `a team brings the tokens that it has given out already`() async throws {
    let own = "7D6B1E34-1F0B-4C7A-9C5E-2B8A4E1F3A55"
    let taken: AccountTokens.Token = try await token("alice", #"{"appAccountToken":"\#(own)"}"#)
      .read()
    #expect(taken.appAccountToken == own.lowercased())
    #expect(try await token("alice", #"{"appAccountToken":"\#(own)"}"#).read() == taken)
    let other = try await token("bob", #"{"appAccountToken":"\#(own)"}"#)
    #expect(other.status == 409 && other.problem == "token-taken")
    let order = try await world.place()
    #expect(try await token("alice", #"{"appAccountToken":"\#(order.id)"}"#).status == 409)
    #expect(try await token("alice", #"{"appAccountToken":"x"}"#).problem == "invalid-token")
  }

  @Test func `a merge is told with author and reason, once`() async throws {
    let first = try await merge("anonymous-1", "alice")
    let merge: CustomerMerged = try first.read()
    #expect(first.status == 200 && merge.author == "support" && merge.reason == "signed in")
    #expect(try await self.merge("anonymous-1", "alice").read() == merge)
    #expect(try await world.published(.customerMerged) == [merge])
    let known: Known = try await world.send(.get, "/v1/customers/anonymous-1").read()
    #expect(known.customer == "alice" && known.aliases == ["anonymous-1"])
  }

  @Test func `merges make no circle and lead nowhere twice`() async throws {
    _ = try await merge("a", "b")
    #expect(try await merge("b", "a").problem == "merge-cycle")
    #expect(try await merge("b", "b").problem == "merge-cycle")
    let elsewhere = try await merge("a", "c")
    #expect(elsewhere.status == 409 && elsewhere.problem == "customer-merged")
    #expect(elsewhere.text.contains(#""into":"b""#))
    // Whoever was merged before goes along, and no event leads to an id that has ended.
    _ = try await merge("b", "c")
    let told: [CustomerMerged] = try await world.published(.customerMerged)
    #expect(told.map { "\($0.customer)>\($0.into)" } == ["a>b", "b>c", "a>c"])
    #expect(Set(told.map(\.id)).count == 3)
    // Into an id that has ended means into where that went.
    #expect(try await merge("d", "a").read(CustomerMerged.self).into == "c")
    #expect(try await merge("c", "a").problem == "merge-cycle")
  }

  @Test func `orders of a merged customer are the other's, and new ones too`() async throws {
    let old = try await world.place("anonymous-1")
    _ = try await world.prove(old, Proofs.body("1"))
    _ = try await merge("anonymous-1", "alice")
    let new = try await world.place("anonymous-1")
    #expect(new.customer == "alice")
    struct List: Decodable { let orders: [Order] }
    for id in ["alice", "anonymous-1"] {
      let list: List = try await world.send(.get, "/v1/orders?customer=\(id)").read()
      #expect(Set(list.orders.map(\.id)) == [old.id, new.id], "\(id)")
    }
    let moved = try await world.order(old.id)
    #expect(moved.customer == "alice" && moved.state == .submitted)
    #expect(moved.cause == "customer-merged" && moved.revision == 3)
    // The proof that was on its way still completes it.
    try await world.decide(token: old.id)
    #expect(try await world.order(old.id).state == .completed)
  }

  @Test func `thousands of orders go along in parts`() async throws {
    let count = MoveOrdersOfMerged.atOnce + 5
    for _ in 0..<count { _ = try await world.place("anonymous-1") }
    _ = try await merge("anonymous-1", "alice")
    let job = MoveOrdersOfMerged(notices: world.notices)
    #expect(try await world.store.readers.read { try job.nextDue($0) } != nil)
    let moved = try await world.store.change { try job.fire($0, dueBy: 0, limit: 500) }
    #expect(moved == 5)
    #expect(try await world.store.readers.read { try job.nextDue($0) } == nil)
    let left = try await world.store.readers.read { reader in
      try reader.first("SELECT COUNT(*) FROM orders WHERE customer <> 'alice'") { $0.int(0) }
    }
    #expect(left == 0)
  }

  @Test func `support moves a lineage, and a repeated request moves it once`() async throws {
    let body = #"{"lineage":"com.example.app/Sandbox/77","reason":"ticket 12"}"#
    func send(_ key: String?, _ body: String) async throws -> OrderWorld.Answer {
      try await world.send(
        .post, "/v1/customers/alice/transfers", body,
        headers: key.map { [("Idempotency-Key", $0)] } ?? [],
        as: Principal(name: "support", scopes: [.entitlementsWrite]))
    }
    let first = try await send("k", body)
    let transfer: LineageTransferred = try first.read()
    #expect(first.status == 202 && transfer.customer == "alice" && transfer.author == "support")
    #expect(transfer.reason == "ticket 12" && transfer.lineage == "com.example.app/Sandbox/77")
    #expect(try await send("k", body).read() == transfer)
    #expect(try await world.published(.lineageTransferred) == [transfer])
    let changed = try await send("k", body.replacing("77", with: "78"))
    #expect(changed.status == 422 && changed.problem == "idempotency-key-reused")
    let foreign = try await send(nil, body.replacing("com.example.app", with: "com.other"))
    #expect(foreign.problem == "unknown-lineage")
  }

  private func restoreAndTransferToAlice() async throws {
    _ = try await world.send(
      .post, "/v1/restores",
      #"{"customer":"alice","signedTransactions":["\#(Proofs.signed("5"))"]}"#)
    _ = try await world.send(
      .post, "/v1/customers/alice/transfers",
      #"{"lineage":"\#(OrderWorld.bundle)/Sandbox/7","reason":"moved"}"#)
  }

  @Test func `an erased customer leaves a hash and nothing else`() async throws {
    _ = try await merge("anonymous-1", "alice")
    let order = try await world.place("alice")
    _ = try await world.prove(order, Proofs.body("1"))
    _ = try await token("alice")
    try await restoreAndTransferToAlice()
    _ = try await world.send(
      .post, "/v1/orders", #"{"customer":"alice","productId":"coins.100"}"#,
      headers: [("Idempotency-Key", "k")],
      as: Principal(name: "token:alice", scopes: [.orders], customer: "alice"))
    let logged = try await auditText()
    #expect(logged.contains("token:alice") && logged.contains("/v1/customers/alice/transfers"))
    let first = try await erase("alice")
    #expect(first.status == 202)
    let left = try await auditText()
    #expect(!left.contains("alice") && !left.contains("anonymous-1") && !left.contains(order.id))
    #expect(left.contains("POST /v1/customers/{customer}/erasure support"))
    #expect(left.contains("erased:\(SHA256.hex("alice"))"))
    #expect(try await erase("alice").body == first.body)
    let told: [CustomerErased] = try await world.published(.customerErased)
    #expect(told.map(\.customer) == ["alice", "anonymous-1"])
    #expect(told.allSatisfy { $0.author == "support" && $0.reason == "asked for it" })
    for table in [
      "orders", "order_moves", "proofs", "proof_parts", "restores", "account_tokens", "merges",
      "subscriptions_seen", "transfers", "idempotency_keys",
    ] {
      let rows = try await world.store.readers.read { reader in
        try reader.first("SELECT COUNT(*) FROM \(table)") { $0.int(0) }
      }
      #expect(rows == 0, "\(table)")
    }
    // What comes late finds nobody.
    try await world.see("alice", token: order.id)
    #expect(try await world.send(.get, "/v1/orders/\(order.id)").status == 404)
  }

  @Test func `nothing brings an erased customer back`() async throws {
    _ = try await merge("anonymous-1", "alice")
    _ = try await erase("alice")
    for id in ["alice", "anonymous-1"] {
      let order = try await world.send(
        .post, "/v1/orders", #"{"customer":"\#(id)","productId":"coins.100"}"#)
      #expect(order.status == 410 && order.problem == "customer-erased")
      #expect(try await token(id).status == 410)
      #expect(try await merge(id, "bob").status == 410)
      #expect(try await merge("bob", id).status == 410)
      let restore = try await world.send(
        .post, "/v1/restores",
        #"{"customer":"\#(id)","signedTransactions":["\#(Proofs.signed("5"))"]}"#)
      #expect(restore.status == 410)
    }
  }

  @Test func `an id that was merged is not erased by itself`() async throws {
    _ = try await merge("a", "b")
    let answer = try await erase("a")
    #expect(answer.status == 409 && answer.problem == "customer-merged")
  }

  @Test func `a customer's own token brings no account token of its choice`() async throws {
    let alice = Principal(name: "alice", scopes: [.orders], customer: "alice")
    let path = "/v1/customers/alice/account-token"
    #expect(try await world.send(.put, path, as: alice).status == 200)
    let own = #"{"appAccountToken":"7d6b1e34-1f0b-4c7a-9c5e-2b8a4e1f3a55"}"#
    let answer = try await world.send(.put, path, own, as: alice)
    #expect(answer.status == 403 && answer.problem == "token-not-allowed")
  }

  @Test(arguments: ["", "   ", String(repeating: "x", count: 1001)])
  func `a decision without a reason is refused`(reason: String) async throws {
    let answer = try await world.send(
      .post, "/v1/customers/a/merge", #"{"into":"b","reason":"\#(reason)"}"#)
    #expect(answer.status == 422 && answer.problem == "invalid-reason")
  }

  @Test func `an export holds everything that is kept here of a customer, and of merged ids`()
    async throws
  {
    let order = try await world.place("guest")
    _ = try await world.prove(order, Proofs.body("1"))
    try await world.decide(token: order.id)
    _ = try await token("alice")
    try await restoreAndTransferToAlice()
    _ = try await merge("guest", "alice")
    _ = try await world.place("bob")

    struct Export: Decodable {
      struct Entry: Decodable {
        let order: Order
        let moves: [OrderMove]
      }
      struct Proof: Decodable {
        let orderId: String?
        let outcome: ProofOutcome?
      }
      let customer: String
      let merges: [CustomerMerged]
      let accountTokens: [AccountTokens.Token]
      let orders: [Entry]
      let proofs: [Proof]
      let restores: [Restore]
      let transfers: [LineageTransferred]
      let truncated: [String]
    }
    let answer = try await world.send(.get, "/v1/customers/guest/export")
    let export: Export = try answer.read()
    #expect(export.customer == "alice" && export.merges.map(\.customer) == ["guest"])
    #expect(export.accountTokens.count == 1 && export.transfers.map(\.reason) == ["moved"])
    #expect(export.orders.map(\.order.id) == [order.id])
    #expect(export.orders.first?.moves.map(\.cause).first == "placed")
    #expect(export.proofs.count == 2 && export.proofs.contains { $0.outcome != nil })
    #expect(export.restores.count == 1 && export.truncated.isEmpty)
    #expect(!answer.text.contains("bob"))
    let cut = try await world.store.readers.read { reader in
      try ExportCustomer.export("alice", bundleIds: [OrderWorld.bundle], limit: 1, reader)
    }
    #expect(cut.proofs.count == 1 && cut.truncated == ["proofs"])
    _ = try await erase("alice")
    #expect(try await world.send(.get, "/v1/customers/guest/export").status == 410)
  }
}
