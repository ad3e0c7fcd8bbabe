public import Kafka

/// A record that a service has read, as it stands in the headers of what came of it.
public struct InputPlace: Sendable, Equatable {
  /// The topic, partition and offset.
  public let partition: TopicPartition
  /// Its place there.
  public let offset: Int64

  init(_ record: ReceivedRecord) {
    partition = record.topicPartition
    offset = record.offset
  }

  /// Reads `topic/partition/offset`; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let partition = Int32(parts[1]), let offset = Int64(parts[2]) else {
      return nil
    }
    self.partition = TopicPartition(String(parts[0]), partition)
    self.offset = offset
  }

  var text: String { "\(partition.topic)/\(partition.partition)/\(offset)" }
}

/// Headers that tell from which place of a store's life a record is; for rebuilding, not for readers.
public enum StoreHeaders {
  /// Which record it came of: `topic/partition/offset`.
  static let input = "purser-input"
  /// For which time it was decided, in UTC milliseconds.
  static let evaluated = "purser-evaluated"
  /// The place in the line of all that its store published; it grows.
  public static let sequence = "purser-sequence"
  /// Which shard published it, such as `1/3`; absent where there is one.
  static let shard = "purser-shard"
  /// Where its way began: `source/signed/received`, times in UTC milliseconds; for measuring only.
  static let way = "purser-way"
  /// Set on what `purser replay again` has published once more.
  public static let replay = "purser-replay"

  static func all(input place: InputPlace?, evaluatedAt: Int64?, way: WayStart?, shard: Shard)
    -> [Header]
  {
    var headers: [Header] = []
    if let name = name(of: shard) { headers.append(Header(name: self.shard, text: name)) }
    if let place { headers.append(Header(name: input, text: place.text)) }
    if let evaluatedAt { headers.append(Header(name: evaluated, text: "\(evaluatedAt)")) }
    if let way { headers.append(Header(name: self.way, text: way.text)) }
    return headers
  }

  /// How a shard names itself; nil where it is alone.
  static func name(of shard: Shard) -> String? {
    shard.isAlone ? nil : "\(shard.ordinal)/\(shard.count)"
  }
}

extension ReceivedRecord {
  /// The record that this one came of, as far as it says.
  public var input: InputPlace? { header(StoreHeaders.input).flatMap { InputPlace($0) } }

  /// For which time it was decided, UTC milliseconds, as far as it says.
  public var evaluatedAt: Int64? { header(StoreHeaders.evaluated).flatMap { Int64($0) } }

  /// Its place in the line of all that its store published, as far as it says.
  public var sequence: Int64? { header(StoreHeaders.sequence).flatMap { Int64($0) } }

  /// Whether a shard of a service published it, as that shard.
  func isPublished(by shard: Shard, of source: String) -> Bool {
    header("ce_source") == source && header(StoreHeaders.shard) == StoreHeaders.name(of: shard)
  }

  /// Whether a service published it when it had another number of shards.
  func isOfAnotherCount(than shard: Shard, of source: String) -> Bool {
    guard header("ce_source") == source else { return false }
    let count = header(StoreHeaders.shard).flatMap { $0.split(separator: "/").last }
      .flatMap { Int($0) }
    return (count ?? 1) != shard.count
  }

  /// Whether it was published once more by `purser replay again`.
  public var isReplayed: Bool { header(StoreHeaders.replay) != nil }
}
