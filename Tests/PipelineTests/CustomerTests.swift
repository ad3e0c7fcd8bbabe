import Events
import Glibc
import HTTPClient
import Kafka
import Processes
import SQLite
import TestSupport
import Testing

@testable import purser

extension WholeWay {
  /// Merges, transfers by support and erasures, decided in one service and obeyed by all.
  @Suite("Customers across the services", .serialized, .wayOfCustomers, .timeLimit(.minutes(4)))
  struct CustomerTests {
    private var way: Way { get throws { try WholeWay.way } }

    /// Orders, buys and proves; gives the order and the purchase.
    @discardableResult
    private func buy(_ customer: String, _ product: String) async throws -> (
      order: Order, bought: Bought
    ) {
      let way = try way
      let order = try await way.order(customer, product)
      let bought = try await way.buy(product, token: order.id)
      let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
      #expect(proved.finish)
      return (order, bought)
    }

    /// The status with which a write is answered.
    private func post(
      _ service: String, _ customer: String, _ what: String, _ body: String, key: String? = nil
    ) async throws -> Int {
      try await way.send(
        "POST", service, "/v1/customers/\(customer)/\(what)", body: Array(body.utf8),
        headers: key.map { [("Idempotency-Key", $0)] } ?? []
      ).status
    }

    private func merge(_ customer: String, into: String) async throws -> Int {
      try await post(
        "order-service", customer, "merge", #"{"into":"\#(into)","reason":"signed in"}"#)
    }

    private func erase(_ customer: String) async throws -> Int {
      try await post("order-service", customer, "erasure", #"{"reason":"asked for it"}"#)
    }

    private func spend(_ customer: String, _ amount: Int, key: String) async throws -> Int {
      try await post(
        "entitlement-service", customer, "spends",
        #"{"units":{"coins":\#(amount)},"environment":"Sandbox"}"#, key: key)
    }

    private func coins(_ customer: String, become amount: Int64) async throws {
      _ = try await eventually("\(customer) has \(amount) coins") {
        try await way.balances(customer).amount("coins") == amount ? true : nil
      }
    }

    private func owner(of bought: Bought, _ stores: StoreContents) -> String? {
      stores.lineages.values.first {
        $0.lineage.originalTransactionId == bought.originalTransactionId
      }?.customer
    }

    /// Every version once, and what a subscriber folds is what stands on the state topic and in the
    /// store: whatever was merged or erased.
    private func holdLaws(_ stores: StoreContents) throws {
      let laws = Laws(events: Array(try way.journal.events()), stores: stores)
      for finding in laws.versions() + laws.folds() { throw laws.explained(finding) }
    }

    @Test func `a merge takes purchases, grants, balances, orders and renewals along, once`()
      async throws
    {
      let way = try way
      let (order, subscription) = try await buy("guest", "pro.monthly")
      let (_, lot) = try await buy("guest", "coins.100")
      try await buy("alice", "coins.100")
      let vip = #"{"entitlement":"vip","environment":"Sandbox","reason":"won a prize"}"#
      #expect(try await post("entitlement-service", "guest", "grants", vip, key: "g") == 201)
      try await coins("guest", become: 100)
      #expect(try await spend("guest", 60, key: "s") == 201)
      #expect(try await merge("guest", into: "alice") == 200)
      #expect(try await merge("guest", into: "alice") == 200)
      try await coins("alice", become: 140)

      let stores = try await way.quiet()
      #expect(Set(try await way.owned("alice").active.map(\.name)) == ["pro", "vip"])
      let asGuest = try await way.owned("guest")
      #expect(asGuest.customer == "alice" && asGuest.active.count == 2)
      #expect(try await spend("alice", 60, key: "s") == 200, "the spend of before is the same")
      #expect(try await post("entitlement-service", "alice", "grants", vip, key: "g") == 200)
      for bought in [subscription, lot] { #expect(owner(of: bought, stores) == "alice") }
      #expect(try await way.order(order.id).customer == "alice")
      #expect(stores.balances["guest", default: []].allSatisfy { $0.amount == 0 })
      try holdLaws(stores)

      // What Apple says later is the remaining customer's.
      try await way.apple("subscriptions/\(subscription.originalTransactionId ?? "")/cancel")
      _ = try await way.journal.first(EntitlementChanged.self, "alice hears of it") {
        $0.customer == "alice" && $0.entitlement.willRenew == false
      }
      try await coins("alice", become: 140)
    }

    @Test func `support moves a purchase, with its credit and its right`() async throws {
      let way = try way
      let (_, lot) = try await buy("bob", "coins.100")
      let (_, themes) = try await buy("bob", "themes.all")
      try await coins("bob", become: 100)
      for bought in [lot, themes] {
        let lineage = "\(way.plan.bundleID)/Sandbox/\(bought.originalTransactionId ?? "")"
        #expect(
          try await post(
            "order-service", "carol", "transfers", #"{"lineage":"\#(lineage)","reason":"typo"}"#)
            == 202)
      }
      try await coins("carol", become: 100)
      _ = try await eventually("themes came") { try await way.owned("carol").active("themes") }
      let stores = try await way.quiet()
      #expect(try await way.balances("bob").amount("coins") == 0)
      #expect(try await way.owned("bob").active.isEmpty)
      for bought in [lot, themes] { #expect(owner(of: bought, stores) == "carol") }
      try holdLaws(stores)
    }

    @Test func `an erasure leaves nothing that names the customer, and nothing brings it back`()
      async throws
    {
      let way = try way
      let (order, subscription) = try await buy("dora-7", "pro.monthly")
      try await buy("dora-7", "coins.100")
      try await coins("dora-7", become: 100)
      #expect(try await spend("dora-7", 1, key: "s") == 201)
      let version = try await way.owned("dora-7").version
      #expect(try await erase("dora-7") == 202)
      let erased = try await way.journal.first(EntitlementsErased.self, "the erasure is told") {
        $0.customer == "dora-7"
      }
      #expect(erased.version > version)
      let stores = try await way.quiet()
      try holdLaws(stores)
      let last = way.journal.events(on: .entitlementState).last { $0.key == "dora-7" }
      #expect(last != nil && last?.record.value == nil, "a tombstone ends the state topic")
      #expect(try await way.owned("dora-7").entitlements.isEmpty)
      #expect(try await way.balances("dora-7").balances.isEmpty)
      #expect(owner(of: subscription, stores)?.hasPrefix("$appstore:") == true)
      #expect(try await way.send("GET", "order-service", "/v1/orders/\(order.id)").status == 404)
      #expect(try await spend("dora-7", 1, key: "t") == 410)
      for service in Way.services {
        let log = try await way.send("GET", service, "/v1/audit?limit=500")
        #expect(log.status == 200)
        #expect(!String(decoding: log.body, as: UTF8.self).contains("dora-7"), "\(service)")
      }
      // A renewal is the provisional customer's.
      try await way.apple("subscriptions/\(subscription.originalTransactionId ?? "")/cancel")
      let later = try await way.quiet()
      #expect(later.version(of: "dora-7") == erased.version)
      try holdLaws(later)
    }

    @Test func `no byte of any store names an erased customer, or who became it`() async throws {
      let way = try way
      try await buy("guest-of-ella-8", "pro.monthly")
      try await buy("ella-8", "coins.100")
      try await coins("ella-8", become: 100)
      #expect(try await merge("guest-of-ella-8", into: "ella-8") == 200)
      _ = try await way.quiet()
      // Support moved something to it, and it restored something.
      let (_, themes) = try await buy("fred", "themes.all")
      let lineage = "\(way.plan.bundleID)/Sandbox/\(themes.originalTransactionId ?? "")"
      #expect(
        try await post(
          "order-service", "ella-8", "transfers", #"{"lineage":"\#(lineage)","reason":"typo"}"#)
          == 202)
      _ = try await eventually("themes came") { try await way.owned("ella-8").active("themes") }
      let signed = try #require(themes.signedTransaction)
      _ = try await way.send(
        "POST", "order-service", "/v1/restores",
        body: Array(#"{"customer":"ella-8","signedTransactions":["\#(signed)"]}"#.utf8),
        headers: [("Prefer", "wait=30")])
      _ = try await way.quiet()
      #expect(try await erase("ella-8") == 202)
      _ = try await way.quiet()
      let names = ["ella-8"]
      for service in Way.services {
        #expect(try await way.end(service, by: SIGTERM) == .exit(0))
        let path = way.store(of: service)
        // SQLite leaves copies of moved cells in the unused bytes of a page, whatever secure_delete says:
        // docs/operations/privacy.md tells of it.
        _ = try await offPool { try Connection(path: path, mode: .readWrite).run("VACUUM") }
        #expect(try await offPool { try StoreBytes.naming(names, at: path) } == [], "\(service)")
      }
      for service in Way.services {
        try await way.launch(service)
        try await way.ready(service)
      }
    }

    @Test func `both customers change while they become one, and nothing is lost or doubled`()
      async throws
    {
      let way = try way
      let pairs = (0..<6).map { ("young-\($0)", "old-\($0)") }
      for (young, old) in pairs {
        try await buy(young, "coins.100")
        try await buy(old, "coins.100")
      }
      for (young, old) in pairs {
        try await coins(young, become: 100)
        try await coins(old, become: 100)
      }
      try await withThrowingTaskGroup(of: (Int, String).self) { group in
        for (number, (young, old)) in pairs.enumerated() {
          for turn in 0..<4 {
            for customer in [young, old] {
              group.addTask {
                (try await spend(customer, 5, key: "\(customer)-\(turn)"), "spend \(number)")
              }
            }
          }
          for customer in [young, old] {
            group.addTask {
              try await buy(customer, "coins.100")
              return (0, "buy \(number)")
            }
          }
          // Both ways at once: one of them is a circle, and refused.
          group.addTask { (try await merge(young, into: old), "merge \(number)") }
          group.addTask { (try await merge(old, into: young), "merge \(number)") }
        }
        var answers: [String: [Int]] = [:]
        for try await (status, what) in group { answers[what, default: []].append(status) }
        for number in pairs.indices {
          #expect(answers["merge \(number)", default: []].sorted() == [200, 409])
          #expect(answers["spend \(number)", default: []].allSatisfy { $0 == 201 })
        }
      }
      let stores = try await way.quiet()
      try holdLaws(stores)
      for (young, old) in pairs {
        // Four lots of 100, eight spends of 5; asked for under either id.
        for customer in [young, old] {
          #expect(try await way.balances(customer).amount("coins") == 360, "\(customer)")
        }
        let amounts = [young, old].map {
          stores.balances[$0, default: []].map(\.amount).reduce(0, +)
        }
        #expect(amounts.sorted() == [0, 360])
      }
    }
  }
}
