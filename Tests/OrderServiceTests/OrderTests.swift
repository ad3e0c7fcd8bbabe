import Events
import HTTPServer
import Pipeline
import ServiceRuntime
import SQLite
import Testing

@testable import order_service

@Suite("Orders") struct OrderTests {
  private struct List: Decodable { let orders: [Order], next: String? }
  private struct Moves: Decodable { let moves: [OrderMove] }

  private let world: OrderWorld

  init() throws { world = try OrderWorld() }

  private func list(_ query: String) async throws -> List {
    let answer = try await world.send(.get, "/v1/orders?\(query)")
    try #require(answer.status == 200, "\(answer.text)")
    return try answer.read()
  }

  private func moves(_ order: Order) async throws -> [OrderMove] {
    try await world.send(.get, "/v1/orders/\(order.id)/moves").read(Moves.self).moves
  }

  @Test func `every move is kept with its time and cause`() async throws {
    let order = try await world.place()
    world.clock.advance(by: 10)
    _ = try await world.send(.post, "/v1/orders/\(order.id)/pending")
    world.clock.advance(by: 10)
    _ = try await world.prove(order, Proofs.body("1"))
    try await world.decide(.rejected, reason: "bad-signature")
    _ = try await world.prove(order, Proofs.body("2"))
    world.clock.advance(by: 10)
    try await world.decide(token: order.id)
    let found = try await moves(order)
    #expect(
      found.map(\.state.rawValue)
        == ["created", "pending", "submitted", "rejected", "submitted", "completed"])
    #expect(
      found.map(\.cause) == [
        "placed", "waits-for-approval", "proof-posted", "proof-outcome", "proof-posted",
        "proof-outcome",
      ])
    #expect(found.map { $0.movedAt - OrderWorld.start } == [0, 10, 20, 20, 20, 30])
    #expect(found.map(\.revision) == [1, 2, 3, 4, 5, 6])
    #expect(found[3].rejection == "bad-signature" && found[5].transactionId == "1")
    // What is kept is what was published.
    let published: [Order] = try await world.published(.orderChanged)
    #expect(published.map(\.state) == found.map(\.state))
  }

  @Test func `a cancelled order stays so, and a payment that came after all completes it`()
    async throws
  {
    let order = try await world.place()
    for _ in 1...2 {
      let answer = try await world.send(.post, "/v1/orders/\(order.id)/cancel")
      #expect(try answer.read(Order.self).state == .cancelled)
    }
    #expect(try await moves(order).count == 2)
    try await world.see("alice", token: order.id)
    #expect(try await world.order(order.id).state == .completed)
    for wish in ["cancel", "pending"] {
      let answer = try await world.send(.post, "/v1/orders/\(order.id)/\(wish)")
      #expect(answer.status == 409 && answer.problem == "order-completed")
    }
  }

  @Test func `an order that waits for a parent has its whole lifetime again`() async throws {
    let order = try await world.place()
    world.clock.advance(by: 3_600_000)
    let answer = try await world.send(.post, "/v1/orders/\(order.id)/pending")
    let pending: Order = try answer.read()
    #expect(pending.state == .pending && pending.expiresAt == order.expiresAt + 3_600_000)
    #expect(try await world.send(.post, "/v1/orders/\(order.id)/pending").read() == pending)
  }

  @Test func `an order whose proof waits does not expire, however late its outcome comes`()
    async throws
  {
    let order = try await world.place()
    _ = try await world.prove(order, Proofs.body("1"))
    let end = try await world.order(order.id).expiresAt
    world.clock.set(end + 1)
    let due = try await world.store.readers.read { [expiry = world.expiry] in
      try expiry.nextDue($0)
    }
    #expect(due == nil)
    #expect(try await expire(by: end + 1) == 0)
    #expect(try await world.order(order.id).state == .submitted)
    // Refused, it is as open as before, and its time is over.
    try await world.decide(.rejected, reason: "expired-chain")
    #expect(try await expire(by: end + 1) == 1)
    #expect(try await world.order(order.id).state == .expired)
  }

  private func expire(by time: Int64) async throws -> Int {
    try await world.store.change { [expiry = world.expiry] change in
      try expiry.fire(change, dueBy: time, limit: 10)
    }
  }

  @Test(arguments: ["created", "rejected", "pending"])
  func `an open order expires by the clock, and a late payment still completes it`(state: String)
    async throws
  {
    let order = try await world.place()
    if state == "pending" { _ = try await world.send(.post, "/v1/orders/\(order.id)/pending") }
    if state == "rejected" {
      _ = try await world.prove(order, Proofs.body("1"))
      try await world.decide(.rejected, reason: "expired-chain")
    }
    #expect(try await world.order(order.id).state.rawValue == state)
    let due = try await world.store.readers.read { [expiry = world.expiry] in
      try expiry.nextDue($0)
    }
    let end = try await world.order(order.id).expiresAt
    #expect(due == end)
    world.clock.set(end)
    #expect(try await expire(by: end) == 1)
    #expect(try await world.order(order.id).state == .expired)
    _ = try await world.prove(order, Proofs.body("2"))
    try await world.decide(token: order.id)
    #expect(try await world.order(order.id).state == .completed)
  }

  @Test func `orders are listed by customer, state and time, page by page`() async throws {
    var placed: [Order] = []
    for number in 0..<7 {
      // Two at one time, so that a page may end between them.
      if number % 2 == 0 { world.clock.advance(by: 1000) }
      placed.append(try await world.place(number == 3 ? "bob" : "alice"))
    }
    _ = try await world.send(.post, "/v1/orders/\(placed[0].id)/cancel")
    var pages: [[Order]] = []
    var cursor = ""
    repeat {
      let page = try await list("customer=alice&limit=2\(cursor)")
      pages.append(page.orders)
      cursor = page.next.map { "&cursor=\($0)" } ?? ""
    } while !cursor.isEmpty
    let alices = placed.filter { $0.customer == "alice" }.sorted {
      ($0.createdAt, $0.id) > ($1.createdAt, $1.id)
    }
    #expect(pages.map(\.count) == [2, 2, 2])
    #expect(pages.joined().map(\.id) == alices.map(\.id))
    #expect(try await list("state=cancelled").orders.map(\.id) == [placed[0].id])
    #expect(try await list("customer=bob&state=created").orders.map(\.id) == [placed[3].id])
    let time = placed[2].createdAt
    #expect(
      Set(try await list("from=\(time)&to=\(time + 1)").orders.map(\.id))
        == [placed[2].id, placed[3].id])
    #expect(try await list("customer=nobody").orders.isEmpty)
  }

  @Test func `times of a list are asked for as answers have them, or as people write them`()
    async throws
  {
    let order = try await world.place()
    for time in ["\(order.createdAt)", rfc3339(order.createdAt)] {
      #expect(try await list("from=\(time)").orders.map(\.id) == [order.id])
      #expect(try await list("to=\(time)").orders.isEmpty)
    }
  }

  @Test func `a read that waited says so, and one that had no reason to wait does not`()
    async throws
  {
    let order = try await world.place()
    func read(_ tag: String) async throws -> OrderWorld.Answer {
      try await world.send(
        .get, "/v1/orders/\(order.id)",
        headers: [("If-None-Match", "\"\(tag)\""), ("Prefer", "wait=1")])
    }
    let waited = try await read("1")
    #expect(waited.status == 304 && waited.response.header("Preference-Applied") == "wait=1")
    let newer = try await read("0")
    #expect(newer.status == 200 && newer.response.header("Preference-Applied") == nil)
  }

  @Test func `an order is opened only for what that version of the app may sell`() async throws {
    let world = try OrderWorld(
      catalog: """
        {"products": {
          "old": {"kind": "consumable", "displayPrice": "1", "appVersions": {"to": "1.9"}},
          "new": {"kind": "consumable", "displayPrice": "1", "appVersions": {"from": "2.0"}},
          "all": {"kind": "consumable", "displayPrice": "1"}}}
        """)
    for (version, sold) in [
      ("1.9", ["old", "all"]), ("2.0.1", ["new", "all"]), (nil, ["all"]),
    ] as [(String?, [String])] {
      for product in ["old", "new", "all"] {
        let member = version.map { #","appVersion":"\#($0)""# } ?? ""
        let answer = try await world.send(
          .post, "/v1/orders", #"{"customer":"a","productId":"\#(product)"\#(member)}"#)
        #expect(
          answer.status == (sold.contains(product) ? 201 : 422), "\(version ?? "") \(product)")
        if answer.status == 422 { #expect(answer.problem == "not-for-sale") }
      }
    }
    // Whoever repeats a request has its order, whatever is sold meanwhile.
    var opened: Set<String> = []
    for version in ["2.0", "1.0"] {
      let answer = try await world.send(
        .post, "/v1/orders", #"{"customer":"a","productId":"new","appVersion":"\#(version)"}"#,
        headers: [("Idempotency-Key", "k")])
      opened.insert(try answer.read(Order.self).id)
    }
    #expect(opened.count == 1)
    let odd = try await world.send(
      .post, "/v1/orders", #"{"customer":"a","productId":"all","appVersion":"two"}"#)
    #expect(odd.status == 400 && odd.problem == "invalid-field")
  }

  @Test func `an order has one form, alone and in a list`() throws {
    var order = Order(
      id: "o", revision: 3, customer: "a \"b\"", bundleId: "com.example", productId: "p",
      quantity: 2, state: .completed, mismatched: true, createdAt: 1, updatedAt: 2, expiresAt: 3,
      transactionId: "77", lineage: "l", rejection: "r/s", cause: "placed")
    #expect(OrderAnswer(order).response().body == Response.json(OrderAnswer(order)).body)
    order.transactionId = nil
    order.rejection = nil
    #expect(OrderAnswer(order).response().body == Response.json(OrderAnswer(order)).body)
  }

  @Test(arguments: ["limit=0", "limit=201", "limit=x", "from=-1", "to=soon", "cursor=abc"])
  func `a parameter that cannot be is named`(query: String) async throws {
    let answer = try await world.send(.get, "/v1/orders?\(query)")
    #expect(answer.status == 400 && answer.problem == "invalid-parameter")
  }

  @Test func `a customer's own token reaches only what is the customer's`() async throws {
    let alice = Principal(name: "alice", scopes: [.orders], customer: "alice")
    let (own, others) = (try await world.place("alice"), try await world.place("bob"))
    let read = try await world.send(.get, "/v1/orders/\(own.id)", as: alice)
    #expect(read.status == 200)
    for (method, path) in [
      (Method.get, ""), (.get, "/moves"), (.post, "/cancel"), (.post, "/pending"),
    ] {
      let answer = try await world.send(method, "/v1/orders/\(others.id)\(path)", as: alice)
      #expect(answer.status == 404 && answer.problem == "unknown-order", "\(path)")
    }
    let proof = try await world.send(
      .post, "/v1/orders/\(others.id)/proofs", Proofs.body("1"), as: alice)
    #expect(proof.status == 404)
    let place = try await world.send(
      .post, "/v1/orders", #"{"customer":"bob","productId":"coins.100"}"#, as: alice)
    #expect(place.status == 403 && place.problem == "other-customer")
    let restore = try await world.send(
      .post, "/v1/restores", #"{"customer":"bob","receipt":"77"}"#, as: alice)
    #expect(restore.status == 403)
    let listed: List = try await world.send(.get, "/v1/orders", as: alice).read()
    #expect(listed.orders.map(\.id) == [own.id])
    #expect(try await world.send(.get, "/v1/orders?customer=bob", as: alice).status == 403)
  }
}
