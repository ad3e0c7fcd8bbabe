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
  /// What Prometheus sees of a stack that has worked.
  @Suite("Metrics of the whole way", .serialized, .wayWithApple, .timeLimit(.minutes(4)))
  struct MetricsTests {
    private var way: Way { get throws { try WholeWay.way } }

    private static let programs = Way.services + ["app-store-simulator"]

    private func metrics(of program: String) async throws -> String {
      let answer = try await way.send("GET", program, "/metrics")
      #expect(answer.status == 200)
      return String(decoding: answer.body, as: UTF8.self)
    }

    /// The values of a metric's series that bear some labels.
    private func values(_ name: String, _ labels: [String] = [], in text: String) -> [Double] {
      text.split(separator: "\n").filter { line in
        (line.hasPrefix("\(name){") || line.hasPrefix("\(name) "))
          && labels.allSatisfy { line.contains($0) }
      }.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
    }

    /// Waits until a metric has a value.
    private func waitFor(
      _ name: String, _ labels: [String] = [], of program: String,
      _ test: @Sendable @escaping ([Double]) -> Bool
    ) async throws -> [Double] {
      try await eventually("\(program) tells \(name) \(labels)") {
        let found = values(name, labels, in: try await metrics(of: program))
        return test(found) ? found : nil
      }
    }

    /// Purchases with proof and notification, one that is refunded, a proof that nobody believes.
    private func trade() async throws {
      let way = try way
      for customer in ["metrics-1", "metrics-2"] {
        let order = try await way.order(customer, "pro.monthly")
        let bought = try await way.buy("pro.monthly", token: order.id)
        _ = try await way.prove(order.id, try #require(bought.signedTransaction))
        _ = try await way.owned(customer)
      }
      let order = try await way.order("metrics-3", "themes.all")
      let bought = try await way.buy("themes.all", token: order.id)
      try await way.apple("transactions/\(bought.transactionId ?? "")/refund")
      let other = try await way.order("metrics-4", "themes.all")
      let forged = (bought.signedTransaction ?? "").dropLast(6) + "AAAAAA"
      let refused = try await way.send(
        "POST", "order-service", "/v1/orders/\(other.id)/proofs",
        body: Array("{\"signedTransaction\":\"\(forged)\"}".utf8),
        headers: [("Prefer", "wait=20")])
      #expect(refused.status == 422)
      let stranger = try await way.send(
        "POST", "verify-service", "/v1/notifications",
        body: Array("{\"signedPayload\":\"\(forged)\"}".utf8))
      #expect(stranger.status == 400)
      #expect(try await way.send("GET", "order-service", "/v1/orders/none").status == 404)
      _ = try await way.quiet()
    }

    @Test func `promtool finds nothing to complain about, and all that is promised is there`()
      async throws
    {
      try await trade()
      let topic = "topic=\"\(try way.plan.topics.name(of: .entitlements))\""
      let since = ["since=\"signed\"", "since=\"received\""]
      // Whether the proof or the notification came first is not said, and the first is what counts.
      for since in since {
        _ = try await waitFor(
          "way_through_seconds_count", [topic, since], of: "entitlement-service"
        ) { $0.reduce(0, +) > 0 }
      }
      _ = try await waitFor("apple_requests_total", ["endpoint="], of: "verify-service") {
        !$0.isEmpty
      }
      for program in Self.programs {
        // Asked twice, so that the answer counts the question before.
        _ = try await metrics(of: program)
        let text = try await metrics(of: program)
        let file = TestFolder.path("metrics")
        try Data(text.utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let verdict = try await Script.run(
          "/bin/sh", ["-c", "\(Self.promtool) check metrics < \(file)"])
        #expect(verdict.code == 0 && verdict.output == "", "\(program): \(verdict.output)")
        for (name, labels) in Self.promised(of: program) {
          #expect(!values(name, labels, in: text).isEmpty, "\(program) lacks \(name) \(labels)")
        }
        // Bounded: no customer, order or path is a label.
        #expect(!text.contains("metrics-1") && !text.contains("/v1/orders/none"))
        #expect(text.split(separator: "\n").count < 3000, "\(program) tells too much")
      }
    }

    /// As `deploy/scripts/setup` has it.
    private static var promtool: String {
      let own = TestData.packageRoot + "/.purser/tools/promtool"
      return FileManager.default.isExecutableFile(atPath: own) ? own : "promtool"
    }

    private static func promised(of program: String) -> [(String, [String])] {
      var promised: [(String, [String])] = [
        ("purser_build_info", ["version=", "program=\"\(program)\""]),
        ("process_resident_memory_bytes", []), ("process_cpu_seconds_total", []),
        ("process_open_fds", []), ("process_start_time_seconds", []),
      ]
      guard program != "app-store-simulator" else {
        return promised + [("simulator_send_attempts_total", [])]
      }
      promised += [
        ("http_requests_total", ["route=\"/metrics\"", "status=\"200\""]),
        ("http_request_seconds_bucket", ["route="]), ("outbox_undelivered", []),
        ("outbox_oldest_age_seconds", []), ("sqlite_commit_seconds_bucket", []),
        ("sqlite_group_jobs_bucket", []), ("processor_batch_records_bucket", []),
        ("processor_lag_records", ["topic=", "partition=\"0\""]),
        ("timers_fired_total", ["task="]), ("timers_overdue_seconds", ["task="]),
        ("dead_letters_total", ["reason=\"handler-failed\""]),
      ]
      switch program {
      case "order-service":
        promised.append(
          ("http_requests_total", ["route=\"/v1/orders/{id}\"", "status=\"404\""]))
      case "verify-service":
        promised += [
          ("notifications_total", ["result=\"recorded\""]),
          ("proofs_total", ["result=\"proved\""]), ("proofs_total", ["result=\"bad-signature\""]),
          ("facts_total", ["source=\"proof\"", "type=\"none\""]),
          ("facts_total", ["source=\"notification\"", "type=\"REFUND\""]),
          ("notification_newest_timestamp_seconds", ["app=", "environment=\"Sandbox\""]),
          ("apple_requests_total", ["endpoint=", "result=\"ok\""]),
          ("apple_request_seconds_bucket", ["endpoint="]),
          ("way_through_seconds_bucket", ["since=\"signed\""]),
        ]
      default: break
      }
      return promised
    }

    @Test func `lag and outbox come to nothing, and the newest notification outlives a restart`()
      async throws
    {
      let way = try way
      try await trade()
      for service in Way.services {
        _ = try await waitFor("processor_lag_records", of: service) { values in
          !values.isEmpty && values.allSatisfy { $0 == 0 }
        }
        _ = try await waitFor("outbox_undelivered", of: service) { $0 == [0] }
        _ = try await waitFor("outbox_oldest_age_seconds", of: service) { $0 == [0] }
      }
      let name = "notification_newest_timestamp_seconds"
      let before = try await waitFor(name, of: "verify-service") { $0.count == 1 }
      #expect(try await way.end("verify-service", by: SIGTERM) == .exit(0))
      try await way.launch("verify-service")
      try await way.ready("verify-service")
      let after = try await waitFor(name, of: "verify-service") { $0.count == 1 }
      #expect(abs((after.first ?? 0) - (before.first ?? 0)) <= 10)
    }
  }
}
