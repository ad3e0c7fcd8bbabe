import Kafka

/// Where reading begins: the store's positions held against the logs of the broker.
struct StartPlan {
  /// The offset to read first, of each partition.
  private(set) var positions: [TopicPartition: Int64] = [:]
  /// Where the logs ended at the start.
  let ends: [TopicPartition: Int64]
  /// Partitions whose log begins behind the store's position.
  private(set) var lost: [TopicPartition: (position: Int64, first: Int64)] = [:]

  /// Asks the broker; blocks.
  ///
  /// - Throws: `ProcessorError.positionBeyondEnd`; `KafkaError` when the broker does not answer.
  init(
    _ all: [TopicPartition], stored: [TopicPartition: Int64], _ consumer: Consumer,
    timeout: Duration
  ) throws {
    let first = try consumer.beginnings(of: all, timeout: timeout)
    ends = try consumer.ends(of: all, timeout: timeout)
    let known = Set(all)
    let names = Set(all.map(\.topic))
    for (partition, position) in stored where names.contains(partition.topic) && position > 0 {
      let end = known.contains(partition) ? ends[partition, default: 0] : 0
      guard position <= end else {
        throw ProcessorError.positionBeyondEnd(partition, position: position, end: end)
      }
    }
    for partition in all {
      let low = first[partition, default: 0]
      let position = stored[partition] ?? low
      if position < low { lost[partition] = (position, low) }
      positions[partition] = max(position, low)
    }
  }
}
