import Events
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@testable import order_service

@Suite("Completing orders") struct CompleteOrderTests {
  private let world: OrderWorld

  init() throws { world = try OrderWorld() }

  /// An order whose proof waits for its outcome.
  private func submit(_ id: String, _ product: String = "coins.100") async throws -> Order {
    let order = try await world.place("alice", product)
    #expect(try await world.prove(order, Proofs.body(id)).status == 202)
    return order
  }

  private func state(_ order: Order) async throws -> OrderState {
    try await world.order(order.id).state
  }

  @Test func `an accepted proof completes its order`() async throws {
    let order = try await submit("1")
    try await world.decide(token: order.id)
    let completed = try await world.order(order.id)
    #expect(completed.state == .completed && !completed.mismatched)
    #expect(completed.transactionId == "1" && completed.lineage == "com.example.app/Sandbox/1")
  }

  @Test func `a purchase that is another order's completes a second order only as mismatched`()
    async throws
  {
    let (one, other) = (try await submit("1"), try await submit("2"))
    let proofs: [Proof] = try await world.published(.proofSubmitted)
    try await world.decide(proof: proofs[0].id, token: one.id)
    try await world.decide(.alreadyRecorded, proof: proofs[1].id, token: one.id)
    #expect(try await world.order(one.id).mismatched == false)
    #expect(try await world.order(other.id).state == .completed)
    #expect(try await world.order(other.id).mismatched)
  }

  @Test func `a purchase without token completes one order, and further ones as mismatched`()
    async throws
  {
    let (one, other) = (try await submit("1"), try await submit("2"))
    let proofs: [Proof] = try await world.published(.proofSubmitted)
    try await world.decide(proof: proofs[0].id)
    try await world.decide(.alreadyRecorded, proof: proofs[1].id)
    #expect(try await world.order(one.id).mismatched == false)
    #expect(try await world.order(other.id).mismatched)
  }

  @Test func `a copy that was posted to a wrong order first spoils neither order`() async throws {
    let (own, wrong) = (try await submit("1"), try await submit("2"))
    let proofs: [Proof] = try await world.published(.proofSubmitted)
    try await world.decide(proof: proofs[1].id, token: own.id)
    #expect(try await world.order(wrong.id).mismatched)
    try await world.decide(.alreadyRecorded, proof: proofs[0].id, token: own.id)
    #expect(try await world.order(own.id).state == .completed)
    #expect(try await world.order(own.id).mismatched == false)
  }

  /// An order that a purchase of another order has completed.
  private func mismatchedOrder() async throws -> Order {
    _ = try await submit("1")
    try await world.decide()
    let order = try await submit("1")
    try await world.decide(.alreadyRecorded)
    let marked = try await world.order(order.id)
    try #require(marked.state == .completed && marked.mismatched)
    return marked
  }

