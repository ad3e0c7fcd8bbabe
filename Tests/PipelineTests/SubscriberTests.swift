import Events
import FoundationEssentials
import Glibc
import Processes
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import purser

extension WholeWay {
  /// The examples of the documents as other teams run them, beside the real services.
  @Suite("Subscribers", .serialized, .ownWay, .timeLimit(.minutes(4)))
  struct SubscriberTests {
    private static let root = TestData.packageRoot

    private var way: Way { get throws { try WholeWay.way } }

    private func buy(_ customer: String, _ product: String) async throws -> Bought {
      let way = try way
      let order = try await way.order(customer, product)
      let bought = try await way.buy(product, token: order.id)
      _ = try await way.prove(order.id, try #require(bought.signedTransaction))
      return bought
    }

    private func expectSameTable(_ file: String) async throws {
      let way = try way
      let owned = try await way.quiet().rowsOfSubscribers
      try await way.subscribe(file)
      #expect(owned.count > 1)
      #expect(try await way.tableOfSubscriber(file) == owned)
    }

    @Test
    func `one that starts late, is killed, and comes back ends with the table of the store`()
      async throws
    {
      let way = try way
      let file = way.plan.file("active.sqlite")
      let first = try await buy("early", "themes.all")
      _ = try await buy("stays", "pro.monthly")
      _ = try await buy("coins", "coins.100")
      try await expectSameTable(file)

      // It follows, and is killed while news come.
      let following = try ChildProcess(
        ChildProcess.Program(
          name: "subscriber", executable: Script.python,
          arguments: [
            Way.subscriber, "--broker", way.broker.bootstrapServers, "--table", file,
          ], environment: ["PATH": "/usr/bin:/bin"], logFile: way.plan.file("subscriber.log")))
      _ = try await buy("later", "themes.all")
      _ = try await eventually("the subscriber has what came later") {
        try await way.tableOfSubscriber(file).contains { $0.hasPrefix("later ") } ? true : nil
      }
      try await way.apple("transactions/\(first.transactionId ?? "")/refund")
      _ = try await buy("last", "season.pass")
      following.send(SIGKILL)
      _ = await following.ending.value()

      _ = try await way.journal.first(EntitlementChanged.self, "the refund took themes") {
        $0.customer == "early" && !$0.entitlement.isActive
      }
      try await expectSameTable(file)
      #expect(try await !way.tableOfSubscriber(file).contains { $0.hasPrefix("early ") })
      try await expectSameTable(file)
      // One that begins only now ends with the same.
      try await expectSameTable(way.plan.file("late.sqlite"))
    }

    @Test func `the commands of the pages for subscribers work as they stand there`() async throws {
      let way = try way
      _ = try await buy("shown", "themes.all")
      _ = try await way.quiet()
      let programs = ["kcat ", "purser ", "python3 "]
      var commands: [String] = []
      for page in ["docs/events/README.md", "docs/examples/README.md"] {
        let text = try String(
          decoding: Data(contentsOf: URL(filePath: "\(Self.root)/\(page)")), as: UTF8.self)
        commands += text.split(separator: "\n").map(String.init).filter { line in
          programs.contains { line.hasPrefix($0) }
        }
      }
      #expect(commands.count > 5)
      for command in commands {
        // The broker and the table of this test; nothing else is changed.
        let line = command.replacing("localhost:9092", with: way.broker.bootstrapServers)
          .replacing("/tmp/active", with: way.plan.file("shown"))
        let ending = try await Script.run(
          "/bin/bash", ["-o", "pipefail", "-c", "cd '\(Self.root)' && \(line)"],
          environment: [
            "PATH":
              "\(Self.root)/.venv/bin:\(way.plan.places.executables):/usr/local/bin:/usr/bin:/bin",
            "KAFKA_BOOTSTRAP_SERVERS": way.broker.bootstrapServers,
          ])
        #expect(ending.code == 0, "\(command): \(ending.output)")
        let tells =
          ending.output.contains("shown") || command.hasPrefix("python3")
          || command.contains("alice")
        #expect(tells, "\(command) shows the purchase: \(ending.output)")
      }
    }

    @Test func `the SDK of CloudEvents takes every record of ours as an event`() async throws {
      let way = try way
      _ = try await buy("cloud", "coins.100")
      _ = try await way.quiet()
      let topics = Topic.allCases.filter { $0 != .deadLetters }.map(way.plan.topics.name(of:))
      let ending = try await Script.run(
        Script.python,
        [
          Self.root + "/Tests/Fixtures/subscribers/cloudevents_judge.py",
          way.broker.bootstrapServers,
        ] + topics)
      #expect(ending.code == 0, "\(ending.output)")
      for type in [EventType.orderChanged, .appStoreFact, .lineageChanged, .balanceChanged] {
        #expect(ending.output.contains(type.rawValue), "\(ending.output)")
      }
    }

    @Test func `the configuration for Kafka Connect reads the state topic and deletes the erased`()
      throws
    {
      struct Connector: Decodable {
        let name: String
        let config: [String: String]
      }
      let connector = try JSONDecoder().decode(
        Connector.self,
        from: Data(contentsOf: URL(filePath: "\(Self.root)/docs/examples/mongodb-sink.json")))
      let topic = TopicNames().name(of: .entitlementState)
      #expect(connector.config["topics"] == topic)
      #expect(connector.config["delete.on.null.values"] == "true")
      #expect(connector.config["value.converter.schemas.enable"] == "false")
      #expect(connector.config["consumer.override.auto.offset.reset"] == "earliest")
    }
  }
}
