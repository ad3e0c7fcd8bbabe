import FoundationEssentials
import PurserClient
import Synchronization
import Testing

@Suite("The client of an app") struct PurserClientTests {
  private static let path = "/v1/orders/0f0e0d0c-0b0a-4908-8706-050403020100"
  private static let accepted = FakeNetwork.Answer.status(
    200, #"{"outcome":"accepted","finish":true}"#)

  @Test func `a purchase is ordered, paid with the order's id, proved and finished`() async throws {
    let world = FakeWorld(.purchased(FakeWorld.transaction))
    world.network.on("/proofs", Self.accepted)
    guard case .completed = try await world.purser.buy("pro") else {
      Issue.record("not completed")
      return
    }
    #expect(await world.store.tokens == ["0f0e0d0c-0b0a-4908-8706-050403020100"])
    #expect(await world.store.finished == ["7"])
    #expect(world.network.seen.prefix(2) == ["POST /v1/orders", "POST \(Self.path)/proofs"])
    let requests = world.network.requests
    #expect(requests[0].headers["Idempotency-Key"] != nil)
    #expect(requests[1].headers["Prefer"] == "wait=20")
    #expect(requests.allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
  }

  @Test func `a lost answer to an order is asked for again with the same key`() async throws {
    let world = FakeWorld(.cancelled)
    world.network.on(
      "/v1/orders", .lost, .status(503, "{}"), .status(201, FakeWorld.order))
    _ = try await world.purser.buy("pro")
    let keys = world.network.requests.prefix(3).map { $0.headers["Idempotency-Key"] }
    #expect(Set(keys).count == 1 && keys[0] != nil)
    // After the 503 as long as it said.
    #expect(world.pauses.seconds == [0.5, 3])
  }

  @Test func `without a network nothing is bought, and the fault is temporary`() async throws {
    let world = FakeWorld(.purchased(FakeWorld.transaction))
    world.network.on("/v1/orders", .lost)
    let error = await #expect(throws: PurserError.self) { _ = try await world.purser.buy("pro") }
    #expect(error?.isTemporary == true)
    #expect(await world.store.tokens == [])
    #expect(world.network.seen.count == 4)
  }

  @Test func `nothing is thrown after the customer has paid, and nothing is finished unproved`()
    async throws
  {
    for answer in [
      FakeNetwork.Answer.lost, .status(202, #"{"outcome":null,"finish":false}"#),
      .status(422, #"{"type":"urn:purser:problem:proof-rejected","finish":false}"#),
    ] {
      let world = FakeWorld(.purchased(FakeWorld.transaction))
      world.network.on("/proofs", answer)
      guard case .submitted = try await world.purser.buy("pro") else {
        Issue.record("not submitted after \(answer)")
        return
      }
      #expect(await world.store.finished == [])
    }
  }

  @Test func `what the customer gave up or must wait for is told to the order`() async throws {
    for (next, path) in [(StorePurchase.cancelled, "cancel"), (.pending, "pending")] {
      let world = FakeWorld(next)
      _ = try await world.purser.buy("pro")
      #expect(world.network.seen.last == "POST \(Self.path)/\(path)")
    }
  }

  @Test func `a purchase of another customer of the Apple account is finished and told`()
    async throws
  {
    let world = FakeWorld(open: [FakeWorld.transaction])
    world.network.on(
      "/proofs",
      .status(
        409, #"{"type":"urn:purser:problem:belongs-to-another","finish":true,"detail":"why"}"#))
    let settlements = await world.purser.start()
    guard case .belongsToAnother(let refusal)? = settlements.first else {
      Issue.record("\(settlements)")
      return
    }
    #expect(refusal.detail == "why")
    #expect(await world.store.finished == ["7"])
  }

  @Test(arguments: [nil, "0f0e0d0c-0b0a-4908-8706-050403020100"])
  func `a transaction that names no order of ours is restored`(token: String?) async throws {
    let transaction = StoreTransaction(
      id: "9", productId: "pro", signed: "a.b.c", appAccountToken: token)
    let world = FakeWorld(open: [transaction])
    world.network.on(
      "/proofs", .status(404, #"{"type":"urn:purser:problem:unknown-order","status":404}"#))
    world.network.on(
      "/v1/restores",
      .status(
        200,
        """
        {"id":"r","decided":true,"items":[{"place":"signedTransactions[0]",
         "outcome":"already-recorded","finish":true,"transactionId":"9"}]}
        """))
    #expect(await world.purser.start() == [.recorded])
    #expect(await world.store.finished == ["9"])
  }

  @Test func `one transaction is posted once, whoever finds it at the same time`() async throws {
    let world = FakeWorld(open: [FakeWorld.transaction])
    world.network.on("/proofs", .status(200, #"{"outcome":"already-recorded","finish":true}"#))
    await withTaskGroup(of: Settlement.self) { group in
      for _ in 0..<8 { group.addTask { await world.purser.settle(FakeWorld.transaction) } }
      for await settlement in group { #expect(settlement == .recorded) }
    }
    let posts = world.network.seen.count { $0.hasSuffix("/proofs") }
    #expect(posts >= 1 && posts < 8)
  }

  @Test func `without a network the last answer is shown, and rights end by themselves`()
    async throws
  {
    let clock = Clock()
    let world = FakeWorld(now: { clock.now })
    world.network.on(
      "/entitlements",
      .status(
        200,
        """
        {"customer":"alice","version":3,"entitlements":[
          {"name":"pro","environment":"Production","isActive":true,"expiresAt":1000,
           "willRenew":false},
          {"name":"season","environment":"Production","isActive":true,"expiresAt":1000,
           "willRenew":true},
          {"name":"themes","environment":"Production","isActive":true},
          {"name":"gone","environment":"Production","isActive":false}]}
        """), .lost)
    #expect(try await world.purser.entitlements().askedAt == 0)
    for (time, names) in [
      (Int64(999), ["pro", "season", "themes"]), (1000, ["season", "themes"]),
      (1000 + PurserEntitlements.leniency, ["themes"]),
    ] {
      clock.now = time
      var found: [String] = []
      for name in ["pro", "season", "themes", "gone"] where await world.purser.has(name) {
        found.append(name)
      }
      #expect(found == names, "at \(time)")
    }
    #expect(try await world.purser.entitlements().askedAt == nil)
  }

  @Test func `a list that has not changed is not sent again`() async throws {
    let world = FakeWorld()
    world.network.on(
      "/v1/products", .status(200, #"{"bundleId":"b","products":[{"id":"pro","type":"t"}]}"#),
      .status(304, ""), .lost)
    for _ in 1...3 { #expect(try await world.purser.products().map(\.id) == ["pro"]) }
    #expect(world.network.requests[1].headers["If-None-Match"] == "\"1\"")
    // A refusal is not covered up with the copy.
    world.network.on(
      "/v1/products", .status(401, #"{"type":"urn:purser:problem:unknown-key","status":401}"#))
    await #expect(throws: PurserError.self) { _ = try await world.purser.products() }
  }

  @Test func `the app says its version, and each view of the catalog is kept for itself`()
    async throws
  {
    let world = FakeWorld(bundleId: "com.example.app", appVersion: "2.4")
    world.network.on("/v1/products", .status(200, #"{"products":[]}"#))
    world.network.on("placement=a%20b", .status(200, Self.offerings("welcome")), .lost)
    world.network.on(
      "/v1/offerings?bundleId=com.example.app&appVersion=2.4",
      .status(200, Self.offerings("main")), .status(304, ""))
    _ = try await world.purser.products()
    #expect(
      world.network.seen.last == "GET /v1/products?bundleId=com.example.app&appVersion=2.4")
    let main = try await world.purser.offerings()
    #expect(main.offering?.id == "main")
    #expect(main.offering?.packages.map(\.product.id) == ["pro"])
    let welcome = try await world.purser.offerings(placement: "a b")
    #expect(welcome.offering?.id == "welcome")
    #expect(world.network.requests.last?.headers["If-None-Match"] == nil)
    #expect(world.network.seen.last?.hasSuffix("appVersion=2.4&placement=a%20b") == true)
    // Not changed, and without a network: the same again, each its own.
    #expect(try await world.purser.offerings() == main)
    #expect(world.network.requests.last?.headers["If-None-Match"] == "\"1\"")
    #expect(try await world.purser.offerings(placement: "a b") == welcome)
    _ = try await world.purser.buy("pro")
    let order = world.network.requests.first { $0.url.hasSuffix("/v1/orders") }?.body
    #expect(
      String(decoding: order ?? Data(), as: UTF8.self).contains(#""appVersion":"2.4""#))
  }

  private static func offerings(_ current: String) -> String {
    """
    {"bundleId":"b","current":"\(current)","offerings":[{"id":"\(current)","placements":[],
     "metadata":{},"packages":[{"id":"monthly","product":{"id":"pro","type":"t"}}]}]}
    """
  }

  @Test func `a restore of many goes in parts, and its answers are one`() async throws {
    let open = (100..<300).map { number in
      StoreTransaction(
        id: "\(number)", productId: "coins",
        signed: String(repeating: "x", count: number < 110 ? 60_000 : 5000), appAccountToken: nil)
    }
    let world = FakeWorld(open: open)
    world.network.answersRestores()
    let result = try #require(try await world.purser.restore())
    let bodies = world.network.requests.filter { $0.url.hasSuffix("/v1/restores") }
      .compactMap(\.body)
    #expect(bodies.allSatisfy { $0.count <= 512 * 1024 })
    #expect(result.decided && result.ids.count == bodies.count && bodies.count > 2)
    #expect(result.items.map(\.place) == (0..<200).map { "signedTransactions[\($0)]" })
    #expect(await world.store.finished.count == 200)
  }

  @Test func `what a restore brought before the network failed is finished`() async throws {
    let open = (100..<200).map { number in
      StoreTransaction(id: "\(number)", productId: "coins", signed: "a", appAccountToken: nil)
    }
    let world = FakeWorld(open: open)
    world.network.answersRestores(times: 1)
    await #expect(throws: PurserError.self) { _ = try await world.purser.restore() }
    #expect(await world.store.finished.count == 80)
  }

  @MainActor @Test func `the model shows what a view needs`() async throws {
    let world = FakeWorld(.purchased(FakeWorld.transaction))
    world.network.on("/proofs", Self.accepted)
    world.network.on(
      "/v1/products", .status(200, #"{"products":[{"id":"pro","type":"t"}]}"#))
    world.network.on(
      "/entitlements", .status(200, #"{"customer":"alice","version":1,"entitlements":[]}"#),
      .status(
        200,
        """
        {"customer":"alice","version":2,
         "entitlements":[{"name":"pro","environment":"Production","isActive":true}]}
        """))
    let model = PurserModel(world.purser)
    await model.start()
    #expect(model.products.map(\.id) == ["pro"] && model.fault == nil)
    #expect(!model.has("pro", at: 0))
    world.network.on("/v1/offerings", .status(200, Self.offerings("main")))
    await model.readOffering(placement: "home")
    #expect(model.offering?.id == "main")
    _ = await model.buy("pro")
    #expect(model.buying == nil)
    await model.refresh()
    #expect(model.has("pro", at: 0))
    world.network.on("/v1/orders", .lost)
    #expect(await model.buy("pro") == nil)
    #expect(model.fault?.isTemporary == true)
  }
}

/// A time that a test sets.
private final class Clock: Sendable {
  private let time = Atomic<Int64>(0)
  var now: Int64 {
    get { time.load(ordering: .relaxed) }
    set { time.store(newValue, ordering: .relaxed) }
  }
}