  @Test(arguments: ["token", "proof", "receipt", "account"])
  func `the order's own purchase puts it right, however it comes`(way: String) async throws {
    let token = try await accountToken()
    let order = try await mismatchedOrder()
    switch way {
    case "token": try await world.see("alice", transaction: "7", token: order.id)
    case "proof":
      #expect(try await world.prove(order, Proofs.body("7")).status == 202)
      try await world.decide(transaction: "7")
    case "receipt":
      _ = try await world.prove(order, #"{"receipt":"\#(try Proofs.receipt())"}"#)
      for (index, id) in ["1", "7"].enumerated() {
        try await world.decide(
          part: ProofPart(index: Int64(index + 1), count: 2), transaction: id)
      }
    default: try await world.see("alice", transaction: "7", token: token, at: world.clock.now())
    }
    let right = try await world.order(order.id)
    #expect(right.state == .completed && !right.mismatched && right.transactionId == "7")
    #expect(right.lineage == "com.example.app/Sandbox/7" && right.revision == order.revision + 1)
    let text = world.metrics.text()
    #expect(text.contains("orders_corrected_total 1") && text.contains("orders_completed_total 2"))
    // What has its own purchase never changes again.
    try await world.see("alice", transaction: "8", token: order.id)
    #expect(try await world.order(order.id) == right)
  }

  @Test func `what fits a mismatched order no better changes nothing`() async throws {
    let token = try await accountToken()
    let order = try await mismatchedOrder()
    // Another product, another order's purchase, and one long after the order's time.
    _ = try await world.prove(order, Proofs.body("7"))
    try await world.decide(.alreadyRecorded, transaction: "1")
    let other = try await world.place("alice", "themes.all")
    _ = try await world.prove(order, Proofs.body("8"))
    try await world.decide(transaction: "8", product: "themes.all", token: other.id)
    try await world.see(
      "alice", transaction: "9", token: token, at: order.expiresAt + 86_400_000)
    #expect(try await world.order(order.id) == order)
  }

  @Test func `its own purchase replaces another order's even if it is not what was ordered`()
    async throws
  {
    let order = try await mismatchedOrder()
    try await world.see("alice", transaction: "7", product: "themes.all", token: order.id)
    let own = try await world.order(order.id)
    #expect(own.transactionId == "7" && own.mismatched)
  }

  @Test func `whatever is posted where, a purchase is the right one of one order at most`()
    async throws
  {
    var random = SeededGenerator(seed: 16)
    for _ in 1...4 {
      let world = try OrderWorld()
      var orders: [Order] = []
      for _ in 1...4 { orders.append(try await world.place()) }
      // Some bear their order's token, some bear none.
      let tokens = orders.map { Bool.random(using: &random) ? $0.id : nil }
      var tasks = orders.flatMap { order in (0..<4).map { (order, $0) } }
      tasks.shuffle(using: &random)
      for (order, purchase) in tasks.prefix(10) {
        let (id, token) = ("\(purchase + 1)", tokens[purchase])
        _ = try await world.prove(order, Proofs.body(id))
        if let token { try await world.see("alice", transaction: id, token: token) }
        try await world.decide(transaction: id, token: token)
      }
      var right: [String: Int] = [:]
      for order in orders {
        let now = try await world.order(order.id)
        if now.state == .completed, !now.mismatched, let id = now.transactionId {
          right[id, default: 0] += 1
        }
        // Its own purchase was seen: then it has that, or one that bears no token.
        if let own = tokens.firstIndex(of: order.id),
          tasks.prefix(10).contains(where: { $0.1 == own })
        {
          let held = now.transactionId.flatMap { Int($0) } ?? 0
          #expect(!now.mismatched && (held == own + 1 || tokens[held - 1] == nil))
        }
      }
      #expect(right.values.allSatisfy { $0 == 1 })
    }
  }

  @Test(arguments: ["product", "quantity", "app", "refunded"])
  func `what was bought is granted, and an order for something else is marked`(difference: String)
    async throws
  {
    let order = try await submit("1")
    try await world.decide(
      product: difference == "product" ? "themes.all" : "coins.100",
      quantity: difference == "quantity" ? 3 : 1, token: order.id,
      revoked: difference == "refunded" ? 5 : nil,
      bundle: difference == "app" ? "com.example.other" : OrderWorld.bundle)
    let completed = try await world.order(order.id)
    #expect(completed.state == .completed && completed.mismatched)
    #expect(world.metrics.text().contains("orders_mismatched_total 1"))
  }

  @Test func `a refused proof rejects the order, and a valid one completes it afterwards`()
    async throws
  {
    let order = try await submit("1")
    try await world.decide(.rejected, reason: "bad-signature")
    #expect(try await world.order(order.id).state == .rejected)
    #expect(try await world.order(order.id).rejection == "bad-signature")
    try await world.see("alice", token: order.id)
    let completed = try await world.order(order.id)
    #expect(completed.state == .completed && completed.rejection == nil && !completed.mismatched)
    #expect(completed.cause == "transaction-seen" && completed.revision == 4)
  }

  @Test func `a transaction with a token completes only an order of its own customer`()
    async throws
  {
    let order = try await submit("1")
    try await world.see("bob", token: order.id)
    #expect(try await state(order) == .submitted)
  }

  @Test
  func `a receipt is decided when all of its parts are, and its own part completes the order`()
    async throws
  {
    let order = try await world.place("alice", "themes.all")
    #expect(try await world.prove(order, #"{"receipt":"\#(Proofs.receipt())"}"#).status == 202)
    try await world.decide(
      .alreadyRecorded, part: ProofPart(index: 1, count: 3), transaction: "7", product: "pro.yearly"
    )
    try await world.decide(
      part: ProofPart(index: 3, count: 3), transaction: "9", product: "themes.all")
    #expect(try await state(order) == .submitted)
    // The same part told again is no further part.
    try await world.decide(
      part: ProofPart(index: 3, count: 3), transaction: "9", product: "themes.all")
    #expect(try await state(order) == .submitted)
    try await world.decide(.rejected, part: ProofPart(index: 2, count: 3), reason: "no-product")
    let completed = try await world.order(order.id)
    #expect(completed.state == .completed && !completed.mismatched)
    #expect(completed.transactionId == "9")
    let again = try await world.prove(order, #"{"receipt":"\#(Proofs.receipt())"}"#)
    struct Told: Decodable {
      struct Part: Decodable { let outcome: String, finish: Bool }
      let outcome: String, parts: [Part], finish: Bool
    }
    let told: Told = try again.read()
    #expect(again.status == 200 && told.outcome == "accepted" && told.finish)
    #expect(told.parts.map(\.outcome) == ["already-recorded", "rejected", "accepted"])
    #expect(told.parts.map(\.finish) == [true, false, true])
  }

  @Test(arguments: [1, 2] as [Int64])
  func `a receipt that does not list what was ordered leaves the order to a fresh one`(
    count: Int64
  ) async throws {
    let order = try await world.place("alice", "themes.all")
    let body = #"{"receipt":"\#(try Proofs.receipt())"}"#
    _ = try await world.prove(order, body)
    for index in 1...count {
      try await world.decide(
        part: ProofPart(index: index, count: count), transaction: "\(index)", product: "pro.yearly")
    }
    #expect(try await state(order) == .rejected)
    let answer = try await world.prove(order, body)
    #expect(answer.status == 422 && answer.problem == "not-in-receipt")
    #expect(answer.text.contains(#""finish":false"#))
  }

  @Test func `of several purchases in a receipt the order's is the one that no other order has`()
    async throws
  {
    let body = #"{"receipt":"\#(try Proofs.receipt())"}"#
    let first = try await world.place("alice", "coins.100")
    _ = try await world.prove(first, Proofs.body("10"))
    try await world.decide(transaction: "10")
    let second = try await world.place("alice", "coins.100")
    _ = try await world.prove(second, body)
    for (index, id) in ["9", "10"].enumerated() {
      try await world.decide(
        part: ProofPart(index: Int64(index + 1), count: 2), transaction: id)
    }
    let completed = try await world.order(second.id)
    #expect(completed.transactionId == "9" && !completed.mismatched)
  }

  @Test func `with the token of the account the oldest open order of that product is completed`()
    async throws
  {
    let token = try await accountToken()
    let (other, oldest) = (
      try await world.place("alice", "themes.all"), try await world.place("alice", "coins.100")
    )
    world.clock.advance(by: 1000)
    let newer = try await world.place("alice", "coins.100")
    try await world.see("alice", transaction: "5", token: token, at: world.clock.now())
    #expect(try await world.order(oldest.id).state == .completed)
    #expect(try await world.order(oldest.id).cause == "account-token-seen")
    // The same purchase seen again is no further one.
    try await world.see("alice", transaction: "5", token: token, at: world.clock.now())
    #expect(try await state(newer) == .created)
    #expect(try await state(other) == .created)
  }

  @Test func `neither a renewal nor an old purchase completes an order by the account's token`()
    async throws
  {
    let token = try await accountToken()
    let order = try await world.place("alice", "pro.monthly")
    try await world.see(
      "alice", product: "pro.monthly", token: token, reason: "RENEWAL", at: world.clock.now())
    try await world.see(
      "alice", product: "pro.monthly", token: token, at: OrderWorld.start - 86_400_000)
    try await world.see("alice", product: "pro.monthly", token: "not-known")
    try await world.see("bob", product: "pro.monthly", token: token)
    #expect(try await state(order) == .created)
  }

  @Test func `a posted proof decides for its own order, whatever the account's token says`()
    async throws
  {
    let token = try await accountToken()
    let oldest = try await world.place()
    let posted = try await submit("1")
    try await world.see("alice", token: token)
    try await world.decide(token: token)
    #expect(try await state(oldest) == .created)
    #expect(try await world.order(posted.id).state == .completed)
    #expect(try await world.order(posted.id).mismatched == false)
  }

  private func accountToken() async throws -> String {
    let answer = try await world.send(.put, "/v1/customers/alice/account-token")
    return try answer.read(AccountTokens.Token.self).appAccountToken
  }
}
