import Events
import FoundationEssentials
import Glibc
import HTTPClient
import Pipeline
import Processes
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import purser

extension WholeWay {
  /// Any shard answers for all of them.
  @Suite("Shards", .serialized, .timeLimit(.minutes(5)))
  struct ShardTests {
    @Test func `one process becomes three shards, and any of them answers`() async throws {
      let way = try await Way.startEmpty()
      do {
        try await way.begin(.single)
        let past = try await before(way)
        try await way.halt()
        let three = try ShardLayout(count: 3, folder: "three")
        try await way.reshardWhole(to: three)
        try await refusesOthers(way, three)
        try await losesNewVolumes(way)
        try await way.begin(three)
        try await after(way, past)
        try await everywhere(way)
        try await lists(way)
        try await webhooks(way)
        try await waits(way)
        try await streams(way)
        try await merges(way)
        try await isTrue(way)
        try await erases(way, past)
        try await isTrue(way)
        try await rebuilt(way)
        try await hasNoWayBack(way)
      } catch {
        Issue.record("\(error); stores and logs are kept in \(way.plan.folder)")
        _ = await way.stop(keepingFiles: true)
        return
      }
      for complaint in await way.stop() { Issue.record("\(complaint)") }
    }

    private struct Past {
      var orders: [String: String] = [:]
      var balances: [String: Int64] = [:]
      let merged: String
      let into: String
    }

