/// A name and bytes beside a record's value.
public struct Header: Sendable, Equatable {
  /// The name; names may repeat.
  public var name: String
  /// The bytes; a header without a value reads as empty.
  public var value: [UInt8]

  /// Makes a header.
  public init(name: String, value: [UInt8]) {
    self.name = name
    self.value = value
  }

  /// Makes a header of a UTF-8 text.
  public init(name: String, text: String) {
    self.init(name: name, value: Array(text.utf8))
  }

  /// The value read as UTF-8.
  public var text: String { String(decoding: value, as: UTF8.self) }
}

/// A record to be produced.
public struct Record: Sendable, Equatable {
  /// The topic.
  public var topic: String
  /// What decides the partition and what compaction keeps one of; nil goes to any partition.
  public var key: [UInt8]?
  /// The bytes; nil is a tombstone.
  public var value: [UInt8]?
  /// The headers, in order.
  public var headers: [Header]
  /// Milliseconds since 1970 UTC; nil takes the moment of producing.
  public var timestamp: Int64?
  /// A fixed partition; nil lets the key decide as Java clients do (murmur2).
  public var partition: Int32?

  /// Makes a record.
  public init(
    topic: String, key: [UInt8]?, value: [UInt8]?, headers: [Header] = [],
    timestamp: Int64? = nil, partition: Int32? = nil
  ) {
    self.topic = topic
    self.key = key
    self.value = value
    self.headers = headers
    self.timestamp = timestamp
    self.partition = partition
  }

  /// What the record needs at most in a record batch, its own framing and the batch's included.
  ///
  /// Kafka's message format v2: the batch header has 61 bytes, a record's fixed fields with lengths
  /// at most 36, and each header two lengths of at most 5.
  public var wireBytes: Int {
    headers.reduce(97 + (key?.count ?? 0) + (value?.count ?? 0)) { sum, header in
      sum + 10 + header.name.utf8.count + header.value.count
    }
  }
}

/// A record as it stands in a log.
public struct ReceivedRecord: Sendable, Equatable {
  /// The topic.
  public var topic: String
  /// The partition.
  public var partition: Int32
  /// The place in the partition.
  public var offset: Int64
  /// Milliseconds since 1970 UTC; -1 when the record has none.
  public var timestamp: Int64
  /// The key, if it has one.
  public var key: [UInt8]?
  /// The bytes; nil is a tombstone.
  public var value: [UInt8]?
  /// The headers, in order.
  public var headers: [Header]

  /// Makes a record, as tests need it.
  public init(
    topic: String, partition: Int32, offset: Int64, timestamp: Int64, key: [UInt8]?,
    value: [UInt8]?, headers: [Header] = []
  ) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
    self.timestamp = timestamp
    self.key = key
    self.value = value
    self.headers = headers
  }

  /// Where the record stands.
  public var topicPartition: TopicPartition { TopicPartition(topic, partition) }

  /// The first header of a name, read as UTF-8.
  public func header(_ name: String) -> String? {
    headers.first { $0.name == name }?.text
  }
}

/// A partition of a topic.
public struct TopicPartition: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The topic.
  public var topic: String
  /// The partition, from 0.
  public var partition: Int32

  /// Names a partition.
  public init(topic: String, partition: Int32) {
    self.topic = topic
    self.partition = partition
  }

  /// Names a partition.
  public init(_ topic: String, _ partition: Int32) {
    self.init(topic: topic, partition: partition)
  }

  /// Orders by topic, then by partition.
  public static func < (left: TopicPartition, right: TopicPartition) -> Bool {
    (left.topic, left.partition) < (right.topic, right.partition)
  }

  /// Such as `iap.orders[3]`.
  public var description: String { "\(topic)[\(partition)]" }
}
