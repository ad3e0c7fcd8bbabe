import Events
import FoundationEssentials
import HTTPClient
import Testing

@testable import purser

extension WholeWay {
  /// One customer, two apps of one team.
  @Suite("Two apps", .serialized, .wayWithTwoApps, .timeLimit(.minutes(4)))
  struct TwoAppsTests {
    private var way: Way { get throws { try WholeWay.way } }

    private func order(_ customer: String) async throws -> Order {
      let way = try way
      return try await way.ask(
        "POST", "order-service", "/v1/orders",
        ["customer": customer, "productId": "themes.all", "bundleId": way.plan.bundleID],
        status: [201], as: Order.self)
    }

    private struct Forged: Decodable { let signedTransaction: String?, signedPayload: String? }

    /// A purchase of the other app.
    private func elsewhere(_ object: String, token: String) async throws -> Forged {
      try await way.ask(
        "POST", "app-store-simulator", "/control/forge",
        [
          "kind": "wrong-bundle", "object": object, "productId": "themes.all",
          "appAccountToken": token,
        ], as: Forged.self)
    }

    @Test(arguments: ["proof", "notification"])
    func `a purchase of another app is granted for what it is, and its order is mismatched`(
      by how: String
    ) async throws {
      let way = try way
      let customer = "two-\(how)"
      let order = try await order(customer)
      let series = "orders_mismatched_total"
      let counted = try await way.metric("order-service", series)
      if how == "proof" {
        let signed = try #require(
          try await elsewhere("transaction", token: order.id).signedTransaction)
        let proved = try await way.prove(order.id, signed)
        #expect(proved.finish && proved.outcome == "accepted")
        #expect(proved.order.state == .completed && proved.order.mismatched)
      } else {
        let payload = try #require(
          try await elsewhere("notification", token: order.id).signedPayload)
        let answer = try await way.send(
          "POST", "verify-service", "/v1/notifications",
          body: Array("{\"signedPayload\":\"\(payload)\"}".utf8), key: "")
        #expect(answer.status == 200)
        _ = try await eventually("the order is completed") {
          try await way.order(order.id).state == .completed ? true : nil
        }
      }
      let completed = try await way.order(order.id)
      #expect(completed.mismatched && completed.bundleId == way.plan.bundleID)
      #expect(try await way.metric("order-service", series) == counted + 1)
      let stores = try await way.quiet()
      let lineage = stores.lineages.values.first {
        $0.customer == customer && $0.lineage.bundleId == "\(way.plan.bundleID).other"
      }
      #expect(lineage?.transactions.last?.transactionId == completed.transactionId)
      _ = try await eventually("themes came") { try await way.owned(customer).active("themes") }
    }
  }
}
