import Events
import FoundationEssentials
import HTTPClient
import Kafka
import ServiceRuntime

/// `purser demo --running`: the story on a stack that somebody else started.
enum DemoOnRunning {
  static func run(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    guard let key = settings.adminKey else {
      throw arguments.error(
        "'demo --running' needs a key of scope admin in PURSER_ADMIN_KEY or PURSER_ADMIN_KEY_FILE")
    }
    // Says in words when no broker is named.
    _ = try settings.clientConfiguration()
    let stage = Stage(
      orderURL: arguments.text("--order-url") ?? "http://127.0.0.1:8081",
      entitlementURL: arguments.text("--entitlement-url") ?? "http://127.0.0.1:8083",
      simulatorURL: arguments.text("--simulator-url") ?? "http://127.0.0.1:8090",
      apiKey: key.reveal, kafka: settings.kafka, topics: TopicNames(prefix: settings.topicPrefix))
    let signals = ShutdownSignals()
    let terminal = Terminal(settings)
    let http = HTTPClient(workers: 1, name: "demo", log: .silent, metrics: Metrics())
    let customer = "alice-" + UUID().uuidString.lowercased().prefix(8)
    do {
      let summary = try DemoCommand.withTeller(
        on: stage, http, terminal, { signals.first.current != nil }
      ) { try Story($0, customer: customer).play() }
      terminal.line()
      terminal.line(summary)
      return Tool.success
    } catch {
      Terminal.complain("\npurser demo failed: \(error)")
      return Tool.failure
    }
  }
}
