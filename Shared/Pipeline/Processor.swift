public import Events
public import Kafka
public import ServiceRuntime
import SQLite
import Synchronization

/// Reads topics and changes the store: poll a batch, decode off the writer, one writer job with
/// every record, the outbox rows and the input positions, COMMIT, wake the relay.
///
/// Partitions are assigned with the positions in the store, never subscribed. Kafka's own group
/// offsets follow when what a batch published is delivered: they say what is published, no more.
public final class Processor: Service {
  /// The name that logs show; also the thread's.
  public let name = "kafka-in"

  /// How many records one writer job takes at most.
  static let batchLimit = 500

  private let inputs: [Topic: any RecordHandler]
  private let store: Store
  private let relay: Relay
  private let makeConsumer: @Sendable () throws -> Consumer
  private let checkTopics: @Sendable () throws -> [Topic: Int]
  private let log: Log
  private let metrics: ProcessorMetrics
  private let stopping = Atomic<Bool>(false)
  private let caughtUp = Atomic<Bool>(false)
  private let connected = Atomic<Bool>(false)
  private let progress = ReadingProgress()
  private let consumer = Mutex<Consumer?>(nil)
  private let pausing = Wake()
  private let ended = Completion<Void>()

  /// Makes the processor of a store.
  ///
  /// - Parameters:
  ///   - inputs: Which topics are read, and by whom.
  ///   - store: What is changed.
  ///   - relay: Publishes what the changes put into the outbox.
  ///   - log: Where it speaks.
  ///   - metrics: Where it counts.
  ///   - checkTopics: Asks the broker for the partition count of each input; throws
  ///     `TopicsUnusable` when they can never serve, anything else when they may later.
  ///   - makeConsumer: Makes the consumer.
  public init(
    inputs: [Topic: any RecordHandler], store: Store, relay: Relay, log: Log, metrics: Metrics,
    checkTopics: @escaping @Sendable () throws -> [Topic: Int],
    makeConsumer: @escaping @Sendable () throws -> Consumer
  ) {
    self.inputs = inputs
    self.store = store
    self.relay = relay
    self.log = log
    self.metrics = ProcessorMetrics(metrics, store: store)
    self.checkTopics = checkTopics
    self.makeConsumer = makeConsumer
  }

  /// Whether everything that was in the inputs at the start has been read.
  public var isCaughtUp: Bool { caughtUp.load(ordering: .acquiring) }

  /// Whether the broker answered at the last try.
  public var isConnected: Bool { connected.load(ordering: .acquiring) }

  /// Runs until stopped.
  ///
  /// - Throws: `ProcessorError` when going on would be wrong.
  public func run() async throws {
    let failure = Completion<(any Error)?>()
    let thread = DedicatedThread(name: name) {
      do {
        try self.loop()
        failure.complete(with: nil)
      } catch {
        failure.complete(with: error)
      }
    }
    await thread.joined()
    ended.complete(with: ())
    if let error = await failure.value() { throw error }
  }

  /// Finishes the batch at hand and leaves the topics.
  public func stop(by deadline: Deadline) async {
    stopping.store(true, ordering: .releasing)
    pausing.signal()
    consumer.withLock { $0 }?.wake()
    await ended.value()
  }

  private var isStopping: Bool { stopping.load(ordering: .acquiring) }

  /// Blocks until the given topics are read beyond the end that they have now (design law 11).
  ///
  /// False when that could not be made sure by the deadline: then a timer must not speak. Only for
  /// threads of ours.
  public func hasReadPast(_ topics: Set<Topic>, by deadline: Deadline) -> Bool {
    guard let consumer = consumer.withLock({ $0 }) else { return false }
    let names = Set(topics.map { store.context.topics.name(of: $0) })
    var ends: [TopicPartition: Int64] = [:]
    for partition in progress.positions.keys where names.contains(partition.topic) {
      guard !isStopping,
        let marks = try? consumer.watermarks(partition, timeout: deadline.remaining)
      else { return false }
      ends[partition] = marks.high
    }
    guard !ends.isEmpty else { return false }
    return progress.waitUntilRead(ends, by: deadline)
  }

  private func loop() throws {
    guard let partitions = try waitForTopics() else { return }
    try retryWaitingRecords()
    guard let (consumer, ends) = try assign(partitions) else { return }
    defer {
      self.consumer.withLock { $0 = nil }
      consumer.close()
    }
    var published = PublishedPositions()
    caughtUp.store(isRead(ends), ordering: .releasing)

    while !isStopping {
      let records: [ReceivedRecord]
      do {
        records = try consumer.poll(maximum: Self.batchLimit, timeout: .milliseconds(500))
        connected.store(true, ordering: .releasing)
      } catch let error as KafkaError where error.isRetriable && !error.isFatal {
        connected.store(false, ordering: .releasing)
        metrics.pollFailures.add()
        log.warning("the broker does not answer; trying again", ["error": LogValue(error)])
        pausing.wait(atMost: .milliseconds(200))
        continue
      }
      if !records.isEmpty, let id = process(records.map(decode)) {
        published.add(progress.positions, outboxID: id)
        if !isCaughtUp && isRead(ends) { caughtUp.store(true, ordering: .releasing) }
      }
      if let positions = published.take(deliveredThrough: relay.deliveredThrough) {
        do {
          try consumer.commit(positions)
        } catch {
          log.warning("positions could not be committed to Kafka", ["error": LogValue(error)])
        }
      }
    }
  }

