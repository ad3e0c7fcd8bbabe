import Events
import FoundationEssentials
import Glibc
import HTTPClient
import Processes
import ServiceRuntime
import TestSupport
import Testing

@testable import purser

extension WholeWay {
  /// What is answered while the broker or the disk is away, and that it is made good afterwards.
  @Suite("Outages", .serialized, .wayWithFaults, .timeLimit(.minutes(4)))
  struct OutageTests {
    private var way: Way { get throws { try WholeWay.way } }

    private func notification(of bought: Bought) async throws -> String {
      let uuid = try #require(bought.notificationUUID)
      let sent = try await eventually("Apple has tried to deliver it") {
        let sent = try await way.ask(
          "GET", "app-store-simulator", "/control/notifications/\(uuid)", as: SentNotification.self)
        return sent.signedPayload
      }
      return sent
    }

    @Test
    func `while the broker stands still, orders and proofs are taken, Apple is asked to wait`()
      async throws
    {
      let way = try way
      way.broker.freeze()
      defer { way.broker.thaw() }
      let order = try await way.order("patient", "themes.all")
      let bought = try await way.buy("themes.all", token: order.id)
      let proved = try await way.prove(order.id, try #require(bought.signedTransaction), wait: 1)
      #expect(proved.outcome == nil && !proved.finish && proved.order.state == .submitted)
      #expect(try await way.owned("patient").version == 0, "what is stored can be read")

      let payload = try await notification(of: bought)
      let answer = try await way.send(
        "POST", "verify-service", "/v1/notifications",
        body: Array("{\"signedPayload\":\"\(payload)\"}".utf8), key: "")
      try BadInput.expect(answer, 503, "try-again")
      #expect(answer.retryAfter ?? .zero > .zero)

      way.broker.thaw()
      let completed = try await eventually("the proof is decided") {
        let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
        return proved.finish ? proved.order : nil
      }
      #expect(completed.state == .completed)
      _ = try await way.quiet()
      #expect(try await way.owned("patient").active("themes") != nil)
    }

    @Test func `while the disk of the orders is full they are refused, and then taken again`()
      async throws
    {
      let way = try way
      let flag = way.plan.file("disk-full-order-service")
      try Data().write(to: URL(filePath: flag))
      defer { try? FileManager.default.removeItem(atPath: flag) }
      let body = Array(#"{"customer":"crowded","productId":"themes.all"}"#.utf8)
      let answer = try await way.send(
        "POST", "order-service", "/v1/orders", body: body, headers: [("Idempotency-Key", "one")])
      try BadInput.expect(answer, 503, "store-failed")
      #expect(answer.retryAfter ?? .zero > .zero)
      try FileManager.default.removeItem(atPath: flag)
      let order = try await way.order("crowded", "themes.all", idempotencyKey: "one")
      _ = try await way.quiet()
      let orders = way.journal.all(Order.self) { $0.customer == "crowded" }
      #expect(orders == [order], "what was refused was not stored")
    }

    @Test(arguments: Way.services)
    func `a service does not start on a store that it cannot write, and says so`(_ service: String)
      async throws
    {
      let way = try way
      try await way.end(service, by: SIGTERM)
      let flag = way.plan.file("disk-read-only-\(service)")
      try Data().write(to: URL(filePath: flag))
      defer { try? FileManager.default.removeItem(atPath: flag) }
      try await way.launch(service)
      let ending = await way.child(service)?.ending.value()
      #expect(ending == .exit(1))
      #expect(way.lastLines(of: service).contains("cannot be written; give this process write"))
      try FileManager.default.removeItem(atPath: flag)
      try await way.launch(service)
      try await way.ready(service)
    }

    @Test(arguments: ["verify-service", "entitlement-service"])
    func `a service whose disk is full reads on where it was when there is room`(_ service: String)
      async throws
    {
      let way = try way
      let customer = "waits-for-\(service)"
      let flag = way.plan.file("disk-full-\(service)")
      try Data().write(to: URL(filePath: flag))
      defer { try? FileManager.default.removeItem(atPath: flag) }
      let order = try await way.order(customer, "coins.100", quantity: 2)
      let bought = try await way.buy("coins.100", token: order.id, quantity: 2)
      _ = try await way.prove(order.id, try #require(bought.signedTransaction), wait: 1)
      _ = try await eventually("\(service) says that it cannot write") {
        way.lastLines(of: service, 50).contains("full") ? true : nil
      }
      #expect(try await way.balances(customer).version == 0)
      try FileManager.default.removeItem(atPath: flag)
      let credit = try await way.journal.first(BalanceChanged.self, "coins were credited") {
        $0.customer == customer
      }
      #expect(credit.delta == 200)
      _ = try await way.quiet()
      #expect(way.journal.all(BalanceChanged.self) { $0.customer == customer }.count == 1)
    }
  }
}
