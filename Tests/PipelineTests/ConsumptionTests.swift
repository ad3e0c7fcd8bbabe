import Events
import FoundationEssentials
import Glibc
import ServiceRuntime
import Testing

@testable import purser

extension WholeWay {
  /// Apple asks about a refund, and is told by the entitlement service's word.
  @Suite("Consumption information", .serialized, .wayWithApple, .timeLimit(.minutes(3)))
  struct ConsumptionTests {
    private var way: Way { get throws { try WholeWay.way } }

    private struct Anything: Decodable {}

    private struct Report: Decodable, Equatable {
      let version: Int
      let customerConsented: Bool
      let sampleContentProvided: Bool
      let deliveryStatus: String
      let consumptionPercentage: Int64?
      let refundPreference: String?
    }

    /// A customer who bought 100 coins and used 40 of them.
    private func spender(_ customer: String, consents: Bool) async throws -> String {
      struct Settings: Encodable {
        let customerConsented: Bool
        let refundPreference = "decline"
      }
      struct Spend: Encodable {
        let units = ["coins": 40]
        let environment = "Sandbox"
      }
      let way = try way
      let order = try await way.order(customer, "coins.100")
      let bought = try await way.buy("coins.100", token: order.id)
      _ = try await eventually("the coins are there") {
        try await way.balances(customer).amount("coins") == 100 ? true : nil
      }
      _ = try await way.ask(
        "PUT", "entitlement-service", "/v1/customers/\(customer)/refund-settings",
        Settings(customerConsented: consents), as: Anything.self)
      _ = try await way.ask(
        "POST", "entitlement-service", "/v1/customers/\(customer)/spends", Spend(),
        headers: [("Idempotency-Key", customer)], status: [200, 201], as: Anything.self)
      return try #require(bought.transactionId)
    }

    private func reports(of id: String) async throws -> [Report] {
      struct Reports: Decodable { let consumption: [Report] }
      return try await way.ask(
        "GET", "app-store-simulator", "/control/transactions/\(id)/consumption",
        as: Reports.self
      ).consumption
    }

    private func ended(_ state: String) async throws -> Int64 {
      struct Jobs: Decodable {
        struct Consumption: Decodable { let state: String, requests: Int64 }
        let consumption: [Consumption]
      }
      return try await way.ask("GET", "verify-service", "/v1/admin/jobs", as: Jobs.self)
        .consumption.first { $0.state == state }?.requests ?? 0
    }

    private static let expected = Report(
      version: 2, customerConsented: true, sampleContentProvided: false,
      deliveryStatus: "DELIVERED", consumptionPercentage: 40_000, refundPreference: "DECLINE")

    @Test
    func `Apple hears once what was used, and without consent nothing`() async throws {
      let way = try way
      let silent = try await spender("silent", consents: false)
      try await way.apple("transactions/\(silent)/request-refund")
      let id = try await spender("spender", consents: true)
      let request = try await way.apple("transactions/\(id)/request-refund")
      _ = try await eventually("Apple has been told") {
        try await reports(of: id).isEmpty ? nil : true
      }
      // The same request told again, and one behind it: the first is not answered twice.
      #expect(try await way.redeliver(try #require(request.notificationUUID)) == 200)
      let last = try await spender("last", consents: true)
      try await way.apple("transactions/\(last)/request-refund")
      _ = try await eventually("the last one is told of") {
        try await reports(of: last).isEmpty ? nil : true
      }
      #expect(try await reports(of: id) == [Self.expected])
      #expect(try await reports(of: silent).isEmpty)
      _ = try await eventually("each request has its end") {
        let ends = (try await ended("sent"), try await ended("without-consent"))
        return ends == (2, 1) ? true : nil
      }
    }

    @Test
    func `a kill between Apple's answer and the COMMIT sends the same words again`() async throws {
      struct Fault: Encodable {
        let kind = "late", endpoint = "consumption", count = 1, milliseconds = 60_000
      }
      let way = try way
      let before = try await ended("sent")
      let id = try await spender("killed", consents: true)
      _ = try await way.ask(
        "POST", "app-store-simulator", "/control/faults", Fault(), status: [201],
        as: Anything.self)
      try await way.apple("transactions/\(id)/request-refund")
      _ = try await eventually("Apple has the words, and has not answered") {
        try await reports(of: id).isEmpty ? nil : true
      }
      try await way.end("verify-service", by: SIGKILL)
      try await way.launch("verify-service")
      try await way.ready("verify-service")
      _ = try await eventually("the request has its end") {
        try await ended("sent") == before + 1 ? true : nil
      }
      #expect(try await reports(of: id) == [Self.expected, Self.expected])
    }
  }
}
