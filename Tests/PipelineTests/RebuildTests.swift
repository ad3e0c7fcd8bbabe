import Events
import FoundationEssentials
import Glibc
import HTTPClient
import Kafka
import Processes
import SQLite
import ServiceRuntime
import Testing

@testable import purser

extension WholeWay {
  /// A lost store comes back from the topics: the same, and nothing is told or decided twice.
  @Suite("Rebuild", .serialized, .timeLimit(.minutes(10)), WayTrait(keepsLaws: false))
  struct RebuildTests {
    private var way: Way { get throws { try WholeWay.way } }

    private func write(_ method: String, _ path: String, _ body: String, key: String)
      async throws -> Int
    {
      try await way.send(
        method, "entitlement-service", path, body: Array(body.utf8),
        headers: [("Idempotency-Key", key)]
      ).status
    }

    private func buy(_ customer: String, _ product: String, quantity: Int? = nil) async throws
      -> Bought
    {
      let way = try way
      let order = try await way.order(customer, product, quantity: quantity)
      let bought = try await way.buy(product, token: order.id, quantity: quantity)
      let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
      #expect(proved.finish)
      return bought
    }

    /// Customers with everything that a store may hold.
    private func live(_ name: String) async throws {
      let way = try way
      _ = try await buy("\(name)-a", "coins.100", quantity: 3)
      let refunded = try await buy("\(name)-a", "coins.100")
      let bought = try await buy("\(name)-b", "pro.monthly")
      _ = try await buy("\(name)-c", "themes.all")
      _ = try await buy("\(name)-c", "season.pass")
      let body = #"{"units": {"coins": 250}, "environment": "Sandbox", "reason": "a sword"}"#
      let tooMuch = #"{"units": {"coins": 100000}, "environment": "Sandbox"}"#
      let path = "/v1/customers/\(name)-a/spends"
      _ = try await way.journal.first(BalanceChanged.self, "coins of \(name)") {
        $0.customer == "\(name)-a" && $0.balance.amount == 400
      }
      #expect(try await write("POST", path, body, key: "\(name)-1") == 201)
      #expect(try await write("POST", path, tooMuch, key: "\(name)-2") == 422)
      let grant = #"{"entitlement": "vip", "environment": "Sandbox", "reason": "won"}"#
      let grants = "/v1/customers/\(name)-b/grants"
      #expect(try await write("POST", grants, grant, key: "\(name)-3") == 201)
      try await way.apple("transactions/\(refunded.transactionId ?? "")/refund")
      try await way.apple("subscriptions/\(bought.originalTransactionId ?? "")/renew")
      let friend = try await way.order("\(name)-d", "pro.monthly")
      let copy = try await way.apple("transactions/\(bought.transactionId ?? "")/sign")
      _ = try await way.prove(friend.id, try #require(copy.signedTransaction))
      _ = try await way.quiet()
    }

    private func customers(_ name: String) async throws {
      let way = try way
      let merged = try await way.send(
        "POST", "order-service", "/v1/customers/\(name)-a/merge",
        body: Array(#"{"into": "\#(name)-c", "reason": "signed in"}"#.utf8),
        headers: [("Idempotency-Key", "\(name)-m")])
      #expect(merged.status == 200)
      _ = try await way.quiet()
      let erased = try await way.send(
        "POST", "order-service", "/v1/customers/\(name)-b/erasure",
        body: Array(#"{"reason": "asked for it"}"#.utf8),
        headers: [("Idempotency-Key", "\(name)-e")])
      #expect(erased.status == 202)
      _ = try await way.quiet()
    }

    @Test func `each store is lost in turn, comes back the same, and goes on`() async throws {
      let way = try way
      try await live("one")
      try await customers("one")
      try await live("two")
      for service in Way.services {
        #expect(try await way.end(service, by: SIGTERM) == .exit(0))
        try await way.loseAndRebuild(service)
        try await way.launch(service)
        try await way.ready(service)
        // Nothing is told by starting: what there was to tell was told.
        let ends = try await way.journal.ends()
        _ = try await way.quiet()
        #expect(try await way.journal.ends() == ends, "\(service)")
      }
      // The spend of before is still the same spend, and what is new has the next version.
      let body = #"{"units": {"coins": 250}, "environment": "Sandbox", "reason": "a sword"}"#
      let path = "/v1/customers/two-a/spends"
      #expect(try await write("POST", path, body, key: "two-1") == 200)
      #expect(try await write("POST", path, body, key: "two-9") == 422, "it is spent")
      try await live("three")
      _ = try await buy("one-c", "coins.100")
      _ = try await way.quiet()
    }

    @Test func `a service refuses a store that is older than what it has published`() async throws {
      let way = try way
      _ = try await buy("old", "themes.all")
      _ = try await way.quiet()
      let service = "entitlement-service"
      let copy = way.plan.file("old-copy.sqlite")
      let path = way.store(of: service)
      try await offPool { try StoreBackup.copy(from: path, to: copy) }
      let setting = #"{"customerConsented": true}"#
      #expect(
        try await write("PUT", "/v1/customers/old/refund-settings", setting, key: "c") == 200)
      let newer = way.plan.file("newer-copy.sqlite")
      try await offPool { try StoreBackup.copy(from: path, to: newer) }
      _ = try await buy("old", "coins.100")
      _ = try await way.quiet()
      let versions = try await way.owned("old").version
      #expect(try await way.end(service, by: SIGTERM) == .exit(0))
      let before = try await offPool { try CanonicalStore(path) }

      try way.lose(service)
      try FileManager.default.copyItem(atPath: copy, toPath: path)
      try await way.launch(service)
      #expect(await way.child(service)?.ending.value() == .exit(1))
      #expect(way.lastLines(of: service).contains("old copy"))

      #expect(try await way.rebuild(service) == .exit(1), "there is a store")
      try way.lose(service)
      #expect(try await way.rebuild(service, backup: newer) == .exit(0))
      let after = try await offPool { try CanonicalStore(path) }
      #expect(before.differences(from: after) == [])
      try await way.launch(service)
      try await way.ready(service)
      // What no topic carries came from the copy.
      let settings = try await way.send("GET", service, "/v1/customers/old/refund-settings")
      #expect(String(decoding: settings.body, as: UTF8.self).contains(#""customerConsented":true"#))
      #expect(try await way.owned("old").version == versions)
    }

    @Test func `a pod whose volume is new makes a lost store anew, and nothing where none is lost`()
      async throws
    {
      let way = try way
      let service = "entitlement-service"
      _ = try await buy("pod", "themes.all")
      let setting = #"{"customerConsented": true}"#
      #expect(
        try await write("PUT", "/v1/customers/pod/refund-settings", setting, key: "p") == 200)
      _ = try await way.quiet()
      #expect(try await way.end(service, by: SIGTERM) == .exit(0))
      let path = way.store(of: service)
      let before = try await offPool { try CanonicalStore(path) }
      let copies = way.plan.file("copies")
      try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: true)
      try await offPool {
        try StoreBackup.copy(from: path, to: "\(copies)/entitlement-20260131T030000Z.sqlite")
      }
      // Older by its name, of another shard, and no copy at all.
      for name in [
        "entitlement-20250131T030000Z.sqlite", "entitlement-1-of-3-20270131T030000Z.sqlite",
        "entitlement-notes.txt",
      ] {
        try Data("no store".utf8).write(to: URL(filePath: "\(copies)/\(name)"))
      }

      #expect(try await way.command(service, ["rebuild-if-lost"]) == .exit(0))
      #expect(way.lastLines(of: "\(service)-rebuild").contains("nothing is to be made anew"))
      #expect(try await offPool { try CanonicalStore(path) }.differences(from: before) == [])

      try way.lose(service)
      #expect(try await way.command(service, ["rebuild-if-lost", "--backups", copies]) == .exit(0))
      #expect(try await offPool { try CanonicalStore(path) }.differences(from: before) == [])

      // An installation that is new has no topics yet, or nothing on them.
      let new = way.plan.file("of-6/new.sqlite")
      let settings = ["ENTITLEMENT_STORE": new, "PURSER_TOPIC_PREFIX": "new."]
      let ending = try await way.command(service, ["rebuild-if-lost"], settings)
      #expect(ending == .exit(0), "\(way.lastLines(of: "\(service)-rebuild"))")
      #expect(way.lastLines(of: "\(service)-rebuild").contains("begins with a new one"))
      #expect(!FileManager.default.fileExists(atPath: new))
      let wrong = ["rebuild-if-lost", "--backups", way.plan.file("none")]
      #expect(
        try await way.command(service, wrong, ["ENTITLEMENT_STORE": new]) == .exit(1),
        "whoever names a folder of copies expects it")
      #expect(!FileManager.default.fileExists(atPath: new))

      try await way.launch(service)
      try await way.ready(service)
    }
  }
}
