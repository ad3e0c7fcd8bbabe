import FoundationEssentials
import Kafka
import ServiceRuntime

/// What `purser` takes from the environment.
struct Settings: Sendable {
  /// `KAFKA_…` variables without the prefix; empty when no broker was named.
  let kafka: [String: String]
  /// What the names of the topics begin with.
  let topicPrefix: String
  /// Whether color is unwanted (no-color.org).
  let refusesColor: Bool
  /// Where folders that are needed once are made.
  let temporaryFolder: String
  /// How many partitions the services expect; nil where nobody says.
  let partitions: Int?
  /// The level of the logs of what is started.
  let logLevel: String
  /// The file of API keys that the services read.
  let keyFile: String?
  /// Whether the webhooks of what is started may go without TLS, and to this machine.
  let allowsPrivateWebhooks: Bool
  /// All of it, for commands of the services that are run as they are.
  let environment: [String: String]
  /// What processes that are started see of the environment.
  let passedOn: [String: String]
  /// What `purser doctor` looks at beside the broker.
  let doctor: DoctorSettings
  /// The key for `purser import`.
  let adminKey: Secret?

  /// Whether the person named a broker.
  var hasBroker: Bool { kafka["BOOTSTRAP_SERVERS"]?.isEmpty == false }

  /// Reads the environment.
  ///
  /// - Throws: `SettingsError` with every fault at once.
  static func read() throws(SettingsError) -> Settings {
    try Settings(ProcessInfo.processInfo.environment)
  }

  init(_ environment: [String: String]) throws(SettingsError) {
    var reader = SettingsReader(environment)
    self.init(&reader, environment)
    if !Self.isTopicName(topicPrefix) { reader.fault("PURSER_TOPIC_PREFIX", Self.topicNameRule) }
    if hasBroker {
      do {
        _ = try ClientConfiguration(fromEnvironment: kafka)
      } catch {
        for fault in error.faults { reader.fault(fault.variable, fault.problem) }
      }
    }
    try reader.finish()
  }

  private init(_ reader: inout SettingsReader, _ environment: [String: String]) {
    kafka = reader.prefixed(
      "KAFKA_", "properties of librdkafka, such as KAFKA_BOOTSTRAP_SERVERS=host:port")
    topicPrefix = reader.text(
      "PURSER_TOPIC_PREFIX", default: "iap.", "what the names of the topics begin with")
    logLevel =
      reader.choice(
        "PURSER_LOG_LEVEL", default: Log.Level.info, "the level of the logs of what is started"
      ).rawValue
    keyFile = reader.optionalText(
      "PURSER_API_KEYS_FILE", "the file of API keys that 'purser keys' changes")
    allowsPrivateWebhooks = reader.flag(
      "ENTITLEMENT_WEBHOOKS_PRIVATE", default: false,
      "1 lets the webhooks of 'purser up' go without TLS, and to this machine")
    refusesColor = reader.optionalText("NO_COLOR", "any text: no color") != nil
    temporaryFolder = reader.text(
      "TMPDIR", default: "/tmp", "where 'purser demo' makes its folder")
    partitions = reader.optionalInteger(
      "PURSER_PARTITIONS", in: 1...1024,
      "how many partitions the topics have, as the services have it")
    doctor = DoctorSettings(&reader, environment)
    adminKey = reader.secret(
      "PURSER_ADMIN_KEY", "the key of scope admin for 'purser import', also from …_FILE")
    self.environment = environment
    self.passedOn = environment.filter { Self.isPassedOn($0.key) }
  }

  /// How to reach the broker that the person named.
  ///
  /// - Throws: `KafkaConfigurationError` when none is named.
  func clientConfiguration() throws(KafkaConfigurationError) -> ClientConfiguration {
    try ClientConfiguration(fromEnvironment: kafka)
  }

  static let topicNameRule = "may hold letters, digits, '.', '_' and '-', 200 at most"

  /// Whether Kafka takes a text as (the beginning of) a topic's name.
  static func isTopicName(_ text: String) -> Bool {
    text.utf8.count <= 200
      && text.unicodeScalars.allSatisfy { scalar in
        scalar.isASCII
          && (scalar.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains(scalar))
      }
  }

  /// The settings for `--help`.
  static var helpText: String {
    var reader = SettingsReader([:])
    _ = Settings(&reader, [:])
    return reader.helpText
  }

  /// Where programs are, the language, and tools' own switches; none of Purser's settings, as those
  /// are for each process alone.
  private static func isPassedOn(_ name: String) -> Bool {
    ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "ASAN_OPTIONS", "LLVM_PROFILE_FILE"].contains(name)
      || name.hasPrefix("LC_")
  }
}

/// What `purser doctor` takes from the environment: the services' own settings.
struct DoctorSettings: Sendable {
  /// The file of apps.
  let config: String
  /// Stores that were named.
  let stores: [StoreCheck.Store]
  /// How many shards the services expect; nil where nobody says.
  let shardCount: Int?
  let productionURL: String
  let sandboxURL: String
  /// The value of a variable, for keys that stand in one.
  let variable: @Sendable (String) -> String?

  init(_ reader: inout SettingsReader, _ environment: [String: String]) {
    config = reader.text("PURSER_CONFIG", default: "purser.json", "the file of apps, for 'doctor'")
    var stores: [StoreCheck.Store] = []
    for (service, name) in [
      ("order-service", "ORDER_STORE"), ("verify-service", "VERIFY_STORE"),
      ("entitlement-service", "ENTITLEMENT_STORE"),
    ] {
      let path = reader.optionalText(name, "the store of \(service), for 'doctor' and 'backup'")
      if let path { stores.append(StoreCheck.Store(service: service, path: path)) }
    }
    self.stores = stores
    shardCount = reader.optionalInteger(
      "PURSER_SHARD_COUNT", in: 1...1024, "how many shards the services have, for 'doctor'")
    productionURL = reader.text(
      "VERIFY_API_PRODUCTION_URL", default: "https://api.storekit.apple.com",
      "Apple's API for Production, for 'doctor'")
    sandboxURL = reader.text(
      "VERIFY_API_SANDBOX_URL", default: "https://api.storekit-sandbox.apple.com",
      "Apple's API for the sandbox, for 'doctor'")
    variable = { environment[$0] }
  }
}
