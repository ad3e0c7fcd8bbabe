import FoundationEssentials

/// How to reach the brokers: properties of librdkafka that the operator may choose.
///
/// Everything that Purser's promises rest on is set by `Producer` and `Consumer` themselves and
/// refused here.
public struct ClientConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
  /// Properties by librdkafka's names, such as `bootstrap.servers`; values may be secret.
  let properties: [String: String]

  /// The names of the properties that are set, sorted.
  public var names: [String] { properties.keys.sorted() }

  /// The names without their values, some of which are secret.
  public var description: String { "Kafka properties \(names.joined(separator: ", "))" }
  /// Shows no values.
  public var customMirror: Mirror { Mirror(self, children: ["names": names]) }

  /// A configuration of properties that need no check.
  init(checked properties: [String: String]) { self.properties = properties }

  /// A configuration that names the brokers and nothing else.
  public static func bootstrap(_ servers: String) -> ClientConfiguration {
    ClientConfiguration(checked: ["bootstrap.servers": servers])
  }

  /// A configuration without brokers, for a client that only carries a mock cluster.
  static let unconnected = ClientConfiguration(checked: [:])

  /// Reads what the operator set.
  ///
  /// - Parameter variables: `KAFKA_…` variables without the prefix: `BOOTSTRAP_SERVERS` becomes
  ///   `bootstrap.servers`. A secret may stand in a file: `SASL_PASSWORD_FILE`.
  /// - Throws: `KafkaConfigurationError` with every fault at once.
  public init(fromEnvironment variables: [String: String]) throws(KafkaConfigurationError) {
    var properties: [String: String] = [:]
    var faults: [KafkaConfigurationError.Fault] = []
    for (variable, value) in variables.sorted(by: { $0.key < $1.key }) {
      let setting = Self.setting(variable, value)
      if let problem = setting.problem {
        faults.append(.init(variable: "KAFKA_\(variable)", problem: problem))
      } else if properties.updateValue(setting.value, forKey: setting.property) != nil {
        let problem = "and KAFKA_\(variable)_FILE are both set; give only one of them"
        faults.append(.init(variable: "KAFKA_\(variable.dropLast(5))", problem: problem))
      }
    }
    if properties["bootstrap.servers", default: ""].isEmpty
      && !faults.contains(where: { $0.variable == "KAFKA_BOOTSTRAP_SERVERS" })
    {
      let problem = "is not set; give the brokers as host:port, separated by commas"
      faults.append(.init(variable: "KAFKA_BOOTSTRAP_SERVERS", problem: problem))
    }
    guard faults.isEmpty else { throw KafkaConfigurationError(faults: faults) }
    self.init(checked: properties)
  }

  private static func setting(
    _ variable: String, _ value: String
  ) -> (property: String, value: String, problem: String?) {
    var property = variable.lowercased().replacing("_", with: ".")
    var value = value
    if property.hasSuffix(".file") {
      property.removeLast(".file".count)
      guard ReservedProperties.isSecret(property) else {
        return (property, value, "is for secrets only; set KAFKA_\(variable.dropLast(5)) itself")
      }
      guard let data = try? Data(contentsOf: URL(filePath: value)) else {
        return (property, value, "names a file that cannot be read")
      }
      value = String(decoding: data, as: UTF8.self)
      while value.last?.isNewline == true { value.removeLast() }
    }
    if let reason = ReservedProperties.reason(for: property) {
      return (property, value, "cannot be set: \(reason); remove it")
    }
    return (property, value, ConfigurationHandle.problem(property, value))
  }
}

/// Settings for Kafka that cannot be used.
public struct KafkaConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One variable and what is wrong with it.
  public struct Fault: Sendable, Equatable {
    /// The environment variable, such as `KAFKA_ACKS`.
    public let variable: String
    /// What is wrong and what to do; never the value of a secret.
    public let problem: String
  }

  /// Every fault that was found, sorted by variable.
  public let faults: [Fault]

  /// All faults, a line each.
  public var description: String {
    faults.map { "\($0.variable) \($0.problem)" }.joined(separator: "\n")
  }
}