  private func isRead(_ ends: [TopicPartition: Int64]) -> Bool {
    let positions = progress.positions
    return ends.allSatisfy { positions[$0.key, default: 0] >= $0.value }
  }

  /// Decodes a record off the writer.
  private func decode(_ record: ReceivedRecord) -> Batch.Entry {
    guard let topic = store.context.topics.topic(named: record.topic), let handler = inputs[topic]
    else { return Batch.Entry(record: record, content: .nothing) }
    do {
      let work = try handler.prepare(record)
      return Batch.Entry(record: record, content: work.map { .work($0) } ?? .nothing)
    } catch let fault as Undecodable {
      return Batch.Entry(record: record, content: .undecodable(fault))
    } catch {
      // A fault of the handler itself: it gets its tries in the writer job and is then a dead letter.
      return Batch.Entry(record: record, content: .work({ _ in throw error }))
    }
  }

  /// Applies a batch, as often as it takes; the outbox id after it, or nil when stopping.
  ///
  /// A store or disk error stops the reading, not the process: nothing was changed, and the same
  /// batch is tried again.
  private func process(_ entries: [Batch.Entry]) -> Int64? {
    let batch = Batch(entries: entries)
    let log = log
    while true {
      let began = ContinuousClock.now
      do {
        let result = try store.changeAndWait { change in try batch.apply(change, log: log) }
        progress.advance(batch.positions)
        metrics.count(result, entries: entries.count, took: ContinuousClock.now - began)
        return result.outboxID
      } catch {
        metrics.storeFailures.add()
        self.log.error("the store failed; the batch is tried again", ["error": LogValue(error)])
        pausing.wait(atMost: .milliseconds(500))
        if isStopping { return nil }
      }
    }
  }

  /// Tries the records that wait behind a handler's fault, for instance after a mended build.
  private func retryWaitingRecords() throws {
    var after: Int64 = 0
    while !isStopping {
      let from = after
      let waiting = try store.readers.readAndWait { reader in
        try WaitingRecords.all(reader, after: from, limit: Self.batchLimit)
      }
      guard let last = waiting.last else { return }
      after = last.0
      log.info("trying records that wait", ["count": LogValue(waiting.count)])
      _ = process(
        waiting.map { id, record in
          var entry = decode(record)
          entry.waitingID = id
          return entry
        })
    }
  }

  /// Blocks until the broker has the topics; nil when stopping.
  private func waitForTopics() throws -> [Topic: Int]? {
    while !isStopping {
      do {
        let partitions = try checkTopics()
        connected.store(true, ordering: .releasing)
        return partitions
      } catch let error as TopicsUnusable {
        throw ProcessorError.topicsUnusable(error)
      } catch {
        connected.store(false, ordering: .releasing)
        log.warning("the topics are not there yet; trying again", ["error": LogValue(error)])
        pausing.wait(atMost: .milliseconds(500))
      }
    }
    return nil
  }

  /// Assigns all partitions at the store's positions; nil when stopping.
  private func assign(_ partitions: [Topic: Int]) throws -> (Consumer, [TopicPartition: Int64])? {
    let stored = try store.readers.readAndWait { reader in try InputPositions.all(reader) }
    let consumer = try makeConsumer()
    while !isStopping {
      do {
        var positions: [TopicPartition: Int64] = [:]
        var ends: [TopicPartition: Int64] = [:]
        for (topic, count) in partitions {
          for number in 0..<Int32(count) {
            let partition = TopicPartition(
              topic: store.context.topics.name(of: topic), partition: number)
            let marks = try consumer.watermarks(partition, timeout: .seconds(5))
            let position = stored[partition] ?? marks.low
            guard position <= marks.high else {
              consumer.close()
              throw ProcessorError.positionBeyondEnd(partition, position: position, end: marks.high)
            }
            if position < marks.low {
              log.error(
                "records were removed from the topic before they were read",
                [
                  "topic": .string(partition.topic), "partition": LogValue(number),
                  "position": LogValue(position), "first": LogValue(marks.low),
                ])
            }
            positions[partition] = max(position, marks.low)
            ends[partition] = marks.high
          }
        }
        try consumer.assign(positions)
        progress.advance(positions)
        self.consumer.withLock { $0 = consumer }
        return (consumer, ends)
      } catch let error as KafkaError where error.isRetriable && !error.isFatal {
        log.warning("the partitions cannot be assigned yet", ["error": LogValue(error)])
        pausing.wait(atMost: .milliseconds(500))
      }
    }
    consumer.close()
    return nil
  }
}
