import CRdkafka

/// Which partition a key goes to, as Java clients and our producer choose.
public enum Partitioner {
  /// The partition of a key: murmur2 of its bytes, sign bit cleared, modulo the number of partitions
  /// (Kafka's `BuiltInPartitioner.partitionForKey`).
  public static func partition(forKey key: [UInt8], partitions: Int) -> Int32 {
    unsafe key.withUnsafeBytes { bytes in
      // librdkafka reads neither the topic nor the opaques for this partitioner.
      unsafe rd_kafka_msg_partitioner_murmur2(
        nil, bytes.baseAddress, bytes.count, Int32(clamping: max(1, partitions)), nil, nil)
    }
  }
}
