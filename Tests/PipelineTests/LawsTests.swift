import Events
import Kafka
import Testing

@testable import purser

extension WholeWay {
  /// The laws themselves: whoever takes anything away or changes it is found out.
  @Suite("The laws find what is wrong", .serialized, .ownWay, .timeLimit(.minutes(3)))
  struct LawsTests {
    /// A subscription, coins and a refund; then all that was published, and the stores.
    private func story() async throws -> Laws {
      let way = try WholeWay.way
      for product in ["pro.monthly", "coins.100", "themes.all"] {
        let order = try await way.order("subject", product)
        let bought = try await way.buy(product, token: order.id)
        _ = try await way.prove(order.id, try #require(bought.signedTransaction))
        if product == "themes.all" {
          try await way.apple("transactions/\(bought.transactionId ?? "")/refund")
          _ = try await way.journal.first(EntitlementChanged.self, "themes went") {
            $0.customer == "subject" && !$0.entitlement.isActive
          }
        }
      }
      let stores = try await way.quiet()
      return Laws(events: Array(way.journal.events()), stores: stores)
    }

    @Test func `no event can be missing, nor be told twice in different words`() async throws {
      let laws = try await story()
      #expect(laws.findings().isEmpty)
      #expect(laws.events.count > 25)
      for (index, event) in laws.events.enumerated() {
        let isLast = !laws.events[(index + 1)...].contains {
          $0.topic == event.topic && $0.key == event.key
        }
        // Older records of a compacted topic may go; what Apple sent may have changed nothing.
        let mayGo =
          event.topic == .entitlementState && !isLast
          || event.topic == .appstore && !isBehindAState(event, laws)
        var fewer = laws.events
        fewer.remove(at: index)
        let found = Laws(events: fewer, stores: laws.stores).findings()
        #expect(found.isEmpty == mayGo, "\(event.topic) \(event.type.rawValue) is missing")

        var record = event.record
        record.value = Array("{}".utf8)
        let forged = laws.events + [ReadEvent(topic: event.topic, record: record)]
        #expect(!Laws(events: forged, stores: laws.stores).findings().isEmpty)
      }
    }

    private func isBehindAState(_ event: ReadEvent, _ laws: Laws) -> Bool {
      let hash = event.told(AppStoreFact.self)?.hash
      return laws.once(LineageState.self).contains { $0.cause.fact == hash }
    }

    @Test func `what a store holds beside the topics is found`() async throws {
      let laws = try await story()
      let customer = "subject"
      var richer = laws.stores
      richer.balances[customer, default: []][0].amount += 1
      var freer = laws.stores
      freer.entitlements[customer] = []
      var newer = laws.stores
      newer.versions[customer, default: 0] += 1
      var fewer = laws.stores
      fewer.orders = [:]
      for stores in [richer, freer, newer, fewer] {
        #expect(!Laws(events: laws.events, stores: stores).findings().isEmpty)
      }
    }

    @Test func `a customer who has more or less than was bought is found`() async throws {
      let laws = try await story()
      let load = Load(try WholeWay.way, seed: 1, workers: 1)
      let orders = Set(laws.stores.orders.values.filter { $0.customer == "subject" }.map(\.id))
      let coins = laws.stores.balances["subject"]?.first?.amount ?? 0
      load.note("subject", "bought") { $0 = Book(coins: coins, rights: ["pro"], orders: orders) }
      #expect(load.findings(laws.stores).isEmpty)
      for change: (inout Book) -> Void in [
        { $0.coins += 1 }, { $0.rights = [] }, { $0.rights = ["pro", "themes"] },
        { $0.orders.removeFirst() },
      ] {
        let other = Load(try WholeWay.way, seed: 1, workers: 1)
        other.note("subject", "bought") {
          $0 = Book(coins: coins, rights: ["pro"], orders: orders)
          change(&$0)
        }
        #expect(!other.findings(laws.stores).isEmpty)
      }
    }
  }
}
