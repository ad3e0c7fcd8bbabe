import Events
import Kafka
import ServiceRuntime
import SQLite

/// Whether a store is as new as what its service has published: an old copy, or an empty store on
/// topics with a history, would publish other things under the same numbers.
enum StoreAge {
  private static let lookedBack: Int64 = 100

  /// Makes sure that nothing was published that the store does not know of; blocks.
  ///
  /// - Throws: `ProcessorError.storeIsOld`.
  static func check(_ store: Store, _ topic: Topic, partitions: Int, _ consumer: Consumer) throws {
    let published = try newestPublished(
      store.context.topics.name(of: topic), partitions: partitions, by: store.context.shard,
      of: store.context.source, consumer, timeout: .seconds(5))
    let known = store.context.outbox.newestID
    guard published <= known else {
      throw ProcessorError.storeIsOld(known: known, published: published)
    }
  }

  /// The newest number that the last records bear that this shard published, or the service with another
  /// number of shards; 0 when there are none.
  ///
  /// Blocks: reads the last record of each partition, and some before it where shards write to the same
  /// partitions, as the last one may be another's.
  static func newestPublished(
    _ topic: String, partitions: Int, by shard: Shard, of source: String, _ consumer: Consumer,
    timeout: Duration
  ) throws -> Int64 {
    let all = (0..<Int32(partitions)).map { TopicPartition(topic, $0) }
    let first = try consumer.beginnings(of: all, timeout: timeout)
    let ends = try consumer.ends(of: all, timeout: timeout)
    let isAlone = shard.isAlone
    let back = isAlone ? 1 : Self.lookedBack
    var left = ends.filter { $0.value > first[$0.key, default: 0] }
    guard !left.isEmpty else { return 0 }
    try consumer.assign(
      left.reduce(into: [:]) { places, next in
        places[next.key] = max(first[next.key, default: 0], next.value - back)
      })
    let deadline = Deadline.after(timeout)
    var newest: Int64 = 0
    while !left.isEmpty, !deadline.hasPassed {
      for record in try consumer.poll(maximum: 500, timeout: .milliseconds(200)) {
        if isAlone || record.offset + 1 >= left[record.topicPartition, default: 0] {
          left[record.topicPartition] = nil
        }
        guard !record.isReplayed, isOwn(record, shard, source) else { continue }
        newest = max(newest, record.sequence ?? 0)
      }
    }
    return newest
  }

  /// Whether this shard published a record, or the service did with another number of shards.
  ///
  /// A re-shard begins above all numbers of before: greater ones were published since, by the stores that it
  /// made, and an empty store knows of none. Of those only the shard's own partitions count, as a rebuild
  /// reads no others.
  private static func isOwn(_ record: ReceivedRecord, _ shard: Shard, _ source: String) -> Bool {
    record.isPublished(by: shard, of: source)
      || (shard.owns(record.partition) && record.isOfAnotherCount(than: shard, of: source))
  }
}
