import Events
import FoundationEssentials
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import Access

@Suite("The log of writes")
struct AuditTests {
  /// A store behind a router: one route writes, one reads, one fails after it wrote.
  private struct Shop {
    let folder: String
    let store: Store
    let clock = ManualClock(1_800_000_000_000)
    let router: Router

    init() throws {
      let folder = TestFolder.path("audit")
      self.folder = folder
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let store = try Store(
        path: "\(folder)/store.sqlite",
        migrations: [
          Migration(
            version: 1, PipelineTables.version1 + "; CREATE TABLE things (id TEXT PRIMARY KEY)")
        ],
        source: "/purser/test", topics: TopicNames(), clock: clock, log: .silent,
        metrics: Metrics())
      self.store = store
      var router = Router(
        access: AccessPolicy(identify: { text throws(Problem) in
          text == "a.b.c"
            ? Principal(name: "token:ann", scopes: [.orders], customer: "ann")
            : Principal(name: text, scopes: [.admin])
        }))
      router.on(.post, "/things/{customer}/{id}", scope: .orders) { request in
        let (id, customer) = (request.parameter("id"), request.parameter("customer"))
        try await store.change { change in
          let isNew =
            try change.transaction.run(
              "INSERT INTO things (id) VALUES (?) ON CONFLICT DO NOTHING", id) > 0
          if isNew {
            try change.publish(
              .orders, key: customer, type: .orderChanged, subject: id, revision: 1, ["id": id])
          }
          if id == "bad" {
            throw Problem(status: 422, type: "bad", title: "Bad", detail: "")
          }
        }
        return .empty()
      }
      router.on(.post, "/things/{customer}/erasure", scope: .admin) { request in
        let customer = request.parameter("customer")
        try await store.change { change in
          try change.publish(
            .customers, key: customer, type: .customerErased, subject: customer, revision: 1,
            ["id": customer])
          try change.forgetInAudit(customer)
        }
        return .empty()
      }
      router.on(.post, "/quiet/{customer}", scope: .orders) { _ in
        try await store.change { change in
          _ = try change.transaction.run("INSERT INTO things (id) VALUES ('quiet')")
        }
        return .empty()
      }
      router.on(.get, "/things", scope: .orders) { _ in
        let count = try await store.readers.read { reader in
          try reader.first("SELECT COUNT(*) FROM things") { $0.int(0) } ?? 0
        }
        return .text("\(count)")
      }
      AuditRoutes(store).add(to: &router)
      self.router = router
    }

    func ask(_ method: HTTPServer.Method, _ path: String, as key: String) async throws -> Response {
      await router.respond(
        to: try Request(method, path, headers: [("Authorization", "Bearer \(key)")]))
    }

    func entries(_ query: String = "") async throws -> Answer {
      let response = try await ask(.get, "/v1/audit\(query)", as: "boss")
      try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
      return try JSONDecoder().decode(Answer.self, from: Data(response.body))
    }

    func close() async throws {
      await StoreService(store).stop(by: .after(.seconds(5)))
      try FileManager.default.removeItem(atPath: folder)
    }
  }

  private struct Answer: Decodable {
    struct Entry: Decodable, Equatable {
      let id: Int64
      let at: Int64
      let caller: String
      let action: String
      let path: String
      let event: String?
      let subject: String?
      let customer: String?
      let requestId: String
    }

    let entries: [Entry]
    let next: String?
  }

