import Events
import HTTPClient
import Kafka
import ServiceRuntime
import TestSupport
import Testing

@testable import purser

extension WholeWay {
  /// One purchase as one trace, over all services and topics.
  @Suite("Traces over the whole way", .serialized, .timeLimit(.minutes(3)))
  struct TraceTests {
    /// The trace that an app's backend began.
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let cause = "00f067aa0ba902b7"
    private static let headers = [("traceparent", "00-\(trace)-\(cause)-01")]

    /// Starts a stack whose services send spans to a collector, and stops it afterwards.
    private func withWay(_ body: (Way, TraceCollector) async throws -> Void) async throws {
      let collector = try TraceCollector()
      let settings = ["PURSER_TRACES_ENDPOINT": collector.url]
      let way = try await Way.start(
        extra: { _ in Dictionary(uniqueKeysWithValues: Way.services.map { ($0, settings) }) })
      do {
        try await body(way, collector)
      } catch {
        Issue.record(error)
      }
      for complaint in await way.stop() { Issue.record("\(complaint)") }
      await collector.stop()
    }

    private func event(_ way: Way, of customer: String) async throws -> ReadEvent {
      _ = try await way.journal.first(EntitlementChanged.self, "themes of \(customer)") {
        $0.customer == customer
      }
      return try #require(
        way.journal.events().first {
          $0.topic == .entitlements && $0.record.key == Array(customer.utf8)
        })
    }

    /// The spans of a trace, once it has steps of all these names.
    private func spans(
      _ collector: TraceCollector, of trace: String, _ names: Set<String>
    ) async throws -> [TraceCollector.Span] {
      try await eventually("spans \(names)") {
        let spans = collector.spans.filter { $0.traceId == trace }
        return names.isSubset(of: spans.map(\.name)) ? spans : nil
      }
    }

    private func traceID(_ event: ReadEvent) throws -> String {
      let header = try #require(event.record.header("traceparent"))
      return try #require(TraceContext(traceparent: header)).traceIdText
    }

    @Test func `from the order to the event that others read, every step has its cause`()
      async throws
    {
      try await withWay { way, collector in
        let order = try await way.ask(
          "POST", "order-service", "/v1/orders",
          Questions.Order(customer: "traced", productId: "themes.all", quantity: nil),
          headers: Self.headers, status: [201], as: Order.self)
        let bought = try await way.buy("themes.all", token: order.id, notify: false)
        _ = try await way.ask(
          "POST", "order-service", "/v1/orders/\(order.id)/proofs",
          Questions.Proof(signedTransaction: try #require(bought.signedTransaction)),
          headers: Self.headers + [("Prefer", "wait=30")], as: Proved.self)
        #expect(try traceID(try await event(way, of: "traced")) == Self.trace)

        let topics = way.plan.topics
        let steps = [Topic.customers, .orders, .proofs, .appstore, .transactions, .entitlements]
        let names = Set(
          ["POST /v1/orders", "POST /v1/orders/{id}/proofs"]
            + steps.map { "send \(topics.name(of: $0))" }
            + [Topic.customers, .proofs, .appstore, .transactions].map {
              "process \(topics.name(of: $0))"
            })
        let spans = try await spans(collector, of: Self.trace, names)
        #expect(Set(spans.map(\.service)) == Set(Way.services))
        let known = Set(spans.map(\.spanId)).union([Self.cause])
        for span in spans {
          #expect(span.parentSpanId.map(known.contains) == true, "\(span.name) has its cause")
        }
        #expect(spans.first { $0.name == "POST /v1/orders" }?.parentSpanId == Self.cause)
        #expect(spans.allSatisfy { $0.status == nil })
        // The last step is reached from the request by causes alone.
        let byID = Dictionary(spans.map { ($0.spanId, $0) }, uniquingKeysWith: { $1 })
        var step = spans.first { $0.name == "send \(topics.name(of: .entitlements))" }
        var path: [String] = []
        while let here = step {
          path.append("\(here.service): \(here.name)")
          step = here.parentSpanId.flatMap { byID[$0] }
        }
        #expect(path.last == "order-service: POST /v1/orders/{id}/proofs", "\(path)")
        #expect(path.contains { $0.hasPrefix("verify-service: process") })
        // The log of each service can be searched by the trace.
        for service in Way.services {
          #expect(way.lastLines(of: service, 400).contains("\"trace\":\"\(Self.trace)\""))
        }
        #expect(way.lastLines(of: "order-service", 400).contains("\"order\":\"\(order.id)\""))
      }
    }

    @Test func `what Apple tells begins a trace of its own, which ends in the event too`()
      async throws
    {
      try await withWay { way, collector in
        let order = try await way.order("told", "themes.all")
        // A fact that comes before its token is known goes on with what made the token known.
        _ = try await way.quiet()
        _ = try await way.buy("themes.all", token: order.id)
        let trace = try traceID(try await event(way, of: "told"))
        let spans = try await spans(
          collector, of: trace,
          ["POST /v1/notifications", "send \(way.plan.topics.name(of: .entitlements))"])
        let first = try #require(spans.first { $0.name == "POST /v1/notifications" })
        #expect(first.parentSpanId == nil && first["http.response.status_code"] == "200")
      }
    }
  }
}
