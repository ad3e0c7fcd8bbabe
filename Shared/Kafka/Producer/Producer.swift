public import ServiceRuntime
import CRdkafka

/// Writes records to Kafka, each once and in order, and says for each what became of it.
///
/// Idempotent, `acks=all`, without a time limit of its own: a record waits for the broker until it
/// is delivered, refused for good, or the producer is closed. Reports run on the thread
/// `kafka-poll`, which the producer owns.
public final class Producer: Sendable {
  /// The largest record that is taken, framing included (`Record.wireBytes`): 2 MiB.
  public static let maximumRecordBytes = 2 * 1024 * 1024

  private let client: ClientHandle
  private let loop: ProducerLoop
  private let thread: DedicatedThread

  /// Makes a producer; it connects by itself, and need not reach a broker yet.
  ///
  /// - Parameters:
  ///   - configuration: How to reach the brokers.
  ///   - name: The client's name in logs, metrics and at the broker.
  ///   - log: Where librdkafka's own lines go.
  ///   - metrics: Where deliveries are counted.
  ///   - queueRecords: How many records may wait for their report.
  ///   - queueBytes: How many bytes may wait, in whole KiB.
  ///   - lingerMilliseconds: How long a record waits for others that may go with it.
  /// - Throws: `KafkaError` when librdkafka refuses the configuration.
  public init(
    _ configuration: ClientConfiguration, name: String, log: Log, metrics: Metrics,
    queueRecords: Int = 20_000, queueBytes: Int = 32 * 1024 * 1024, lingerMilliseconds: Int = 0
  ) throws(KafkaError) {
    let context = ClientContext(name: name, log: log, metrics: metrics)
    let client = unsafe try ClientHandle(
      RD_KAFKA_PRODUCER, configuration,
      own: [
        ("enable.idempotence", "true"),
        ("acks", "all"),
        ("message.timeout.ms", "0"),
        ("linger.ms", "\(lingerMilliseconds)"),
        ("partitioner", "murmur2_random"),
        ("message.max.bytes", "\(Self.maximumRecordBytes)"),
        ("queue.buffering.max.messages", "\(queueRecords)"),
        ("queue.buffering.max.kbytes", "\(max(1, queueBytes / 1024))"),
      ],
      context: context, install: { conf in unsafe PendingReport.install(in: conf) })
    let loop = ProducerLoop(client)
    self.client = client
    self.loop = loop
    thread = DedicatedThread(name: "kafka-poll") { loop.run() }
  }

  deinit { loop.close(by: .after(.zero)) }

  /// Produces records in order and waits for all their reports; results stand as the records did.
  ///
  /// A full queue is waited out. Ending the task does not take records back.
  public func send(_ records: [Record]) async -> [DeliveryResult] {
    guard !records.isEmpty else { return [] }
    let batch = DeliveryBatch(count: records.count)
    for (index, record) in records.enumerated() {
      await send(record) { batch.report($0, at: index) }
    }
    return await batch.results()
  }

  private func send(_ record: Record, _ report: @escaping @Sendable (DeliveryResult) -> Void) async
  {
    while true {
      let seen = loop.room.changes
      do {
        return try enqueue(record, report)
      } catch {
        guard error.code == .queueFull else { return report(.failure(error)) }
        await loop.room.changed(since: seen)
      }
    }
  }

  /// Hands a record over without waiting.
  ///
  /// - Parameters:
  ///   - record: The record, which is copied.
  ///   - report: Called exactly once on the thread `kafka-poll`, unless this throws. It must be
  ///     quick: other reports wait behind it.
  /// - Throws: `.queueFull` (wait for reports, then again), `.recordTooLarge`, `.closed`, or the
  ///   fatal error.
  public func enqueue(
    _ record: Record, _ report: @escaping @Sendable (DeliveryResult) -> Void
  ) throws(KafkaError) {
    let bytes = record.wireBytes
    guard bytes <= Self.maximumRecordBytes else {
      throw KafkaError(
        code: .recordTooLarge,
        reason: "record for \(record.topic) has \(bytes) bytes; the limit is "
          + "\(Self.maximumRecordBytes)")
    }
    unsafe try client.use { handle throws(KafkaError) in
      if let fatal = client.context.fatal { throw fatal }
      client.context.deliveries.accepted()
      do throws(KafkaError) {
        unsafe try Producing.enqueue(record, PendingReport(report), on: handle)
      } catch {
        client.context.deliveries.withdrawn()
        throw unsafe client.context.noteFatal(handle) ?? error
      }
    }
  }

  /// The fault after which this producer must be replaced; nil while it works.
  public var fatalError: KafkaError? {
    if let fatal = client.context.fatal { return fatal }
    let fatal: KafkaError?? = unsafe try? client.use { handle in
      unsafe client.context.noteFatal(handle)
    }
    return fatal ?? nil
  }

  /// Waits until every record has its report, or the deadline has passed (false).
  public func flushed(by deadline: Deadline) async -> Bool {
    await loop.flush(by: deadline).value()
  }

  /// Ends the producer: refuses new records, waits for reports, and shortly before the deadline
  /// gives up what is left, so that every report has been called when this returns.
  ///
  /// Then it ends the client and its thread, waiting for that until the deadline.
  public func close(by deadline: Deadline) async {
    let closed = Completion<Void>()
    _ = DedicatedThread(name: "kafka-close") { [loop, thread] in
      Self.close(loop, thread, by: deadline)
      closed.complete(with: ())
    }
    await closed.value()
  }

  /// The same as `close(by:)` for threads of ours, which may block.
  public func closeAndWait(by deadline: Deadline) {
    Self.close(loop, thread, by: deadline)
  }

  private static func close(_ loop: ProducerLoop, _ thread: DedicatedThread, by deadline: Deadline)
  {
    loop.close(by: deadline)
    loop.allReported.wait()
    _ = thread.join(by: deadline)
  }

  /// Makes the producer fail as an idempotent producer does when the broker has lost its state.
  public func triggerFatalErrorForTests() {
    unsafe try? client.use { handle in
      _ = unsafe rd_kafka_test_fatal_error(
        handle, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "a test asked for it")
    }
  }
}
