import Events
import HTTPServer
import ServiceRuntime
import Synchronization
import Testing

@testable import order_service

@Suite("Events of an order") struct OrderEventTests {
  /// What a stream wrote so far.
  private final class Client: Sendable {
    private let text = Mutex("")
    private let isGone = Atomic(false)

    var all: String { text.withLock { $0 } }
    var ids: [Int] {
      all.split(separator: "\n").compactMap { line in
        line.hasPrefix("id: ") ? Int(line.dropFirst(4)) : nil
      }
    }
    func leave() { isGone.store(true, ordering: .releasing) }

    func read(_ response: Response) -> Task<Void, Never> {
      Task {
        await response.stream?.run(
          StreamWriter { bytes in
            self.text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            return !self.isGone.load(ordering: .acquiring)
          })
      }
    }

    func has(_ condition: @Sendable (Client) -> Bool) async -> Bool {
      let deadline = Deadline.after(.seconds(10))
      while !condition(self) {
        if deadline.hasPassed { return false }
        try? await Task.sleep(for: .milliseconds(1))
      }
      return true
    }
  }

  private let world: OrderWorld

  init() throws { world = try OrderWorld() }

  private func open(_ order: Order, after: String? = nil) async throws -> OrderWorld.Answer {
    try await world.send(
      .get, "/v1/orders/\(order.id)/events", headers: after.map { [("Last-Event-ID", $0)] } ?? [])
  }

  @Test func `every move arrives as it happens, and a silent stream shows that it lives`()
    async throws
  {
    let order = try await world.place()
    let answer = try await open(order)
    #expect(answer.status == 200)
    #expect(answer.response.header("Content-Type") == "text/event-stream")
    let client = Client()
    let reading = client.read(answer.response)
    #expect(await client.has { $0.ids == [1] })
    _ = try await world.prove(order, Proofs.body("1"))
    #expect(await client.has { $0.ids == [1, 2] })
    try await world.decide(token: order.id)
    #expect(await client.has { $0.ids == [1, 2, 3] })
    #expect(client.all.contains(#""state":"completed""#))
    #expect(await client.has { $0.all.contains(": still here\n\n") })
    client.leave()
    await reading.value
    #expect(world.notices.streams.count == 0)
  }

  @Test func `a client that comes back misses nothing and reads nothing twice`() async throws {
    let order = try await world.place()
    _ = try await world.prove(order, Proofs.body("1"))
    try await world.decide(token: order.id)
    let client = Client()
    let reading = client.read(try await open(order, after: "1").response)
    #expect(await client.has { $0.ids == [2, 3] })
    // An EventSource that has read nothing sends an empty one: it begins at the beginning.
    let fresh = Client()
    let beginning = fresh.read(try await open(order, after: "").response)
    #expect(await fresh.has { $0.ids == [1, 2, 3] })
    world.notices.stopAll()
    await reading.value
    await beginning.value
    let wrong = try await open(order, after: "x")
    #expect(wrong.status == 400 && wrong.problem == "invalid-parameter")
  }

  @Test func `streams of a customer and of a key are counted`() async throws {
    let order = try await world.place()
    let answer = try await world.send(
      .get, "/v1/orders/\(order.id)/events", as: Principal(name: "shop", scopes: [.orders]))
    #expect(
      answer.response.stream?.shares
        == [.init("customer alice", limit: 8), .init("key shop", limit: 256)])
    let unknown = try await world.send(.get, "/v1/orders/1/events")
    #expect(unknown.status == 404)
  }

  @Test func `a stream ends soon after its key was revoked, and tells nothing more`() async throws {
    let order = try await world.place()
    let isRevoked = Mutex(false)
    var router = Router(
      access: AccessPolicy(identify: { _ throws(Problem) in
        if isRevoked.withLock({ $0 }) {
          throw Problem(status: 401, type: "unknown-key", title: "", detail: "")
        }
        return Principal(name: "shop", scopes: [.orders])
      }))
    OrderEvents(store: world.store, notices: world.notices, heartbeat: .milliseconds(10))
      .add(to: &router)
    let answer = await router.respond(
      to: try Request(
        .get, "/v1/orders/\(order.id)/events", headers: [("Authorization", "Bearer k")]))
    let client = Client()
    let reading = client.read(answer)
    #expect(await client.has { $0.ids == [1] && $0.all.contains(": still here") })
    isRevoked.withLock { $0 = true }
    _ = try await world.prove(order, Proofs.body("1"))
    await reading.value
    #expect(client.ids == [1])
  }
}
