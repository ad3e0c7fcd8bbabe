import Events
import FoundationEssentials
import Glibc
import Processes
import ServiceRuntime
import Testing

@testable import purser

extension WholeWay {
  /// `purser doctor` on an installation that is right, and on ones that are not.
  @Suite("Doctor", .serialized, .wayWithApple, .timeLimit(.minutes(4)))
  struct DoctorTests {
    private var way: Way { get throws { try WholeWay.way } }

    private struct Report: Decodable {
      struct Finding: Decodable, CustomStringConvertible {
        let area: String
        let subject: String
        let level: String
        let what: String
        let remedy: String?
        var description: String { "\(level) \(area) \(subject): \(what) (\(remedy ?? ""))" }
      }

      let isHealthy: Bool
      let findings: [Finding]
    }

    private func examine(
      _ arguments: [String] = [], _ change: (inout [String: String]) -> Void = { _ in }
    ) async throws -> (code: ChildProcess.Ending, report: Report) {
      let way = try way
      var environment = [
        "PURSER_CONFIG": way.plan.file("purser.json"), "PATH": "/usr/bin:/bin",
        "ORDER_STORE": way.plan.file("orders.sqlite"),
        "VERIFY_STORE": way.plan.file("verify.sqlite"),
        "ENTITLEMENT_STORE": way.plan.file("entitlement.sqlite"),
        "VERIFY_API_SANDBOX_URL": way.plan.simulatorURL,
      ]
      for (name, value) in way.plan.kafkaVariables { environment["KAFKA_\(name)"] = value }
      change(&environment)
      let log = way.plan.file("doctor-\(UUID().uuidString).log")
      let program = ChildProcess.Program(
        name: "doctor", executable: "\(way.plan.places.executables)/purser",
        arguments: ["doctor", "--json"] + arguments, environment: environment, logFile: log)
      let child = try await offPool { try ChildProcess(program) }
      let code = await child.ending.value()
      let text = try Data(contentsOf: URL(filePath: log))
      return (code, try JSONDecoder().decode(Report.self, from: text))
    }

    private func configuration(_ name: String, _ change: (String) -> String) throws -> String {
      let way = try way
      let text = change(way.plan.configuration)
      let path = way.plan.file("\(name).json")
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      return path
    }

    @Test func `an installation that is right has no fault, and every part was looked at`()
      async throws
    {
      let way = try way
      let order = try await way.order("patient", "coins.100")
      let bought = try await way.buy("coins.100", token: order.id)
      _ = try await way.prove(order.id, try #require(bought.signedTransaction))
      _ = try await eventually("the coins are there") {
        try await way.balances("patient").amount("coins") == 100 ? true : nil
      }
      let (code, report) = try await examine(["--deep"])
      #expect(code == .exit(0), "\(report.findings.filter { $0.level == "fault" })")
      let good = Set(report.findings.filter { $0.level == "good" }.map(\.area))
      #expect(
        good.isSuperset(of: [
          "purser.json", "catalog", "keys", "clock", "access", "notifications", "topics", "stores",
        ]), "\(report.findings)")
      #expect(
        report.findings.contains { $0.what.contains("every balance is the sum") })
      #expect(
        report.findings.contains { $0.area == "roots" && $0.level == "warning" },
        "the simulator's root is not Apple's")
    }

    @Test func `an unknown key is told from one of the wrong kind, each with its remedy`()
      async throws
    {
      let way = try way
      let foreign = try configuration("foreign-key") {
        $0.replacing("SIMULATED1", with: "FOREIGN123")
      }
      let (code, report) = try await examine { $0["PURSER_CONFIG"] = foreign }
      #expect(code == .exit(1) && !report.isHealthy)
      let access = report.findings.first { $0.area == "access" }
      #expect(access?.level == "fault", "\(report.findings)")
      #expect(access?.remedy?.contains("In-App Purchase key") == true)

      try "no key at all".write(
        toFile: way.plan.file("broken.p8"), atomically: true, encoding: .utf8)
      let broken = try configuration("broken-key") {
        $0.replacing("simulator-key.p8", with: "broken.p8")
      }
      let (_, second) = try await examine { $0["PURSER_CONFIG"] = broken }
      let key = second.findings.first { $0.area == "keys" }
      #expect(key?.level == "fault" && key?.what.contains("no key at all") == false)
      #expect(!second.findings.contains { $0.area == "access" })
    }

    @Test func `a notification URL that does not answer is found by a test notification`()
      async throws
    {
      struct Gate: Decodable { let outage: Bool }
      let way = try way
      _ = try await way.ask(
        "POST", "app-store-simulator", "/control/notifications/outage", as: Gate.self)
      let (code, report) = try await examine()
      _ = try await way.ask(
        "POST", "app-store-simulator", "/control/notifications/recover", as: Gate.self)
      #expect(code == .exit(1))
      let finding = report.findings.first { $0.area == "notifications" }
      #expect(finding?.level == "fault" && finding?.what.contains("SOCKET_ISSUE") == true)
      #expect(finding?.remedy?.contains("17.0.0.0/8") == true)
    }

    @Test func `faults of several parts are told together`() async throws {
      let wrong = try configuration("wrong") {
        $0.replacing("simulator-root.der", with: "missing.der")
      }
      let (code, report) = try await examine(["--no-test-notification"]) {
        $0["PURSER_CONFIG"] = wrong
        $0["VERIFY_API_SANDBOX_URL"] = "http://127.0.0.1:9"
        $0["PURSER_TOPIC_PREFIX"] = "nowhere."
        $0["ORDER_STORE"] = wrong
      }
      #expect(code == .exit(1))
      let faults = Set(report.findings.filter { $0.level == "fault" }.map(\.area))
      #expect(
        faults.isSuperset(of: ["roots", "reachability", "topics", "stores"]),
        "\(report.findings)")
      #expect(report.findings.allSatisfy { $0.level == "good" || $0.remedy?.isEmpty == false })
    }

    @Test func `a file that cannot be read keeps nothing else from being looked at`() async throws {
      let (code, report) = try await examine(["--offline"]) {
        $0["PURSER_CONFIG"] = "/nowhere/purser.json"
      }
      #expect(code == .exit(1))
      #expect(report.findings.contains { $0.area == "topics" && $0.level == "good" })
      #expect(report.findings.contains { $0.area == "stores" && $0.level == "good" })
    }
  }
}
