import CRdkafka

/// Copies messages of librdkafka into records.
@safe struct MessageReader {
  private var lastTopic: OpaquePointer?
  private var lastName = ""

  /// A message as a record, or the fault that stands in its place.
  ///
  /// The message stays the caller's to destroy.
  mutating func read(
    _ message: UnsafeMutablePointer<rd_kafka_message_t>
  ) -> Result<ReceivedRecord, KafkaError> {
    let fields = unsafe message.pointee
    let topic = unsafe name(of: fields.rkt)
    guard unsafe fields.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
      return unsafe .failure(fault(fields, topic))
    }
    let record = unsafe ReceivedRecord(
      topic: topic, partition: fields.partition, offset: fields.offset,
      timestamp: rd_kafka_message_timestamp(message, nil),
      key: Self.bytes(fields.key, fields.key_len),
      value: Self.bytes(fields.payload, fields.len),
      headers: Self.headers(of: message))
    return .success(record)
  }

  /// Messages of a batch hold their topics, so one address is one topic while the batch lives.
  private mutating func name(of topic: OpaquePointer?) -> String {
    guard let topic = unsafe topic else { return "" }
    if unsafe topic != lastTopic {
      unsafe lastTopic = topic
      lastName = unsafe text(rd_kafka_topic_name(topic)) ?? ""
    }
    return lastName
  }

  private func fault(_ fields: rd_kafka_message_t, _ topic: String) -> KafkaError {
    let code = unsafe KafkaErrorCode(rawValue: fields.err.rawValue)
    let place = unsafe topic.isEmpty ? "reading" : "reading \(topic)[\(fields.partition)]"
    if code == .positionOutOfRange || code == .offsetOutOfRange {
      return KafkaError(
        code: .positionOutOfRange,
        reason: "\(place): the position to read from is not in the log; was the topic made anew, "
          + "or is this another cluster's store?")
    }
    // An error message carries its words as payload.
    let words = unsafe Self.bytes(fields.payload, fields.len).map {
      String(decoding: $0, as: UTF8.self)
    }
    return KafkaError(
      code: code, reason: "\(place): \(words ?? code.explanation)",
      isFatal: code == .fatal)
  }

  private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
    guard let start = unsafe start else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  private static func headers(
    of message: UnsafeMutablePointer<rd_kafka_message_t>
  ) -> [Header] {
    var list: OpaquePointer?
    guard unsafe rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR,
      let list = unsafe list
    else { return [] }
    let count = unsafe rd_kafka_header_cnt(list)
    var headers: [Header] = []
    headers.reserveCapacity(count)
    for index in 0..<count {
      var name: UnsafePointer<CChar>?
      var value: UnsafeRawPointer?
      var size = 0
      let code = unsafe rd_kafka_header_get_all(list, index, &name, &value, &size)
      guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { break }
      let header = unsafe Header(name: text(name) ?? "", value: bytes(value, size) ?? [])
      headers.append(header)
    }
    return headers
  }
}
