import CRdkafka
public import ServiceRuntime
import Synchronization

/// Reads the partitions that it is told to, from the positions that it is told.
///
/// It never joins a group; its group id serves to commit positions, which tell others how far the
/// service is. `poll` has one caller at a time, on a thread of ours. The other calls that ask the
/// broker block too.
public final class Consumer: Sendable {
  /// The position of the oldest record that the log still has.
  public static let beginning: Int64 = -2
  /// The position behind the newest record.
  public static let end: Int64 = -1

  private let client: ClientHandle
  private let queue: ConsumerQueue
  private let records: Counter
  private let bytes: Counter
  /// Held by `poll`: the fault that stood behind the records of the last batch.
  private let deferred = Mutex<KafkaError?>(nil)

  /// Makes a consumer; it connects by itself, and need not reach a broker yet.
  ///
  /// - Parameters:
  ///   - configuration: How to reach the brokers.
  ///   - groupID: Under which name positions are committed.
  ///   - name: The client's name in logs, metrics and at the broker.
  ///   - log: Where librdkafka's own lines go.
  ///   - metrics: Where records are counted.
  ///   - queueBytesLimit: How many bytes are fetched ahead at most.
  /// - Throws: `KafkaError` when librdkafka refuses the configuration.
  public init(
    _ configuration: ClientConfiguration, groupID: String, name: String, log: Log,
    metrics: Metrics, queueBytesLimit: Int = 16 * 1024 * 1024
  ) throws(KafkaError) {
    client = unsafe try ClientHandle(
      RD_KAFKA_CONSUMER, configuration,
      own: [
        ("group.id", groupID),
        ("enable.auto.commit", "false"),
        ("enable.auto.offset.store", "false"),
        ("auto.offset.reset", "error"),
        ("enable.partition.eof", "false"),
        ("allow.auto.create.topics", "false"),
        ("queued.max.messages.kbytes", "\(max(1, queueBytesLimit / 1024))"),
        ("fetch.message.max.bytes", "\(Producer.maximumRecordBytes)"),
      ],
      context: ClientContext(name: name, log: log, metrics: metrics),
      install: { conf in unsafe CommitBook.install(in: conf) })
    let queue: ConsumerQueue? = unsafe try client.use { handle in unsafe ConsumerQueue(of: handle) }
    guard let queue else {
      throw KafkaError(code: .invalidArgument, reason: "Kafka consumer \(name) has no queue")
    }
    self.queue = queue
    records = metrics.counter(
      "kafka_consumer_records_total", "Records read.", labels: ["client": name])
    bytes = metrics.counter(
      "kafka_consumer_bytes_total", "Bytes of keys and values read.", labels: ["client": name])
  }

  deinit { close(by: .after(.zero)) }

  /// Reads these partitions from these positions, and no others.
  ///
  /// - Parameter positions: For each partition the offset of the next record, or `beginning`, `end`.
  public func assign(_ positions: [TopicPartition: Int64]) throws(KafkaError) {
    let list = PositionList(positions)
    unsafe try client.use { handle throws(KafkaError) in
      let code = unsafe list.withPointer { list in unsafe rd_kafka_assign(handle, list) }
      try check(code, "assigning partitions")
    }
  }

  /// Takes the records that are there, waiting up to a time for the first.
  ///
  /// Blocks. Also serves the client's log lines and callbacks.
  ///
  /// - Parameters:
  ///   - maximum: The most records to take, from 1.
  ///   - timeout: How long to wait; zero does not wait.
  /// - Returns: Records, in order within each partition; empty when none came or `wake` was called.
  /// - Throws: `.positionOutOfRange` when a position is not in the log; other faults of a partition.
  ///   A fault behind good records is thrown by the next call.
  public func poll(maximum: Int, timeout: Duration) throws(KafkaError) -> [ReceivedRecord] {
    if let error = takeDeferred() { throw error }
    client.serve(milliseconds: 0)
    let milliseconds = Int32(clamping: timeout.wholeMilliseconds)
    let (received, fault) = unsafe try client.use { handle throws(KafkaError) in
      unsafe try sendCommits(on: handle)
      return take(maximum: maximum, milliseconds: milliseconds)
    }
    count(received)
    if let fault {
      if received.isEmpty { throw fault }
      deferred.withLock { $0 = fault }
    }
    return received
  }

  private func takeDeferred() -> KafkaError? {
    deferred.withLock { deferred in
      defer { deferred = nil }
      return deferred
    }
  }

  private func take(
    maximum: Int, milliseconds: Int32
  ) -> (received: [ReceivedRecord], fault: KafkaError?) {
    var reader = MessageReader()
    var received: [ReceivedRecord] = []
    var fault: KafkaError?
    unsafe queue.take(maximum: max(1, maximum), milliseconds: milliseconds) { message in
      switch unsafe reader.read(message) {
      case .success(let record): received.append(record)
      case .failure(let error): fault = fault ?? error
      }
    }
    return (received, fault)
  }

