import CRdkafka
import ServiceRuntime

/// Admin calls of librdkafka: each sends its request and waits on a queue of its own.
enum AdminRequests {
  static func create(
    _ topics: [TopicSpecification], _ timeout: Duration, _ client: OpaquePointer
  ) throws(KafkaError) {
    var requests: [OpaquePointer?] = unsafe []
    defer { unsafe rd_kafka_NewTopic_destroy_array(&requests, requests.count) }
    for topic in topics { unsafe requests.append(try newTopic(topic)) }
    let answer = unsafe try ask(client, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout, "making topics") {
      options, queue in
      unsafe rd_kafka_CreateTopics(client, &requests, requests.count, options, queue)
    }
    defer { unsafe rd_kafka_event_destroy(answer) }
    var count = 0
    let results = unsafe rd_kafka_CreateTopics_result_topics(
      rd_kafka_event_CreateTopics_result(answer), &count)
    unsafe try checkTopics(results, count, "making topic")
  }

  private static func newTopic(_ topic: TopicSpecification) throws(KafkaError) -> OpaquePointer {
    let size = 256
    let made: Result<OpaquePointer, KafkaError> = unsafe withUnsafeTemporaryAllocation(
      of: CChar.self, capacity: size
    ) { buffer in
      unsafe buffer.initialize(repeating: 0)
      let request = unsafe rd_kafka_NewTopic_new(
        topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replicationFactor),
        buffer.baseAddress, size)
      if let request = unsafe request { return unsafe .success(request) }
      let problem = unsafe text(buffer.baseAddress) ?? "refused"
      return unsafe .failure(
        KafkaError(code: .invalidArgument, reason: "topic \(topic.name): \(problem)"))
    }
    let request = unsafe try made.get()
    for (name, value) in topic.settings {
      let code = unsafe rd_kafka_NewTopic_set_config(request, name, value)
      guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
        unsafe rd_kafka_NewTopic_destroy(request)
        throw KafkaError(code, "topic \(topic.name), setting \(name)")
      }
    }
    return unsafe request
  }

  static func delete(
    _ topics: [String], _ timeout: Duration, _ client: OpaquePointer
  ) throws(KafkaError) {
    var requests: [OpaquePointer?] = unsafe topics.map { unsafe rd_kafka_DeleteTopic_new($0) }
    defer { unsafe rd_kafka_DeleteTopic_destroy_array(&requests, requests.count) }
    let operation = RD_KAFKA_ADMIN_OP_DELETETOPICS
    let answer = unsafe try ask(client, operation, timeout, "deleting topics") { options, queue in
      unsafe rd_kafka_DeleteTopics(client, &requests, requests.count, options, queue)
    }
    defer { unsafe rd_kafka_event_destroy(answer) }
    var count = 0
    let results = unsafe rd_kafka_DeleteTopics_result_topics(
      rd_kafka_event_DeleteTopics_result(answer), &count)
    unsafe try checkTopics(results, count, "deleting topic")
  }

  static func settings(
    of topic: String, _ timeout: Duration, _ client: OpaquePointer
  ) throws(KafkaError) -> [String: String] {
    let resource = unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic)
    var requests: [OpaquePointer?] = unsafe [resource]
    defer { unsafe rd_kafka_ConfigResource_destroy(resource) }
    let context = "asking for the settings of \(topic)"
    let operation = RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS
    let answer = unsafe try ask(client, operation, timeout, context) { options, queue in
      unsafe rd_kafka_DescribeConfigs(client, &requests, 1, options, queue)
    }
    defer { unsafe rd_kafka_event_destroy(answer) }
    var count = 0
    let resources = unsafe rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(answer), &count)
    guard count > 0, let found = unsafe resources?[0] else { return [:] }
    try check(unsafe rd_kafka_ConfigResource_error(found), context)
    var entryCount = 0
    let entries = unsafe rd_kafka_ConfigResource_configs(found, &entryCount)
    var settings: [String: String] = [:]
    for index in 0..<entryCount {
      guard let entry = unsafe entries?[index] else { continue }
      let name = unsafe text(rd_kafka_ConfigEntry_name(entry)) ?? ""
      // Null for values that the broker keeps to itself.
      settings[name] = unsafe text(rd_kafka_ConfigEntry_value(entry))
    }
    return settings
  }

  /// Sends a request and waits for its answer, which is the caller's to destroy.
  private static func ask(
    _ client: OpaquePointer, _ operation: rd_kafka_admin_op_t, _ timeout: Duration,
    _ context: String, _ send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
  ) throws(KafkaError) -> OpaquePointer {
    let milliseconds = Int32(clamping: timeout.wholeMilliseconds)
    let queue = unsafe rd_kafka_queue_new(client)
    defer { unsafe rd_kafka_queue_destroy(queue) }
    let options = unsafe rd_kafka_AdminOptions_new(client, operation)
    defer { unsafe rd_kafka_AdminOptions_destroy(options) }
    unsafe rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, nil, 0)
    // How long the broker itself waits for a topic to be made everywhere.
    if operation != RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS {
      unsafe rd_kafka_AdminOptions_set_operation_timeout(options, milliseconds, nil, 0)
    }
    unsafe send(options, queue)
    // librdkafka answers when the request times out; the second more only bounds the wait.
    guard let answer = unsafe rd_kafka_queue_poll(queue, milliseconds &+ 1000) else {
      throw KafkaError(code: .timedOut, reason: "\(context): no answer in \(timeout)")
    }
    let code = unsafe rd_kafka_event_error(answer)
    guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
      let words = unsafe text(rd_kafka_event_error_string(answer)) ?? ""
      unsafe rd_kafka_event_destroy(answer)
      throw KafkaError(
        code: KafkaErrorCode(rawValue: code.rawValue), reason: "\(context): \(words)")
    }
    return unsafe answer
  }

  private static func checkTopics(
    _ results: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int, _ context: String
  ) throws(KafkaError) {
    for index in 0..<count {
      guard let result = unsafe results?[index] else { continue }
      let code = unsafe rd_kafka_topic_result_error(result)
      guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
      let topic = unsafe text(rd_kafka_topic_result_name(result)) ?? ""
      let words = unsafe text(rd_kafka_topic_result_error_string(result)) ?? ""
      throw KafkaError(
        code: KafkaErrorCode(rawValue: code.rawValue), reason: "\(context) \(topic): \(words)")
    }
  }
}
