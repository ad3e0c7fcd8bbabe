import CRdkafka

/// Owns one `rd_kafka_topic_partition_list_t`: partitions, each with a number.
@safe struct PositionList: ~Copyable {
  private let handle: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

  /// Makes a list; the number is an offset, or a time where a call asks for one.
  init(_ positions: some Sequence<(key: TopicPartition, value: Int64)>) {
    unsafe handle = rd_kafka_topic_partition_list_new(16)
    for (partition, position) in positions {
      let entry = unsafe rd_kafka_topic_partition_list_add(
        handle, partition.topic, partition.partition)
      unsafe entry?.pointee.offset = position
    }
  }

  deinit { unsafe rd_kafka_topic_partition_list_destroy(handle) }

  /// Lets a closure use the pointer, which may not escape.
  borrowing func withPointer<R, E: Error>(
    _ body: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) throws(E) -> R
  ) throws(E) -> R {
    unsafe try body(handle)
  }

  /// The numbers that a call left in the list, and the first fault of a partition.
  borrowing func results() -> (positions: [TopicPartition: Int64], error: KafkaError?) {
    unsafe Self.read(handle)
  }

  /// Reads a list that librdkafka owns.
  static func read(
    _ list: UnsafePointer<rd_kafka_topic_partition_list_t>
  ) -> (positions: [TopicPartition: Int64], error: KafkaError?) {
    var positions: [TopicPartition: Int64] = [:]
    var error: KafkaError?
    for index in 0..<Int(unsafe list.pointee.cnt) {
      let entry = unsafe list.pointee.elems[index]
      let partition = unsafe TopicPartition(text(entry.topic) ?? "", entry.partition)
      positions[partition] = unsafe entry.offset
      if unsafe entry.err != RD_KAFKA_RESP_ERR_NO_ERROR && error == nil {
        error = unsafe KafkaError(entry.err, "\(partition)")
      }
    }
    return (positions, error)
  }

  private static func read(
    _ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>
  ) -> (positions: [TopicPartition: Int64], error: KafkaError?) {
    unsafe read(UnsafePointer(list))
  }
}
