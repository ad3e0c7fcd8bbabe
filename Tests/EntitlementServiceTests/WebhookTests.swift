import Cryptography
import Events
import HTTPClient
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import entitlement_service

/// A team's receiver: keeps what it was sent and answers as told.
private final class Receiver: Sendable {
  struct Post: Sendable {
    let headers: [String: String]
    let body: [UInt8]
    var id: String { headers["webhook-id"] ?? "" }
  }

  let server: Server
  private let posts = Mutex<[Post]>([])
  private let answer = Mutex<@Sendable (Post) -> Int>({ _ in 204 })

  init() throws {
    let holder = Holder()
    var router = Router()
    router.on(.post, "/hook", scope: nil) { request in
      guard let receiver = holder.receiver.withLock({ $0 }) else { return .empty(500) }
      let names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
      let post = Post(
        headers: Dictionary(
          names.map { ($0, request.headers[$0] ?? "") }, uniquingKeysWith: { $1 }),
        body: request.body)
      receiver.posts.withLock { $0.append(post) }
      return .empty(receiver.answer.withLock { $0 }(post))
    }
    server = try Server(
      host: "127.0.0.1", port: 0, router: router, log: .silent, metrics: Metrics())
    holder.receiver.withLock { $0 = self }
  }

  private final class Holder: Sendable {
    let receiver = Mutex<Receiver?>(nil)
  }

  var url: String { "http://127.0.0.1:\(server.port)/hook" }
  var all: [Post] { posts.withLock { $0 } }
  func answers(_ body: @escaping @Sendable (Post) -> Int) { answer.withLock { $0 = body } }
}

