import Events
import Kafka
import ServiceRuntime
import SQLite

/// Whether a store is as new as what its service has published: an old copy, or an empty store on
/// topics with a history, would publish other things under the same numbers.
enum StoreAge {
  /// Makes sure that nothing was published that the store does not know of; blocks.
  ///
  /// - Throws: `ProcessorError.storeIsOld`.
  static func check(_ store: Store, _ topic: Topic, partitions: Int, _ consumer: Consumer) throws {
    let published = try newestPublished(
      store.context.topics.name(of: topic), partitions: partitions, source: store.context.source,
      consumer, timeout: .seconds(5))
    let known = store.context.outbox.newestID
    guard published <= known else {
      throw ProcessorError.storeIsOld(known: known, published: published)
    }
  }

  /// The newest number that the service's last records bear; 0 when there are none.
  ///
  /// Blocks: reads the last record of each partition.
  static func newestPublished(
    _ topic: String, partitions: Int, source: String, _ consumer: Consumer, timeout: Duration
  ) throws -> Int64 {
    let all = (0..<Int32(partitions)).map { TopicPartition(topic, $0) }
    let first = try consumer.beginnings(of: all, timeout: timeout)
    let ends = try consumer.ends(of: all, timeout: timeout)
    var last = ends.filter { $0.value > first[$0.key, default: 0] }.mapValues { $0 - 1 }
    guard !last.isEmpty else { return 0 }
    try consumer.assign(last)
    let deadline = Deadline.after(timeout)
    var newest: Int64 = 0
    while !last.isEmpty, !deadline.hasPassed {
      for record in try consumer.poll(maximum: 500, timeout: .milliseconds(200)) {
        last[record.topicPartition] = nil
        guard record.header("ce_source") == source, !record.isReplayed else { continue }
        newest = max(newest, record.sequence ?? 0)
      }
    }
    return newest
  }
}
