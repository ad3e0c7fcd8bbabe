import Cryptography
import Events

/// Everything that is decided before a stack is started.
struct StackPlan: Sendable {
  /// Executables, broker, catalog.
  var places: Places
  /// An absolute path; stores, logs and configuration go there.
  var folder: String
  var ports: StackPorts
  /// `KAFKA_…` variables of another broker; nil starts the development broker.
  var kafka: [String: String]?
  var topicPrefix = "iap."
  /// What all processes see of our environment.
  var environment: [String: String] = [:]
  var logLevel = "info"
  /// The one key of all services; made for this stack.
  var apiKey = "purser_" + Hex.encode(randomBytes(20))
  /// A file of API keys that the services read again when it changes; nil gives them `apiKey` alone.
  var keyFile: String?
  /// Whether webhooks may go without TLS, and to this machine.
  var allowsPrivateWebhooks = false
  /// The app that the simulator sells for.
  var bundleID = "com.example.demo"
  /// Whether verify-service has a key to the simulator's API, so that its jobs run.
  var asksApple = true
  /// How long everything together may take to become ready.
  var patience = Duration.seconds(60)

  /// How clients reach Kafka.
  var kafkaVariables: [String: String] {
    kafka ?? ["BOOTSTRAP_SERVERS": "127.0.0.1:\(ports.kafka)"]
  }

  var topics: TopicNames { TopicNames(prefix: topicPrefix) }

  var orderURL: String { "http://127.0.0.1:\(ports.order)" }
  var verifyURL: String { "http://127.0.0.1:\(ports.verify)" }
  var entitlementURL: String { "http://127.0.0.1:\(ports.entitlement)" }
  var simulatorURL: String { "http://127.0.0.1:\(ports.simulator)" }

  /// The line of `apiKey` in a file of keys.
  var keyLine: String { "purser:admin:\(SHA256.hex(apiKey))" }

  func file(_ name: String) -> String { "\(folder)/\(name)" }

  /// `purser.json`: one app in the sandbox, trusting the simulator's root alone.
  var configuration: String {
    """
    {
      "roots": ["simulator-root.der"],
      "catalog": \(quoted(places.catalog)),
      "apps": [
        { "bundleId": \(quoted(bundleID)), "environments": { "Sandbox": {} }\(access) }
      ]
    }

    """
  }

  /// The key that the simulator gives out, as it stands in an app's entry.
  private var access: String {
    guard asksApple else { return "" }
    return """
      ,
          "api": { "keyId": "SIMULATED1", "issuerId": "57246542-96fe-1a63-e053-0824d011072a",
                   "keyFile": "simulator-key.p8" }
      """
  }

  /// A path as JSON; paths with control characters are refused before.
  private func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
