import Events
import Kafka
import Pipeline
import ServiceRuntime
import TestSupport
import Testing

@testable import purser

@Suite("purser topics")
struct TopicsTests {
  @Test func `create makes what is missing, changes nothing, and refuses differences`() async throws
  {
    let broker = try DevBroker.start()
    let admin = try Admin(
      .bootstrap(broker.bootstrapServers), name: "topics-test", log: .silent, metrics: Metrics())
    let settings = try Settings(["KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers])

    #expect(try run("check", settings) == .differs)
    #expect(try run("create", settings, "--partitions", "3") == .fine)
    #expect(try run("create", settings, "--partitions", "3") == .fine)
    #expect(try run("check", settings) == .fine)
    #expect(try run("create", settings, "--partitions", "4") == .differs)
    #expect(try run("check", settings, "--partitions", "4") == .differs)

    // What the services are told is what is asked for, unless an option says otherwise.
    for (told, ending) in [("3", Result.fine), ("6", .differs)] {
      let services = try Settings([
        "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "PURSER_PARTITIONS": told,
      ])
      #expect(try run("check", services) == ending)
      #expect(try run("create", services) == ending)
      #expect(try run("check", services, "--partitions", "3") == .fine)
    }
    #expect(throws: SettingsError.self) { try Settings(["PURSER_PARTITIONS": "some"]) }

    // One topic with the retention of others, one missing: nothing may be made or changed.
    try await admin.perform { admin throws(KafkaError) in
      try admin.delete(["iap.proofs", "iap.orders"], timeout: .seconds(10))
      try admin.create(
        [
          TopicSpecification(
            name: "iap.orders", partitions: 3,
            settings: ["retention.ms": "1000", "max.message.bytes": "2097152"])
        ], timeout: .seconds(10))
    }
    #expect(try run("create", settings, "--partitions", "3") == .differs)
    let found = try await admin.perform { admin throws(KafkaError) in
      (
        try admin.topics(timeout: .seconds(10)),
        try admin.settings(of: "iap.orders", timeout: .seconds(10))
      )
    }
    #expect(found.0["iap.proofs"] == nil)
    #expect(found.1["retention.ms"] == "1000")
    await admin.close()
    broker.stop()
  }

  private enum Result { case fine, differs }

  private func run(_ word: String, _ settings: Settings, _ options: String...) throws -> Result {
    let command = word == "create" ? TopicsCommand.create : TopicsCommand.check
    do {
      let code = try command.run(try Arguments(options[...], for: command), settings)
      return code == 0 ? .fine : .differs
    } catch is TopicDifferences {
      return .differs
    }
  }

  @Test func `differences of one kind share a line, and each kind has its remedy`() {
    let all = ["a", "b"].map { TopicDifference(topic: $0, what: "is missing", remedy: "make it") }
    let other = TopicDifference(topic: "c", what: "is odd", remedy: "mend it so")
    let text = TopicDifferences(all + [other], advice: "nothing was made").description
    #expect(text.hasPrefix("3 differences, nothing was made"))
    #expect(text.contains("a, b: is missing"))
    #expect(text.contains("mend it: mend it so"))
  }
}