  @Test func `a write is logged with its caller and what came of it`() async throws {
    let shop = try Shop()
    #expect(try await shop.ask(.post, "/things/ann/1", as: "backend").status == 204)
    #expect(try await shop.ask(.post, "/things/ann/2", as: "a.b.c").status == 204)
    let entries = try await shop.entries().entries
    #expect(entries.map(\.caller) == ["token:ann", "backend"])
    #expect(entries.map(\.subject) == ["2", "1"])
    #expect(
      entries.allSatisfy { $0.customer == "ann" && $0.action == "POST /things/{customer}/{id}" })
    #expect(entries.last?.path == "/things/ann/1" && entries.last?.at == 1_800_000_000_000)
    #expect(entries.last?.event == EventType.orderChanged.rawValue)
    #expect(entries.allSatisfy { !$0.requestId.isEmpty })
    try await shop.close()
  }

  @Test func `reads, repetitions, failures and what no request asked for leave no entry`()
    async throws
  {
    let shop = try Shop()
    _ = try await shop.ask(.post, "/things/ann/1", as: "backend")
    _ = try await shop.ask(.post, "/things/ann/1", as: "backend")
    _ = try await shop.ask(.get, "/things", as: "backend")
    #expect(try await shop.ask(.post, "/things/ann/bad", as: "backend").status == 422)
    try await shop.store.change { change in
      _ = try change.transaction.run("INSERT INTO things (id) VALUES ('timer')")
    }
    #expect(try await shop.entries().entries.count == 1)
    try await shop.close()
  }

  @Test func `a write that tells no event is found by its customer too`() async throws {
    let shop = try Shop()
    _ = try await shop.ask(.post, "/quiet/ann", as: "backend")
    #expect(try await shop.entries("?customer=ann").entries.map(\.path) == ["/quiet/ann"])
    try await shop.close()
  }

  @Test func `an erasure takes the customer's id out of the log, and who knows it still finds it`()
    async throws
  {
    let shop = try Shop()
    _ = try await shop.ask(.post, "/things/ann/ann-1", as: "a.b.c")
    _ = try await shop.ask(.post, "/quiet/ann", as: "backend")
    _ = try await shop.ask(.post, "/things/bob/2", as: "backend")
    #expect(try await shop.ask(.post, "/things/ann/erasure", as: "support").status == 204)
    let all = try await shop.ask(.get, "/v1/audit", as: "boss").body
    #expect(!String(decoding: all, as: UTF8.self).contains("ann"))
    let entries = try await shop.entries("?customer=ann").entries
    #expect(entries.map(\.caller) == ["support", "backend", "token:erased"])
    #expect(
      entries.map(\.path)
        == ["/things/{customer}/erasure", "/quiet/{customer}", "/things/{customer}/{id}"])
    #expect(Set(entries.map(\.customer)).count == 1)
    #expect(try await shop.entries("?customer=bob").entries.map(\.subject) == ["2"])
    try await shop.close()
  }

  @Test func `pages hold every entry once, newest first, and filters choose among them`()
    async throws
  {
    let shop = try Shop()
    for number in 0..<25 {
      let (customer, key) = (number.isMultiple(of: 5) ? "bob" : "ann", "key\(number % 2)")
      _ = try await shop.ask(.post, "/things/\(customer)/\(number)", as: key)
      shop.clock.advance(by: 1000)
    }
    var ids: [Int64] = []
    var cursor = ""
    repeat {
      let page = try await shop.entries("?limit=10\(cursor)")
      ids += page.entries.map(\.id)
      cursor = page.next.map { "&cursor=\($0)" } ?? ""
    } while !cursor.isEmpty && ids.count < 100
    #expect(ids == ids.sorted(by: >) && ids.count == 25 && Set(ids).count == 25)
    #expect(
      try await shop.entries("?customer=bob").entries.map(\.subject) == [
        "20", "15", "10", "5", "0",
      ])
    #expect(try await shop.entries("?caller=key1").entries.count == 12)
    let time = "from=2027-01-15T08:00:05Z&until=2027-01-15T08:00:08Z"
    #expect(try await shop.entries("?\(time)").entries.map(\.subject) == ["7", "6", "5"])
    try await shop.close()
  }

  @Test(arguments: [
    "limit=0", "limit=501", "limit=x", "cursor=0", "cursor=x", "from=yesterday", "until=-1",
  ])
  func `a parameter that cannot be used is named`(query: String) async throws {
    let shop = try Shop()
    let response = try await shop.ask(.get, "/v1/audit?\(query)", as: "boss")
    #expect(response.status == 400)
    let name = try #require(query.split(separator: "=").first)
    #expect(String(decoding: response.body, as: UTF8.self).contains("\"parameter\":\"\(name)\""))
    try await shop.close()
  }

  @Test func `old entries go, a few at a time, and new ones stay`() async throws {
    let shop = try Shop()
    for number in 0..<100 { _ = try await shop.ask(.post, "/things/ann/\(number)", as: "old") }
    shop.clock.advance(by: AuditLog.lifetime + 1)
    for number in 100..<300 { _ = try await shop.ask(.post, "/things/ann/\(number)", as: "new") }
    #expect(try await shop.entries("?caller=old").entries.isEmpty)
    #expect(try await shop.entries("?caller=new&limit=500").entries.count == 200)
    try await shop.close()
  }
}
