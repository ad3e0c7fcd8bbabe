import Events
import FoundationEssentials
import Glibc
import HTTPClient
import Kafka
import Pipeline
import ServiceRuntime
import Processes
import Testing

@testable import purser

extension WholeWay {
  /// How a service begins, or says why it cannot.
  @Suite("Settings and starting", .serialized, .ownWay, .timeLimit(.minutes(3)))
  struct SettingsTests {
    private var way: Way { get throws { try WholeWay.way } }

    /// A process of a service beside the stack's own, and what it writes.
    private struct Other {
      let child: ChildProcess
      let port: Int
      var log: String { child.lastLogLines(200).joined(separator: "\n") }
    }

    /// Starts a service with settings of its own.
    private func start(
      _ service: String, _ name: String, arguments: [String] = [],
      _ change: (inout [String: String]) -> Void
    ) async throws -> Other {
      let way = try way
      var program = try way.program(service)
      let port = try StackPorts.free().order
      program.arguments = arguments
      program.logFile = way.plan.file("\(service)-\(name).log")
      program.environment["\(Self.prefix(service))_HTTP_PORT"] = "\(port)"
      program.environment["\(Self.prefix(service))_STORE"] = way.plan.file("\(service)-\(name).db")
      change(&program.environment)
      return Other(child: try await offPool { [program] in try ChildProcess(program) }, port: port)
    }

    private static func prefix(_ service: String) -> String {
      service.split(separator: "-")[0].uppercased()
    }

    private func readiness(_ other: Other) async throws -> Int? {
      let request = HTTPRequest(
        url: "http://127.0.0.1:\(other.port)/readyz", timeout: .seconds(2))
      return try? await way.http.send(request).status
    }

    @Test(arguments: Way.services)
    func `with nothing set a service names every fault and exits with 78`(_ service: String)
      async throws
    {
      let other = try await start(service, "bare") { $0 = [:] }
      #expect(await other.child.ending.value() == .exit(78))
      for setting in ["PURSER_CONFIG", "PURSER_API_KEYS", "KAFKA_", "--help"] {
        #expect(other.log.contains(setting), "\(setting) is named: \(other.log)")
      }
    }

    @Test(arguments: Way.services)
    func `help lists the settings and exits with 0`(_ service: String) async throws {
      let other = try await start(service, "help", arguments: ["--help"]) { $0 = [:] }
      #expect(await other.child.ending.value() == .exit(0))
      let prefix = Self.prefix(service)
      for setting in [
        "\(prefix)_HTTP_HOST", "\(prefix)_HTTP_PORT", "\(prefix)_STORE", "PURSER_CONFIG",
        "PURSER_API_KEYS", "PURSER_INSECURE", "PURSER_LOG_LEVEL", "PURSER_TOPIC_PREFIX",
        "PURSER_CLOCK_FILE", "KAFKA_",
      ] {
        #expect(other.log.contains(setting), "\(setting) is listed")
      }
    }

    @Test(arguments: Way.services)
    func `an argument that is not known is refused`(_ service: String) async throws {
      let other = try await start(service, "argument", arguments: ["--fast"]) { _ in }
      #expect(await other.child.ending.value() == .exit(64))
      #expect(other.log.contains("'--fast'"))
    }

    @Test(arguments: Way.services)
    func `wrong values are all told at once`(_ service: String) async throws {
      let other = try await start(service, "wrong") { environment in
        environment["\(Self.prefix(service))_HTTP_PORT"] = "eighty"
        environment["PURSER_API_KEYS"] = "nonsense"
        environment["KAFKA_ENABLE_IDEMPOTENCE"] = "false"
      }
      #expect(await other.child.ending.value() == .exit(78))
      for text in ["eighty", "PURSER_API_KEYS", "IDEMPOTENCE"] {
        #expect(other.log.contains(text), "\(text) is named: \(other.log)")
      }
    }

    @Test(arguments: Way.services)
    func `a second process on one store is refused, and the first goes on`(_ service: String)
      async throws
    {
      let way = try way
      let store = way.plan.file(try #require(StoreLook.files[service]))
      let first = try #require(way.child(service)?.processID)
      let other = try await start(service, "second") {
        $0["\(Self.prefix(service))_STORE"] = store
      }
      #expect(await other.child.ending.value() == .exit(1))
      #expect(other.log.contains("in use by process \(first)"), "\(other.log)")
      try await way.ready(service)
    }

    @Test(arguments: Way.services)
    func `without topics a service waits, and is ready once they are made`(_ service: String)
      async throws
    {
      let way = try way
      let prefix = "late-\(service)."
      let other = try await start(service, "early") { $0["PURSER_TOPIC_PREFIX"] = prefix }
      _ = try await eventually("\(service) says that it waits") {
        try await readiness(other) == 503 && other.log.contains("purser topics create") ? true : nil
      }
      var plan = way.plan
      plan.topicPrefix = prefix
      try await offPool { [plan] in try plan.makeTopics() }
      _ = try await eventually("\(service) is ready") {
        try await readiness(other) == 200 ? true : nil
      }
      other.child.send(SIGTERM)
      #expect(await other.child.ending.value() == .exit(0))
    }

    @Test(arguments: Way.services)
    func `topics that would lose records stop a service with words`(_ service: String) async throws
    {
      let way = try way
      var plan = way.plan
      plan.topicPrefix = "lossy-\(service)."
      var topics = TopicPlan(names: plan.topics).specifications
      let index = try #require(topics.firstIndex { $0.name.hasSuffix(".transactions") })
      topics[index].settings["retention.ms"] = "1000"
      try await offPool { [plan, topics] in try plan.makeTopics(topics) }
      let other = try await start(service, "lossy") { [plan] in
        $0["PURSER_TOPIC_PREFIX"] = plan.topicPrefix
      }
      #expect(await other.child.ending.value() == .exit(1))
      #expect(other.log.contains("retention.ms=1000"), "\(other.log)")
      #expect(other.log.contains("purser topics check"))
    }
  }
}
