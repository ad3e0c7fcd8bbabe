import Events
import FoundationEssentials
import HTTPClient
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import Shards

@Suite("Requests for another shard") struct ForwardingTests {
  /// Customers of shard 0 and of shard 1, of two.
  private static let mine = name(of: 0)
  private static let others = name(of: 1)

  private static func name(of shard: Int) -> String {
    let any = Shard(ordinal: 0, count: 2, partitions: 12)
    return (0..<100).map { "customer-\($0)" }.first { any.home(of: $0) == shard } ?? ""
  }

  /// Says who the neighbor is; nobody, without a name.
  private struct Named: Placement {
    let identity: String?

    func identification(_ headers: Headers) -> [(String, String)] {
      identity.map { [(Shards.answerer, $0)] } ?? []
    }
    func isSurelyHere(_ request: Request, _ home: Home) -> Bool { true }
    func respond(to request: Request, _ home: Home, here: @escaping Router.Handler) async throws
      -> Response
    { try await here(request) }
  }

  /// Shard 0 of two, whose neighbor is a server that tells what it was asked.
  private final class World: Sendable {
    let shards: Shards
    let router: Router
    let neighbor: Server
    let running: Task<Void, any Error>
    let seen: Seen
    private let path = TestFolder.path("shards") + ".sqlite"

    init(
      isAway: Bool = false, identity: String? = "/purser/test 1/2",
      answer: @escaping @Sendable (Request) -> Response
    ) throws {
      var routes = Router(placement: Named(identity: identity))
      let seen = Seen()
      for method in [HTTPServer.Method.get, .post] {
        routes.on(method, "/v1/customers/{customer}", scope: nil) { request in
          seen.add(request)
          return answer(request)
        }
      }
      routes.on(.post, "/v1/customers/{customer}/merge", scope: nil) { request in
        seen.add(request)
        return answer(request)
      }
      neighbor = try Server(port: 0, router: routes, log: .silent, metrics: Metrics())
      let (server, port) = (neighbor, neighbor.port)
      self.seen = seen
      running = Task { if !isAway { try await server.run() } }
      let shard = Shard(ordinal: 0, count: 2, partitions: 12)
      let store = try Store(
        path: path, migrations: [Migration(version: 1, PipelineTables.version1)],
        source: "/purser/test", topics: TopicNames(), shard: shard, clock: SystemClock(),
        log: .silent, metrics: Metrics())
      // Where nobody listens, for a neighbor that is away.
      let address = "http://127.0.0.1:\(isAway ? 9 : port)"
      let made = try Shards(
        ShardSettings(shard: shard, peers: ["http://127.0.0.1:9", address]), store, log: .silent,
        metrics: Metrics(), patience: .milliseconds(300))
      shards = try #require(made)
      var router = Router(placement: shards)
      for method in [HTTPServer.Method.get, .post] {
        router.on(method, "/v1/customers/{customer}", scope: nil) { _ in .text("here") }
      }
      router.on(.post, "/v1/customers/{customer}/merge", scope: nil, findsDone: true) { _ in
        .text("here")
      }
      self.router = router
    }

    func ask(
      _ method: HTTPServer.Method, _ customer: String, _ headers: [(String, String)] = []
    ) async throws -> Response {
      await router.respond(
        to: try Request(method, "/v1/customers/\(customer)?a=b%20c", headers: headers))
    }

    func end() async {
      await shards.stop(by: .after(.seconds(2)))
      running.cancel()
      await neighbor.stop(by: .after(.seconds(2)))
    }
  }

  /// What the neighbor was asked.
  final class Seen: Sendable {
    private let requests = Mutex<[Request]>([])
    func add(_ request: Request) { requests.withLock { $0.append(request) } }
    var all: [Request] { requests.withLock { $0 } }
  }

  @Test func `one's own customers are answered here, others by their shard`() async throws {
    let world = try World { _ in .text("there") }
    #expect(try await world.ask(.get, Self.mine).body == Array("here".utf8))
    #expect(try await world.ask(.get, Self.others).body == Array("there".utf8))
    await world.end()
  }

