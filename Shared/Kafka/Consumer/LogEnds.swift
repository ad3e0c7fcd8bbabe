import CRdkafka

/// Where logs begin and end, for many partitions at once.
extension Consumer {
  /// Asks the broker where logs begin: for each partition the offset of its oldest record.
  ///
  /// Blocks. One request to each broker, however many partitions.
  public func beginnings(
    of partitions: some Sequence<TopicPartition>, timeout: Duration
  ) throws(KafkaError) -> [TopicPartition: Int64] {
    try places(Self.beginning, of: partitions, timeout: timeout)
  }

  /// Asks the broker where logs end: for each partition the offset that its next record will get.
  ///
  /// Blocks. One request to each broker, however many partitions.
  public func ends(
    of partitions: some Sequence<TopicPartition>, timeout: Duration
  ) throws(KafkaError) -> [TopicPartition: Int64] {
    try places(Self.end, of: partitions, timeout: timeout)
  }

  /// Where a log ended when the client last fetched from it; nil before that.
  ///
  /// Asks nobody and does not block. While nothing is fetched, as when the broker is away, it stands still.
  public func knownEnd(of partition: TopicPartition) -> Int64? {
    unsafe try? client.use { handle throws(KafkaError) in
      var low: Int64 = 0
      var high: Int64 = 0
      let code = unsafe rd_kafka_get_watermark_offsets(
        handle, partition.topic, partition.partition, &low, &high)
      return code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil
    }
  }

  /// Kafka's ListOffsets takes -2 and -1 in place of a time for the beginning and the end.
  private func places(
    _ place: Int64, of partitions: some Sequence<TopicPartition>, timeout: Duration
  ) throws(KafkaError) -> [TopicPartition: Int64] {
    var asked: [TopicPartition: Int64] = [:]
    for partition in partitions { asked[partition] = place }
    guard !asked.isEmpty else { return [:] }
    let found = try offsets(forTimes: asked, timeout: timeout)
    guard let missing = asked.keys.first(where: { found[$0, default: -1] < 0 }) else {
      return found
    }
    throw KafkaError(
      code: .timedOut, reason: "the broker did not say where \(missing) begins or ends")
  }
}