  private func count(_ received: [ReceivedRecord]) {
    guard !received.isEmpty else { return }
    records.add(received.count)
    bytes.add(received.reduce(0) { $0 + ($1.key?.count ?? 0) + ($1.value?.count ?? 0) })
  }

  /// Makes a `poll` that waits return at once with what it has, or the next one if none waits.
  public func wake() {
    unsafe try? client.use(asOwner: true) { _ in queue.interrupt() }
  }

  /// Asks the broker where the log begins and ends: the offset of its oldest record, and the
  /// offset that its next record will get.
  ///
  /// Blocks.
  public func watermarks(
    _ partition: TopicPartition, timeout: Duration
  ) throws(KafkaError) -> (low: Int64, high: Int64) {
    unsafe try client.use { handle throws(KafkaError) in
      var low: Int64 = 0
      var high: Int64 = 0
      let code = unsafe rd_kafka_query_watermark_offsets(
        handle, partition.topic, partition.partition, &low, &high,
        Int32(clamping: timeout.wholeMilliseconds))
      try check(code, "asking where \(partition) begins and ends")
      return (low, high)
    }
  }

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

  /// Finds for each partition the first record at or after a time.
  ///
  /// Blocks.
  ///
  /// - Parameter times: Milliseconds since 1970 UTC.
  /// - Returns: Its offset, or `end` where all records are older.
  public func offsets(
    forTimes times: [TopicPartition: Int64], timeout: Duration
  ) throws(KafkaError) -> [TopicPartition: Int64] {
    let list = PositionList(times)
    return unsafe try client.use { handle throws(KafkaError) in
      let code = unsafe list.withPointer { list in
        unsafe rd_kafka_offsets_for_times(
          handle, list, Int32(clamping: timeout.wholeMilliseconds))
      }
      try check(code, "finding records by time")
      let (positions, error) = list.results()
      if let error { throw error }
      return positions
    }
  }

  /// Commits positions (each the offset of the next record) to the broker, without waiting.
  ///
  /// One commit is under way at a time; later `poll` calls send what came meanwhile. A commit that
  /// fails is logged and counted.
  public func commit(_ positions: [TopicPartition: Int64]) throws(KafkaError) {
    guard !positions.isEmpty else { return }
    client.context.commits.add(positions)
    unsafe try client.use { handle throws(KafkaError) in unsafe try sendCommits(on: handle) }
  }

  private func sendCommits(on handle: OpaquePointer) throws(KafkaError) {
    unsafe try client.context.commits.send(on: handle)
  }

  /// Asks the broker for the committed positions; partitions without one are absent.
  ///
  /// Blocks.
  public func committed(
    _ partitions: [TopicPartition], timeout: Duration
  ) throws(KafkaError) -> [TopicPartition: Int64] {
    let list = PositionList(partitions.map { (key: $0, value: 0) })
    return unsafe try client.use { handle throws(KafkaError) in
      let code = unsafe list.withPointer { list in
        unsafe rd_kafka_committed(handle, list, Int32(clamping: timeout.wholeMilliseconds))
      }
      try check(code, "asking for committed positions")
      let (positions, error) = list.results()
      if let error { throw error }
      return positions.filter { $0.value >= 0 }
    }
  }

  /// Stops fetching from partitions until `resume`; records fetched before may be dropped and are
  /// fetched again.
  public func pause(_ partitions: [TopicPartition]) throws(KafkaError) {
    let list = PositionList(partitions.map { (key: $0, value: 0) })
    unsafe try client.use { handle throws(KafkaError) in
      let code = unsafe list.withPointer { unsafe rd_kafka_pause_partitions(handle, $0) }
      try check(code, "pausing partitions")
    }
  }

  /// Fetches from paused partitions again.
  public func resume(_ partitions: [TopicPartition]) throws(KafkaError) {
    let list = PositionList(partitions.map { (key: $0, value: 0) })
    unsafe try client.use { handle throws(KafkaError) in
      let code = unsafe list.withPointer { unsafe rd_kafka_resume_partitions(handle, $0) }
      try check(code, "resuming partitions")
    }
  }

  /// Waits shortly for commits under way and ends the client; a `poll` that waits returns.
  ///
  /// Blocks.
  public func close(by deadline: Deadline = .after(.seconds(1))) {
    client.refuse()
    wake()
    while client.context.commits.isBusy && !deadline.hasPassed {
      // A commit that no poll was there to send is sent here.
      unsafe try? client.use(asOwner: true) { handle throws(KafkaError) in
        unsafe try sendCommits(on: handle)
      }
      client.serve(milliseconds: Int32(clamping: deadline.remaining.wholeMilliseconds))
    }
    // Without a group there is none to leave, and leaving would wait for a broker that is away.
    client.destroy(flags: RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) { [queue] in queue.destroy() }
  }
}

/// Throws what a C call returned, unless it is success.
func check(_ code: rd_kafka_resp_err_t, _ context: @autoclosure () -> String) throws(KafkaError) {
  guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
  throw KafkaError(code, context())
}
