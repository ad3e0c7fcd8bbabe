import Events
import Kafka
import ServiceRuntime

/// Reads partitions of one topic without disturbing anybody.
final class TopicReading {
  /// Why reading ended.
  enum Ending: Equatable {
    case end
    case readerHadEnough
    /// The end was not reached, yet nothing came any more.
    case silence
  }

  /// How long nothing may come before the end is taken as reached.
  static let silence = Duration.seconds(10)
  private static let patience = Duration.seconds(15)

  private let consumer: Consumer
  private let partitions: [TopicPartition]
  private var next: [TopicPartition: Int64] = [:]
  private var ends: [TopicPartition: Int64] = [:]
  private var isAssigned = false

  /// Finds the topic; blocks.
  ///
  /// - Parameters:
  ///   - partition: Only this one.
  ///   - keys: Only the partitions to which these keys go.
  init(
    _ word: String, names: TopicNames, partition: Int32? = nil, keeping keys: Set<[UInt8]>? = nil,
    configuration: ClientConfiguration
  ) throws {
    let admin = try Admin(
      configuration, name: "purser-inspect", log: .complaints, metrics: Metrics())
    defer { admin.closeAndWait() }
    let topics = try admin.topics(timeout: Self.patience)
    let short = Topic(rawValue: word).map(names.name(of:))
    guard let topic = [word, short].compactMap(\.self).compactMap({ topics[$0] }).first else {
      throw ReadingError.noTopic(short ?? word, there: topics.keys.sorted())
    }
    if let partition, partition >= topic.partitions {
      throw ReadingError.noPartition(topic.name, partition, count: topic.partitions)
    }
    let only =
      partition.map { [$0] }
      ?? keys.map { keys in
        Set(keys.map { Partitioner.partition(forKey: $0, partitions: topic.partitions) })
      }
    let numbers = only?.sorted() ?? Array(0..<Int32(topic.partitions))
    partitions = numbers.map { TopicPartition(topic.name, $0) }
    consumer = try Consumer(
      configuration, groupID: "purser-inspect", name: "purser-inspect", log: .complaints,
      metrics: Metrics())
  }

  /// Goes to a place; blocks.
  func begin(at place: StartingPlace) throws {
    var lows: [TopicPartition: Int64] = [:]
    for partition in partitions {
      let (low, high) = try consumer.watermarks(partition, timeout: Self.patience)
      lows[partition] = low
      ends[partition] = high
    }
    switch place {
    case .beginning: next = lows
    case .end: next = ends
    case .offset(let offset):
      for partition in partitions {
        let range = (lows[partition] ?? 0, ends[partition] ?? 0)
        guard offset >= range.0 && offset <= range.1 else {
          throw ReadingError.noOffset(partition, offset, low: range.0, high: range.1)
        }
        next[partition] = offset
      }
    case .time(let time):
      let times = Dictionary(uniqueKeysWithValues: partitions.map { ($0, time) })
      next = try consumer.offsets(forTimes: times, timeout: Self.patience)
      for (partition, offset) in next where offset < 0 { next[partition] = ends[partition] }
    }
    isAssigned = false
  }

  /// Hands over each record, until the end that the topic had at `begin`, or for ever.
  ///
  /// Blocks.
  ///
  /// - Parameter body: False to stop.
  func read(
    follows: Bool, _ body: (ReceivedRecord) throws -> Bool
  ) throws -> Ending {
    if !isAssigned && (follows || !isAtEnd) {
      // Only now, and once: librdkafka 2.0.2 may abort when partitions are taken away, or the client is
      // closed, before their reading has begun (rd_kafka_assignment_partition_stopped).
      try consumer.assign(next)
      isAssigned = true
    }
    var quiet = Deadline.after(Self.silence)
    while follows || !isAtEnd {
      for record in try consumer.poll(maximum: 500, timeout: .milliseconds(500)) {
        quiet = .after(Self.silence)
        next[record.topicPartition] = record.offset + 1
        // What came after the beginning is shown only to one who follows.
        if !follows && record.offset >= ends[record.topicPartition] ?? 0 { continue }
        if try !body(record) { return .readerHadEnough }
      }
      if !follows && quiet.hasPassed { return .silence }
    }
    return .end
  }

  /// The next offset of each partition.
  var positions: [TopicPartition: Int64] { next }

  /// How many records are left up to the end.
  var left: Int64 { ends.reduce(0) { $0 + max(0, $1.value - next[$1.key, default: 0]) } }

  /// Goes on from positions that were noted earlier, where they lie further.
  func goOn(from positions: [TopicPartition: Int64]) {
    for (partition, offset) in positions where next[partition] ?? .max < offset {
      next[partition] = offset
    }
    isAssigned = false
  }

  /// The first record at or after an offset of a partition, nil when there is none; blocks.
  ///
  /// - Throws: `ReadingError` for an offset that the partition does not have.
  static func record(
    _ topic: String, _ partition: Int32, _ offset: Int64, names: TopicNames,
    configuration: ClientConfiguration
  ) throws -> ReceivedRecord? {
    let reading = try TopicReading(
      topic, names: names, partition: partition, configuration: configuration)
    defer { reading.close() }
    try reading.begin(at: .offset(offset))
    var found: ReceivedRecord?
    _ = try reading.read(follows: false) { record in
      found = record
      return false
    }
    return found
  }

  private var isAtEnd: Bool { ends.allSatisfy { next[$0.key] ?? 0 >= $0.value } }

  func close() { consumer.close() }
}

/// Why a topic cannot be read as asked.
enum ReadingError: Error, CustomStringConvertible {
  case noTopic(String, there: [String])
  case noPartition(String, Int32, count: Int)
  case noOffset(TopicPartition, Int64, low: Int64, high: Int64)
  case noRecord(TopicPartition, Int64)

  var description: String {
    switch self {
    case .noTopic(let word, let there):
      let list = there.isEmpty ? "none at all" : there.prefix(40).joined(separator: ", ")
      return "there is no topic '\(word)'; there are: \(list)"
    case .noPartition(let topic, let partition, let count):
      return "\(topic) has no partition \(partition); it has 0 to \(count - 1)"
    case .noOffset(let partition, let offset, let low, let high):
      return "\(partition) has no offset \(offset); it holds \(low) up to, without, \(high)"
    case .noRecord(let partition, let offset):
      return "\(partition) has no record at \(offset)"
    }
  }
}
