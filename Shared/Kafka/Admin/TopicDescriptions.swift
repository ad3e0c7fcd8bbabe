/// A topic to be made.
public struct TopicSpecification: Sendable, Equatable {
  /// The topic.
  public var name: String
  /// How many partitions it gets.
  public var partitions: Int
  /// On how many brokers each record stands; -1 takes the broker's default.
  public var replicationFactor: Int
  /// Settings of the topic by Kafka's names, such as `retention.ms`.
  public var settings: [String: String]

  /// Describes a topic to be made.
  public init(
    name: String, partitions: Int, replicationFactor: Int = -1, settings: [String: String] = [:]
  ) {
    self.name = name
    self.partitions = partitions
    self.replicationFactor = replicationFactor
    self.settings = settings
  }
}

/// A topic as the cluster knows it.
public struct TopicDescription: Sendable, Equatable {
  /// The topic.
  public var name: String
  /// How many partitions it has.
  public var partitions: Int
  /// On how many brokers its first partition stands.
  public var replicationFactor: Int
  /// Whether every partition has a broker that leads it.
  public var hasLeaders: Bool

  /// Describes a topic, as tests need it.
  public init(name: String, partitions: Int, replicationFactor: Int, hasLeaders: Bool) {
    self.name = name
    self.partitions = partitions
    self.replicationFactor = replicationFactor
    self.hasLeaders = hasLeaders
  }
}