  @Test func `the caller's own credentials go along, and nothing that gives rights`() async throws {
    let world = try World { _ in
      Response(status: 201, headers: [("ETag", "\"7\""), ("Connection", "close")], body: [0x31])
    }
    let answer = try await world.ask(
      .get, Self.others, [("Authorization", "Bearer secret"), ("Prefer", "wait=1")])
    #expect(answer.status == 201 && answer.header("ETag") == "\"7\"" && answer.body == [0x31])
    let seen = try #require(world.seen.all.first)
    #expect(seen.headers["Authorization"] == "Bearer secret")
    #expect(seen.headers["Prefer"] == "wait=1" && seen.headers[Shards.header] == "1")
    #expect(seen.queryValue("a") == "b c" && !seen.id.isEmpty)
    await world.end()
  }

  @Test(arguments: [nil, "/purser/other 1/2", "/purser/test 0/2", "/purser/test 1/3"])
  func `an answer of somebody else is never taken for the shard's`(identity: String?) async throws {
    let world = try World(identity: identity) { _ in Response(status: 404) }
    let answer = try await world.ask(.get, Self.others)
    #expect(answer.status == 503 && answer.header("Retry-After") != nil)
    #expect(String(decoding: answer.body, as: UTF8.self).contains("wrong-shard"))
    #expect(try await world.ask(.get, Self.mine).status == 200)
    await world.end()
  }

  @Test func `who was asked by another shard says who it is, whatever the answer`() async throws {
    let world = try World { _ in .text("there") }
    let expected = "/purser/test 0/2"
    for (customer, header) in [(Self.mine, "1"), (Self.others, "1")] {
      let answer = try await world.ask(.get, customer, [(Shards.header, header)])
      #expect(answer.header(Shards.answerer) == expected)
    }
    #expect(try await world.ask(.get, Self.mine).header(Shards.answerer) == nil)
    #expect(try await world.ask(.get, Self.others).header(Shards.answerer) == nil)
    await world.end()
  }

  @Test func `what was passed on is never passed on again, whoever says so`() async throws {
    let world = try World { _ in .text("there") }
    for value in ["1", "2", "7", "-1", "nonsense"] {
      let answer = try await world.ask(.get, Self.others, [(Shards.header, value)])
      #expect(answer.status == 503 && answer.header("Retry-After") != nil)
    }
    #expect(world.seen.all.isEmpty)
    #expect(try await world.ask(.get, Self.mine, [(Shards.header, "1")]).status == 200)
    await world.end()
  }

  @Test func `a shard that is away is tried for a while, and then the caller hears of it`()
    async throws
  {
    let world = try World(isAway: true) { _ in .text("never") }
    let began = ContinuousClock.now
    let answer = try await world.ask(.get, Self.others)
    #expect(answer.status == 503 && answer.header("Retry-After") != nil)
    #expect(String(decoding: answer.body, as: UTF8.self).contains("shard-away"))
    #expect(ContinuousClock.now - began >= .milliseconds(300))
    #expect(try await world.ask(.get, Self.mine).status == 200)
    await world.end()
  }

  @Test func `a shard that stops is asked again only for what may be done twice`() async throws {
    let before = Seen()
    let world = try World { request in
      before.add(request)
      guard before.all.count < 3 else { return .text("at last") }
      return Problem(status: 503, type: "stopping", title: "Stopping", detail: "").response
    }
    #expect(try await world.ask(.post, Self.others).status == 503)
    #expect(world.seen.all.count == 1)
    let answer = try await world.ask(.post, Self.others, [("Idempotency-Key", "k")])
    #expect(answer.status == 200 && world.seen.all.count == 3)
    await world.end()
  }

  @Test func `a shard that stops is asked again, without a key, for what finds itself done`()
    async throws
  {
    let before = Seen()
    let world = try World { request in
      before.add(request)
      return before.all.count < 3 ? Problem.stopping.response : .text("at last")
    }
    let answer = try await world.ask(.post, "\(Self.others)/merge")
    #expect(answer.status == 200 && world.seen.all.count == 3)
    await world.end()
  }
}
