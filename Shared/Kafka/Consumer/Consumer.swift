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

  let client: ClientHandle
  private let queue: ConsumerQueue
  private let nudge: FetchNudge
  private let records: Counter
  private let bytes: Counter
  private let isPolling = Atomic<Bool>(false)
  /// The fault that stood behind the records of the last batch.
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
        // Without membership this only says how long a commit waits for the group's coordinator,
        // and so how long `close` may take when the broker is away.
        ("session.timeout.ms", "2000"),
        ("heartbeat.interval.ms", "500"),
        ("enable.auto.commit", "false"),
        ("enable.auto.offset.store", "false"),
        ("auto.offset.reset", "error"),
        ("enable.partition.eof", "false"),
        ("allow.auto.create.topics", "false"),
        ("queued.max.messages.kbytes", "\(max(1, queueBytesLimit / 1024))"),
        ("fetch.message.max.bytes", "\(Producer.maximumRecordBytes)"),
        // A fetch may overshoot the queue's limit by this much.
        ("fetch.max.bytes", "\(2 * Producer.maximumRecordBytes)"),
      ],
      context: ClientContext(name: name, log: log, metrics: metrics),
      install: { conf in unsafe CommitBook.install(in: conf) })
    let queue: ConsumerQueue? = unsafe try client.use { handle in unsafe ConsumerQueue(of: handle) }
    guard let queue else {
      throw KafkaError(code: .invalidArgument, reason: "Kafka consumer \(name) has no queue")
    }
    self.queue = queue
    nudge = FetchNudge(queueBytesLimit: queueBytesLimit)
    records = metrics.counter(
      "kafka_consumer_records_total", "Records read.", labels: ["client": name])
    bytes = metrics.counter(
      "kafka_consumer_bytes_total", "Bytes of keys and values read.", labels: ["client": name])
  }

  deinit { close(by: .after(.zero)) }

  /// Reads these partitions from these positions, and no others.
  ///
  /// It starts at once where the client knows the partition's leader, as after `watermarks`. With
  /// `beginning` or `end` for an unknown leader librdkafka waits half a second first.
  ///
  /// - Parameter positions: For each partition the offset of the next record, or `beginning`, `end`.
  public func assign(_ positions: [TopicPartition: Int64]) throws(KafkaError) {
    let list = PositionList(positions)
    unsafe try client.use { handle throws(KafkaError) in
      let code = unsafe list.withPointer { list in unsafe rd_kafka_assign(handle, list) }
      try check(code, "assigning partitions")
    }
    nudge.assigned(positions.keys)
  }

  /// Takes the records that are there, waiting up to a time for the first.
  ///
  /// Blocks. Also serves the client's log lines and callbacks.
  ///
  /// - Parameters:
  ///   - maximum: The most records to take, from 1.
  ///   - timeout: How long to wait; zero does not wait.
  /// - Returns: Records, in order within each partition; empty when none came or `wake` was called.
  /// - Throws: `.positionOutOfRange` when a position is not in the log, or another fault of a
  ///   partition. What is retriable librdkafka mends by itself: poll again. A fault behind good
  ///   records is thrown by the next call.
  public func poll(maximum: Int, timeout: Duration) throws(KafkaError) -> [ReceivedRecord] {
    // Taking batches needs a single caller (INTRODUCTION.md of librdkafka).
    precondition(
      !isPolling.exchange(true, ordering: .acquiringAndReleasing), "two threads poll a consumer")
    defer { isPolling.store(false, ordering: .releasing) }
    if let error = takeDeferred() { throw error }
    client.serve(milliseconds: 0)
    let milliseconds = Int32(clamping: timeout.wholeMilliseconds)
    let (received, fault) = unsafe try client.use { handle throws(KafkaError) in
      unsafe try sendCommits(on: handle)
      unsafe nudge.runIfDue(on: handle) { queue.length }
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
    let size = received.reduce(0) { $0 + ($1.key?.count ?? 0) + ($1.value?.count ?? 0) }
    bytes.add(size)
    nudge.took(records: received.count, bytes: size)
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

  /// Ends the client: waits until the deadline for commits under way; a `poll` that waits returns.
  ///
  /// Blocks until the deadline at most, and goes on to end the client on a thread of its own.
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
    let closing = DedicatedThread(name: "kafka-close") { [client, queue] in
      // Without a group there is none to leave, and leaving would wait for a broker that is away.
      client.destroy(flags: RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) { queue.destroy() }
    }
    _ = closing.join(by: max(deadline, .after(.milliseconds(100))))
  }
}

/// Throws what a C call returned, unless it is success.
func check(_ code: rd_kafka_resp_err_t, _ context: @autoclosure () -> String) throws(KafkaError) {
  guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
  throw KafkaError(code, context())
}
