import Events
import Kafka

/// Which part of the partitions a process owns: those whose number leaves its ordinal when divided by
/// the count.
public struct Shard: Sendable, Equatable, CustomStringConvertible {
  /// From 0.
  public let ordinal: Int
  /// How many shards there are.
  public let count: Int
  /// How many partitions each topic has.
  public let partitions: Int

  /// The shard that owns everything.
  public static let only = Shard(ordinal: 0, count: 1, partitions: 12)

  /// Makes a shard; `ordinal` is below `count`, and `count` not above `partitions`.
  public init(ordinal: Int, count: Int, partitions: Int) {
    self.ordinal = ordinal
    self.count = count
    self.partitions = partitions
  }

  /// Whether there are others.
  public var isAlone: Bool { count == 1 }

  /// Whether a partition of an input belongs to it.
  public func owns(_ partition: Int32) -> Bool { Int(partition) % count == ordinal }

  /// Whether it owns the partition that a key goes to.
  public func owns(key: String) -> Bool { isAlone || owns(partition(of: key)) }

  /// The partition that a key goes to.
  public func partition(of key: String) -> Int32 {
    Partitioner.partition(forKey: Array(key.utf8), partitions: partitions)
  }

  /// The ordinal of the shard that owns a partition.
  public func home(of partition: Int32) -> Int { Int(partition) % count }

  /// The ordinal of the shard that owns the partition of a key.
  public func home(of key: String) -> Int { home(of: partition(of: key)) }

  /// What names the shard beside its service, such as in the name of its Kafka group: nothing where it
  /// is alone.
  public var suffix: String { isAlone ? "" : ".\(ordinal)-of-\(count)" }

  /// The Kafka group in which it keeps the positions of a service.
  func group(of service: String, _ topics: TopicNames) -> String {
    "\(topics.prefix)\(service)\(suffix)"
  }

  /// Whether it reads a partition: of topics that are read in full all of them, of others its own.
  func reads(_ partition: TopicPartition, whole: Set<String>) -> Bool {
    whole.contains(partition.topic) || owns(partition.partition)
  }

  /// In words.
  public var description: String { "shard \(ordinal) of \(count)" }
}