    /// Customers of whom two are merged that will have different shards.
    private func before(_ way: Way) async throws -> Past {
      let into = try #require((0..<50).map { "into-\($0)" }.first { Way.home(of: $0, of: 3) == 1 })
      let merged = try #require(
        (0..<50).map { "merged-\($0)" }.first { Way.home(of: $0, of: 3) == 2 })
      var past = Past(merged: merged, into: into)
      for customer in (0..<6).map({ "old-\($0)" }) + [merged, into] {
        past.orders[customer] = try await buy(way, customer)
        past.balances[customer] = 100
      }
      // What is known of a subscription goes along, and its right ends under the old name.
      _ = try await buy(way, merged, "pro.monthly")
      _ = try await way.quiet()
      let answer = try await way.send(
        "POST", "order-service", "/v1/customers/\(merged)/merge",
        body: Array(#"{"into": "\#(into)", "reason": "signed in"}"#.utf8))
      #expect(answer.status == 200)
      past.balances[into] = 200
      past.balances[merged] = 200
      // One is erased before; a re-shard gives the hash to all.
      _ = try await buy(way, "early")
      _ = try await way.quiet()
      try await erase(way, "early")
      _ = try await way.quiet()
      return past
    }

    private func buy(
      _ way: Way, _ customer: String, _ product: String = "coins.100"
    ) async throws -> String {
      let order = try await way.order(customer, product)
      let bought = try await way.buy(product, token: order.id)
      let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
      #expect(proved.finish)
      return order.id
    }

    private func erase(_ way: Way, _ customer: String) async throws {
      let erased = try await way.send(
        "POST", "order-service", "/v1/customers/\(customer)/erasure",
        body: Array(#"{"reason": "asked for"}"#.utf8))
      #expect(erased.status == 202, "\(String(decoding: erased.body, as: UTF8.self))")
    }

    /// A store is started as the shard that it was made for, and as no other.
    private func refusesOthers(_ way: Way, _ three: ShardLayout) async throws {
      way.layout.withLock { $0 = three }
      for (name, more) in [
        ("order-service-1", ["PURSER_SHARD": "2"]),
        ("order-service-2", ["PURSER_SHARD_COUNT": "1", "PURSER_SHARD": ""]),
      ] {
        try await way.launch(name, with: more)
        let ending = await way.child(name)?.ending.value()
        #expect(ending == .exit(1))
        #expect(way.lastLines(of: name).contains("shard"), "\(way.lastLines(of: name))")
      }
      // Nor is a number of shards taken that nobody has made stores for.
      for service in Way.services {
        let name = "\(service)-1"
        let store = "\(service.split(separator: "-")[0].uppercased())_STORE"
        try await way.launch(
          name,
          with: [
            store: way.plan.file("empty-\(service).sqlite"), "PURSER_SHARD_COUNT": "4",
            "PURSER_PEERS": (1...4).map { "http://127.0.0.1:\($0)" }.joined(separator: ","),
          ])
        let ending = await way.child(name)?.ending.value()
        #expect(ending == .exit(1))
        #expect(way.lastLines(of: name).contains("purser reshard"), "\(way.lastLines(of: name))")
      }
      // Nor are some of the shards taken for all of them.
      let two = try ShardLayout(count: 2, folder: "never")
      #expect(try await way.reshard(to: two, leavingOut: 1) != .exit(0))
      #expect(way.lastLines(of: "reshard").contains("not all shards"))
      // Where the second service cannot have its stores, the first one's are gone too.
      let half = try ShardLayout(count: 2, folder: "half")
      let folder = half.folders(way.plan)[0]
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data().write(to: URL(filePath: "\(folder)/verify.sqlite"))
      #expect(try await way.reshard(to: half) != .exit(0))
      #expect(way.lastLines(of: "reshard").contains("there is a store at"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["verify.sqlite"])
    }

    /// Volumes that are lost before their shards have told anything come back too: all of them, as the newest
    /// number of before stands in the partition of one alone.
    ///
    /// Not order-service's, whose log of writes is looked at later and on no topic.
    private func losesNewVolumes(_ way: Way) async throws {
      for shard in 0..<3 { try await way.loseAndRebuild("entitlement-service-\(shard)") }
    }

    /// What was there is there, whoever is asked.
    private func after(_ way: Way, _ past: Past) async throws {
      for (customer, amount) in past.balances {
        for shard in 0..<3 {
          let held: Held = try await way.ask(
            "GET", "entitlement-service-\(shard)", "/v1/customers/\(customer)/balances",
            as: Held.self)
          #expect(held.amount("coins") == amount, "\(customer) asked of shard \(shard)")
        }
      }
      for (customer, id) in past.orders {
        for shard in 0..<3 {
          let order: Order = try await way.ask(
            "GET", "order-service-\(shard)", "/v1/orders/\(id)", as: Order.self)
          #expect(order.state == .completed)
          #expect(order.customer == (customer == past.merged ? past.into : customer))
        }
      }
    }

    /// A purchase goes its way whichever shard is asked, and a key is used once.
    private func everywhere(_ way: Way) async throws {
      for number in 0..<6 {
        let customer = "new-\(number)"
        _ = try await buy(way, customer)
        let held = try await eventually("\(customer) has coins") { () -> Held? in
          let held = try await way.balances(customer)
          return held.amount("coins") == 100 ? held : nil
        }
        #expect(held.version > 0)
      }
      let first = try await way.order("keyed", "coins.100", idempotencyKey: "once")
      for _ in 0..<4 {
        #expect(
          try await way.order("keyed", "coins.100", idempotencyKey: "once").id == first.id)
      }
    }

    /// Lists of all shards are one list, in pages.
    private func lists(_ way: Way) async throws {
      struct Page: Decodable {
        let orders: [Order]
        let next: String?
      }
      var orders: [Order] = []
      var path = "/v1/orders?limit=5"
      while true {
        let page = try await way.ask("GET", "order-service", path, as: Page.self)
        #expect(page.orders.count <= 5)
        orders += page.orders
        guard let next = page.next, orders.count < 100 else { break }
        path = "/v1/orders?limit=5&cursor=\(next)"
      }
      let known = try await way.quiet().orders
      #expect(orders.map(\.id).count == known.count && Set(orders.map(\.id)) == Set(known.keys))
      let times = orders.map { ($0.createdAt, $0.id) }
      #expect(times.map(\.0) == times.sorted { $0 > $1 }.map(\.0))
      struct Audit: Decodable {
        struct Entry: Decodable { let at: Int64 }
        let entries: [Entry]
      }
      let audit = try await way.ask("GET", "order-service", "/v1/audit?limit=500", as: Audit.self)
      #expect(audit.entries.count >= known.count)
      #expect(audit.entries.map(\.at) == audit.entries.map(\.at).sorted(by: >))
    }

    /// An endpoint that fails on the shard of one customer is told so by all.
    private func webhooks(_ way: Way) async throws {
      struct Endpoint: Decodable, Equatable {
        let id: String
        let failingSince: Int64?
      }
      let made = try await way.send(
        "POST", "entitlement-service-2", "/v1/webhooks",
        body: Array(#"{"url": "https://hooks.invalid/purser"}"#.utf8),
        headers: [("Idempotency-Key", "hook")])
      #expect(made.status == 201, "\(String(decoding: made.body, as: UTF8.self))")
      let id = try JSONDecoder().decode(Endpoint.self, from: Data(made.body)).id
      _ = try await buy(way, "hooked")
      for shard in 0..<3 {
        _ = try await eventually("shard \(shard) says that the endpoint fails") { () -> Bool? in
          let one = try await way.ask(
            "GET", "entitlement-service-\(shard)", "/v1/webhooks/\(id)", as: Endpoint.self)
          return one.failingSince == nil ? nil : true
        }
      }
      let gone = try await way.send("DELETE", "entitlement-service-0", "/v1/webhooks/\(id)")
      #expect(gone.status == 204)
    }

    /// A request that waits is woken on the shard where it waits.
    private func waits(_ way: Way) async throws {
      let customer = "waiter"
      let shard = (Way.home(of: customer, of: 3) + 1) % 3
      let path = "/v1/customers/\(customer)/entitlements"
      let first = try await way.send("GET", "entitlement-service-\(shard)", path)
      let tag = try #require(first.header("ETag"))
      let same = try await way.send(
        "GET", "entitlement-service-\(shard)", path, headers: [("If-None-Match", tag)])
      #expect(same.status == 304)
      let began = ContinuousClock.now
      async let changed = way.send(
        "GET", "entitlement-service-\(shard)", path,
        headers: [("If-None-Match", tag), ("Prefer", "wait=20")])
      let order = try await way.order(customer, "themes.all")
      let bought = try await way.buy("themes.all", token: order.id)
      _ = try await way.prove(order.id, try #require(bought.signedTransaction))
      #expect(try await changed.status == 200)
      #expect(ContinuousClock.now - began < .seconds(15))
    }

    /// The moves of an order arrive as they happen, through another shard.
    private func streams(_ way: Way) async throws {
      let order = try await way.order("listener", "coins.100")
      let shard = (Way.home(of: "listener", of: 3) + 1) % 3
      let open = try await way.http.open(
        HTTPRequest(
          url: way.address(of: "order-service-\(shard)") + "/v1/orders/\(order.id)/events",
          headers: [("Authorization", "Bearer \(way.plan.apiKey)")], timeout: .seconds(60)))
      #expect(open.head.status == 200)
      #expect(open.head.header("Content-Type") == "text/event-stream")
      let text = Completion<Void>()
      let pieces = Pieces()
      let reading = Task {
        await open.read { bytes in
          if pieces.add(bytes).contains("completed") { text.complete(with: ()) }
          return text.current == nil
        }
        text.complete(with: ())
      }
      let bought = try await way.buy("coins.100", token: order.id)
      _ = try await way.prove(order.id, try #require(bought.signedTransaction))
      await text.value()
      await reading.value
      #expect(pieces.text.contains("event: order") && pieces.text.contains("completed"))
    }

    /// Two customers of one shard become one; of two they do not, in words.
    private func merges(_ way: Way) async throws {
      func merge(_ one: String, _ other: String) async throws -> HTTPResponse {
        try await way.send(
          "POST", "order-service", "/v1/customers/\(one)/merge",
          body: Array(#"{"into": "\#(other)", "reason": "the same"}"#.utf8))
      }
      let home = Way.home(of: "new-0", of: 3)
      let near = try #require(
        (0..<50).map { "near-\($0)" }.first { Way.home(of: $0, of: 3) == home })
      let far = try #require((0..<50).map { "far-\($0)" }.first { Way.home(of: $0, of: 3) != home })
      let refused = try await merge(far, "new-0")
      #expect(refused.status == 409)
      #expect(String(decoding: refused.body, as: UTF8.self).contains("merge-across-shards"))
      #expect(try await merge(near, "new-0").status == 200)
      _ = try await way.quiet()
      #expect(try await way.balances(near).amount("coins") == 100)
    }

    /// A customer is erased, and another shard's customer claims what was bought; so is one who was merged
    /// before a re-shard parted the two.
    private func erases(_ way: Way, _ past: Past) async throws {
      let gone = "new-1"
      let order = try await way.order(gone, "coins.100")
      let bought = try await way.buy("coins.100", token: order.id)
      let signed = try #require(bought.signedTransaction)
      #expect(try await way.prove(order.id, signed).finish)
      _ = try await way.quiet()
      for customer in [gone, past.into] { try await erase(way, customer) }
      _ = try await way.quiet()
      let heir = try #require(
        (0..<50).map { "heir-\($0)" }.first {
          Way.home(of: $0, of: 3) != Way.home(of: gone, of: 3)
        })
      let claim = try await way.order(heir, "coins.100")
      _ = try await way.prove(claim.id, signed)
      _ = try await way.quiet()
    }

    /// `purser replay` finds each shard's stores to be what the topics say, and no other rights by the same
    /// rules.
    private func isTrue(_ way: Way) async throws {
      _ = try await way.quiet()
      for shard in 0..<3 {
        var environment: [String: String] = [:]
        for service in Way.services {
          let program = try way.program("\(service)-\(shard)")
          environment.merge(program.environment) { $1 }
        }
        let purser = "\(way.plan.places.executables)/purser"
        for question in ["true", "what-if"] {
          let answer = try await Script.run(
            purser, ["replay", question], environment: environment)
          #expect(answer.code == 0, "shard \(shard): \(answer.output)")
          guard question == "what-if" else { continue }
          #expect(
            answer.output.contains("purser: 0 rights and balances differ"),
            "shard \(shard): \(answer.output)")
        }
      }
    }

    /// Once the new shards have told something, the volumes of before are refused.
    private func hasNoWayBack(_ way: Way) async throws {
      try await way.halt()
      way.layout.withLock { $0 = .single }
      for service in Way.services {
        try await way.launch(service)
        let ending = await way.child(service)?.ending.value()
        #expect(ending == .exit(1))
        #expect(way.lastLines(of: service).contains("from before a re-shard"))
        way.forget(service)
      }
    }

    /// A lost volume of a shard comes back the same, with what a re-shard has parted.
    private func rebuilt(_ way: Way) async throws {
      _ = try await way.quiet()
      for service in Way.services {
        for shard in 1...2 {
          let name = "\(service)-\(shard)"
          try await way.end(name, by: SIGTERM)
          try await way.loseAndRebuild(name)
          try await way.launch(name)
          try await way.ready(name)
        }
      }
    }
  }
}

/// What a stream has brought so far.
final class Pieces: Sendable {
  private let bytes = Mutex<[UInt8]>([])

  func add(_ more: [UInt8]) -> String {
    bytes.withLock { $0 += more }
    return text
  }

  var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
}