@Suite("Webhooks") struct WebhookTests {
  /// Runs receiver and sender around a test.
  private func withReceiver(
    _ service: TestService, allowsPrivate: Bool = true,
    _ body: (Receiver) async throws -> Void
  ) async throws {
    let receiver = try Receiver()
    let sender = WebhookSender(
      store: service.store, queue: service.hooks, allowsPrivate: allowsPrivate, log: .silent,
      metrics: service.metrics)
    async let serving: Void = receiver.server.run()
    async let sending: Void = sender.run()
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(receiver))
    } catch {
      result = .failure(error)
    }
    await sender.stop(by: .after(.seconds(5)))
    await receiver.server.stop(by: .after(.seconds(5)))
    _ = try? await serving
    _ = await sending
    try result.get()
  }

  private func add(_ service: TestService, _ url: String, _ more: String = "") async throws
    -> Added
  {
    let answer = try await service.request(
      .post, "/v1/webhooks", #"{"url": "\#(url)"\#(more)}"#, key: "w")
    #expect(answer.status == 201)
    return try EventJSON.decode(Added.self, from: answer.body)
  }

  private struct Added: Decodable {
    let id: String
    let secret: String?
    let isEnabled: Bool
    let disabledReason: String?
    let failingSince: Int64?
  }

  private func endpoint(_ service: TestService, _ id: String) async throws -> Added {
    try EventJSON.decode(
      Added.self, from: try await service.request(.get, "/v1/webhooks/\(id)").body)
  }

  private func until(_ condition: () async throws -> Bool) async throws {
    let deadline = Deadline.after(.seconds(20))
    while try await !condition() {
      try #require(!deadline.hasPassed, "it did not come to pass in time")
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  private func deliveries(_ service: TestService, _ state: String) async throws -> Int {
    try await service.store.readers.read { reader in
      try reader.first("SELECT COUNT(*) FROM webhook_deliveries WHERE state = ?", state) {
        Int($0.int(0))
      } ?? 0
    }
  }

  private func coins(_ id: String, _ customer: String) -> LineageState {
    lineage(id, [transaction(id, "coins.100", "Consumable", on: 0)]) { $0.customer = customer }
  }

  @Test func `a signature is as Standard Webhooks computes it`() {
    // The example of the Standard Webhooks specification's reference libraries.
    let header = WebhookSignature.header(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
      body: Array(#"{"test": 2432232314}"#.utf8),
      secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
    #expect(header == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test(.timeLimit(.minutes(1)))
  func `an event is posted, signed, in the order of its customer`() async throws {
    let service = try TestService()
    try await withReceiver(service) { receiver in
      let added = try await add(service, receiver.url)
      for number in 1...5 { try await service.read(coins("\(number)", "alice")) }
      try await until { receiver.all.count == 5 }
      let expected = try await service.published()
      let bodies = try receiver.all.map { try EventJSON.decode(Body.self, from: $0.body) }
      #expect(bodies.map(\.data.version) == [1, 2, 3, 4, 5])
      #expect(bodies.first?.type == "purser.balance.changed.v1")
      #expect(expected.count == 5)
      for post in receiver.all {
        let stamp = Int64(post.headers["webhook-timestamp"] ?? "") ?? 0
        #expect(
          post.headers["webhook-signature"]
            == WebhookSignature.header(
              id: post.id, timestamp: stamp, body: post.body, secrets: [added.secret ?? ""]))
      }
      try await until { try await deliveries(service, "delivered") == 5 }
    }
  }

  private struct Body: Decodable {
    struct Event: Decodable {
      let version: Int64
      let customer: String
    }
    let type: String
    let data: Event
  }

  @Test(.timeLimit(.minutes(1)))
  func `a refused event is posted again, and nothing of its customer overtakes it`() async throws {
    let service = try TestService()
    try await withReceiver(service) { receiver in
      _ = try await add(service, receiver.url)
      let failures = Atomic<Int>(0)
      receiver.answers { post in
        let body = try? EventJSON.decode(Body.self, from: post.body)
        guard body?.data.customer == "alice", body?.data.version == 1 else { return 200 }
        return failures.wrappingAdd(1, ordering: .relaxed).newValue <= 3 ? 500 : 200
      }
      try await service.read(coins("1", "alice"))
      try await service.read(coins("2", "alice"))
      try await service.read(coins("3", "bob"))
      try await until { try await deliveries(service, "delivered") == 1 }
      #expect(try await deliveries(service, "behind") == 1)
      // Bob does not wait for alice; she waits for her pauses, which this clock brings.
      try await until {
        service.clock.advance(by: 200_000)
        service.hooks.bell.notify(0)
        return try await deliveries(service, "delivered") == 3
      }
      let alice = try receiver.all.map { try EventJSON.decode(Body.self, from: $0.body).data }
        .filter { $0.customer == "alice" }.map(\.version)
      #expect(alice == [1, 1, 1, 1, 2])
      let ids = Set(receiver.all.map(\.id))
      #expect(ids.count == 3, "a repetition has the same id")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `an endpoint that takes nothing for three days is switched off, and says so`() async throws {
    let service = try TestService()
    try await withReceiver(service) { receiver in
      let added = try await add(service, receiver.url)
      receiver.answers { _ in 503 }
      try await service.read(coins("1", "alice"))
      try await until {
        service.clock.advance(by: 3_600_000)
        service.hooks.bell.notify(0)
        return try await !endpoint(service, added.id).isEnabled
      }
      let dead = try await endpoint(service, added.id)
      #expect(dead.disabledReason?.contains("three days") == true)
      #expect(service.clock.now() - day(0) >= WebhookRetry.patience / 2)
      #expect(service.metrics.text().contains("webhook_endpoints_disabled 1"))

      // What comes while it is off is not lined up; switched on, it can be sent again.
      try await service.read(coins("2", "alice"))
      receiver.answers { _ in 200 }
      let on = try await service.request(
        .put, "/v1/webhooks/\(added.id)", #"{"url": "\#(receiver.url)"}"#)
      #expect(on.status == 200)
      let resent = try await service.request(
        .post, "/v1/webhooks/\(added.id)/resend", #"{"from": 0}"#)
      #expect(resent.status == 202)
      try await until {
        service.hooks.bell.notify(0)
        return try await deliveries(service, "delivered") == 2
      }
      #expect(try await endpoint(service, added.id).failingSince == nil)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `sending again what still waits holds nobody back, and keeps the customer's order`()
    async throws
  {
    let service = try TestService()
    try await withReceiver(service) { receiver in
      let added = try await add(service, receiver.url)
      receiver.answers { _ in 500 }
      for id in ["1", "2", "3"] { try await service.read(coins(id, "alice")) }
      try await until { !receiver.all.isEmpty }
      receiver.answers { _ in 204 }
      let resent = try await service.request(
        .post, "/v1/webhooks/\(added.id)/resend", #"{"from": 0}"#)
      #expect(resent.status == 202)
      try await until {
        service.clock.advance(by: 200_000)
        service.hooks.bell.notify(0)
        return try await deliveries(service, "delivered") == 3
      }
      let taken = receiver.all.map(\.id)
      let order = taken.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
      #expect(order.count == 3, "the first is tried again before the next comes: \(taken)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `no address of this machine is posted to unless that is allowed`() async throws {
    let service = try TestService()
    try await withReceiver(service, allowsPrivate: false) { receiver in
      let added = try await add(service, receiver.url.replacing("127.0.0.1", with: "localhost"))
      try await service.read(coins("1", "alice"))
      try await until { try await endpoint(service, added.id).failingSince != nil }
      #expect(receiver.all.isEmpty)
      let log = try await service.request(.get, "/v1/webhooks/\(added.id)/deliveries")
      #expect(String(decoding: log.body, as: UTF8.self).contains("forbiddenAddress"))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a rotated secret signs beside the old one for a day`() async throws {
    let service = try TestService()
    try await withReceiver(service) { receiver in
      let added = try await add(service, receiver.url)
      for _ in 0..<2 {
        let rotated = try await service.request(
          .post, "/v1/webhooks/\(added.id)/secret", key: "r")
        #expect(rotated.status == 200)
      }
      try await service.read(coins("1", "alice"))
      try await until { receiver.all.count == 1 }
      let signature = receiver.all[0].headers["webhook-signature"] ?? ""
      #expect(signature.split(separator: " ").count == 2)
      let stamp = Int64(receiver.all[0].headers["webhook-timestamp"] ?? "") ?? 0
      let old = WebhookSignature.header(
        id: receiver.all[0].id, timestamp: stamp, body: receiver.all[0].body,
        secrets: [added.secret ?? ""])
      #expect(signature.hasSuffix(old))
      service.clock.advance(by: WebhookRoutes.overlap)
      try await service.read(coins("2", "alice"))
      try await until { receiver.all.count == 2 }
      #expect(
        (receiver.all[1].headers["webhook-signature"] ?? "").split(separator: " ").count == 1)
    }
  }

  @Test func `filters choose by type, app and environment; what has none of these passes`() {
    var endpoint = WebhookEndpoint(
      id: "e", url: "https://example.com", types: ["purser.entitlement.activated.v1"],
      bundleIds: ["com.example.app"], environments: ["Production"], description: "",
      isEnabled: true, keys: [], author: "a", createdAt: 0)
    func event(_ type: String, _ bundle: String?, _ environment: String?) -> WebhookEvent {
      WebhookEvent(
        id: "i", type: type, customer: "c", environment: environment, bundleId: bundle, at: 0,
        body: [])
    }
    let type = "purser.entitlement.activated.v1"
    #expect(endpoint.wants(event(type, "com.example.app", "Production")))
    #expect(!endpoint.wants(event(type, "com.example.other", "Production")))
    #expect(!endpoint.wants(event(type, "com.example.app", "Sandbox")))
    #expect(!endpoint.wants(event("purser.balance.changed.v1", "com.example.app", "Production")))
    #expect(endpoint.wants(event(type, nil, nil)))
    endpoint.types = []
    #expect(endpoint.wants(event("purser.balance.changed.v1", nil, nil)))
  }

  @Test func `retries go on for three days with growing pauses and some luck, and end then`() {
    var now: Int64 = 0
    var attempts = 1
    while let next = WebhookRetry(
      attempt: attempts, queuedAt: 0, now: now, asked: nil, luck: 0.5
    ).next {
      #expect(next > now)
      now = next
      attempts += 1
    }
    #expect(attempts > 8 && attempts < 15)
    #expect(now > 2 * 86_400_000 && now <= WebhookRetry.patience)
    let early = WebhookRetry(attempt: 1, queuedAt: 0, now: 0, asked: nil, luck: 0)
    let late = WebhookRetry(attempt: 1, queuedAt: 0, now: 0, asked: nil, luck: 1)
    #expect(early.next == 4000 && late.next == 6000)
    let asked = WebhookRetry(attempt: 1, queuedAt: 0, now: 0, asked: .seconds(120), luck: 0)
    #expect(asked.next == 120_000)
  }

  @Test func `more than the queue holds is left out, said, and can be resent`() async throws {
    let service = try TestService()
    let hooks = WebhookQueue(metrics: service.metrics, limit: 3)
    let recompute = Recompute(rules: service.rules, hooks: hooks, metrics: Metrics())
    let routes = WebhookRoutes(
      store: service.store, queue: hooks, allowsPrivate: true, apps: service.rules.current.apps)
    var router = Router()
    routes.add(to: &router)
    let added = await router.respond(
      to: try Request(
        .post, "/v1/webhooks", headers: [("Idempotency-Key", "w")],
        body: Array(#"{"url": "http://127.0.0.1:9/hook"}"#.utf8)))
    #expect(added.status == 201)
    for number in 0..<5 {
      try await service.store.change { change in
        try recompute.run(
          try CustomerRow.exactly(change.transaction, "c\(number)"), ChangeCause(kind: "grant"),
          [
            .grant(
              Grant(
                id: "g", entitlement: "pro", environment: "Sandbox", startsAt: 0, expiresAt: nil,
                author: "a", reason: "r", createdAt: 0))
          ], change)
      }
    }
    #expect(try await deliveries(service, "pending") == 3)
    #expect(hooks.endpoints.first?.leftOutSince == day(0))
    let kept = try await service.store.readers.read { reader in
      try reader.first("SELECT COUNT(*) FROM webhook_events") { $0.int(0) }
    }
    #expect(kept == 5)
  }
}
