public import Events
public import Kafka
import SQLite
public import ServiceRuntime
import Synchronization

/// Reads topics and changes the store: poll a batch, decode off the writer, one writer job with
/// every record, the outbox rows and the input positions, COMMIT, wake the relay.
///
/// Partitions are assigned with the positions in the store, never subscribed. Kafka's own group
/// offsets follow when what a batch published is delivered: they say what is published, no more.
public final class Processor: Service {
  /// The name that logs show; also the thread's.
  public let name = "kafka-in"

  let inputs: [Topic: any RecordHandler]
  private let wholeInputs: Set<Topic>
  let store: Store
  let log: Log
  let metrics: ProcessorMetrics
  let progress = ReadingProgress()
  private let relay: Relay
  private let outboxLimit: Int64
  private let makeConsumer: @Sendable () throws -> Consumer
  private let checkTopics: @Sendable () throws -> [Topic: Int]
  private let stopping = Atomic<Bool>(false)
  private let caughtUp = Atomic<Bool>(false)
  private let connected = Atomic<Bool>(false)
  let consumer = Mutex<Consumer?>(nil)
  private let pausing = Wake()
  private let ended = Completion<Void>()

  /// Makes the processor of a store.
  ///
  /// - Parameters:
  ///   - inputs: Which topics are read, and by whom.
  ///   - wholeInputs: Of them those that are read in full; of the others the partitions of the
  ///     store's shard.
  ///   - store: What is changed.
  ///   - relay: Publishes what the changes put into the outbox.
  ///   - log: Where it speaks.
  ///   - metrics: Where it counts.
  ///   - checkTopics: Asks the broker for the partition count of each input (other topics in the
  ///     answer are not read); throws `TopicsUnusable` when they can never serve, anything else when
  ///     they may later.
  ///   - makeConsumer: Makes the consumer.
  public convenience init(
    inputs: [Topic: any RecordHandler], wholeInputs: Set<Topic> = [], store: Store, relay: Relay,
    log: Log, metrics: Metrics,
    checkTopics: @escaping @Sendable () throws -> [Topic: Int],
    makeConsumer: @escaping @Sendable () throws -> Consumer
  ) {
    self.init(
      inputs: inputs, wholeInputs: wholeInputs, store: store, relay: relay, log: log,
      metrics: metrics,
      checkTopics: checkTopics, makeConsumer: makeConsumer, outboxLimit: 50_000)
  }

  /// The same, with the number of rows that the outbox may be behind before reading waits.
  init(
    inputs: [Topic: any RecordHandler], wholeInputs: Set<Topic> = [], store: Store, relay: Relay,
    log: Log, metrics: Metrics,
    checkTopics: @escaping @Sendable () throws -> [Topic: Int],
    makeConsumer: @escaping @Sendable () throws -> Consumer, outboxLimit: Int64
  ) {
    self.outboxLimit = outboxLimit
    self.inputs = inputs
    self.wholeInputs = wholeInputs
    self.store = store
    self.relay = relay
    self.log = log
    self.metrics = ProcessorMetrics(metrics)
    defer { showLag(metrics) }
    self.checkTopics = checkTopics
    self.makeConsumer = makeConsumer
  }

  /// Whether everything that was in the inputs at the start has been read.
  public var isCaughtUp: Bool { caughtUp.load(ordering: .acquiring) }

  /// Whether the broker answered when it was last heard or asked; asked every few seconds.
  public var isConnected: Bool { connected.load(ordering: .acquiring) }

  /// Runs until stopped.
  ///
  /// - Throws: `ProcessorError` when going on would be wrong.
  public func run() async throws {
    defer { ended.complete(with: ()) }
    try await DedicatedThread.run(named: name) { try self.loop() }
  }

  /// Finishes the batch at hand and leaves the topics.
  public func stop(by deadline: Deadline) async {
    stopping.store(true, ordering: .releasing)
    pausing.signal()
    consumer.withLock { $0 }?.wake()
    await ended.value()
  }

  var isStopping: Bool { stopping.load(ordering: .acquiring) }

  /// Blocks until the given topics are read beyond the end that they have now (design law 11).
  ///
  /// False when that could not be made sure by the deadline: then a timer must not speak. Only for
  /// threads of ours.
  public func hasReadPast(_ topics: Set<Topic>, by deadline: Deadline) -> Bool {
    guard let ends = ends(of: topics, timeout: deadline.remaining) else { return false }
    return progress.waitUntilRead(ends, by: deadline)
  }

  /// Where the logs of topics end now; nil when the broker does not say, or reading has not begun.
  ///
  /// Blocks.
  func ends(of topics: Set<Topic>, timeout: Duration) -> [TopicPartition: Int64]? {
    guard !topics.isEmpty else { return [:] }
    guard !isStopping, let consumer = consumer.withLock({ $0 }) else { return nil }
    let names = Set(topics.map { store.context.topics.name(of: $0) })
    let partitions = progress.positions.keys.filter { names.contains($0.topic) }
    guard Set(partitions.map(\.topic)) == names else { return nil }
    return try? consumer.ends(of: partitions, timeout: timeout)
  }

  func pause(_ duration: Duration) {
    if !isStopping { pausing.wait(atMost: duration) }
  }

  private func loop() throws {
    guard let partitions = try waitForTopics() else { return }
    try retryWaitingRecords()
    guard let (consumer, ends) = try assign(partitions) else { return }
    defer {
      self.consumer.withLock { $0 = nil }
      consumer.close()
    }
    try read(consumer, ends)
  }

  private func read(_ consumer: Consumer, _ ends: [TopicPartition: Int64]) throws {
    var published = PublishedPositions()
    var skipped = SkippedPositions()
    var size = BatchSize()
    var repeats = Repeats()
    var heard = Deadline.after(Self.silence)
    caughtUp.store(progress.isRead(ends), ordering: .releasing)
    while !isStopping {
      let due = [published.due, skipped.due].compactMap { $0 }.min()
      if let records = try poll(consumer, size.limit, due, &repeats) {
        if !records.isEmpty, let id = try process(records.map { ($0, nil) }, &skipped) {
          published.add(progress.positions, outboxID: id)
          if !isCaughtUp && progress.isRead(ends) { caughtUp.store(true, ordering: .releasing) }
          size.learn(from: records)
          waitForRelay(id)
        }
        if !records.isEmpty {
          if !connected.exchange(true, ordering: .acquiringAndReleasing) {
            log.info("the broker answers again")
          }
          heard = .after(Self.silence)
        } else if heard.hasPassed {
          probe(consumer)
          heard = .after(Self.silence)
        }
      }
      if published.due?.hasPassed == true { commit(&published, consumer) }
      if skipped.due?.hasPassed == true { save(&skipped) }
    }
    save(&skipped)
    commit(&published, consumer)
  }

  /// Writes positions behind records in which there was nothing to do; what fails is tried with the next.
  private func save(_ skipped: inout SkippedPositions) {
    let positions = skipped.positions
    guard !positions.isEmpty else { return }
    do {
      try store.changeAndWait { change in try InputPositions.set(change.transaction, positions) }
      skipped.clear()
    } catch {
      skipped.postpone()
      metrics.storeFailures.add()
      log.warning("positions are not written yet", ["error": LogValue(error)])
    }
  }

  private static let silence = Duration.seconds(3)

  /// A poll that brings nothing does not say whether the broker is there: so it is asked.
  private func probe(_ consumer: Consumer) {
    guard let partition = progress.positions.keys.first else { return }
    let answer = try? consumer.ends(of: [partition], timeout: .seconds(1))
    if connected.exchange(answer != nil, ordering: .acquiringAndReleasing) != (answer != nil) {
      answer != nil
        ? log.info("the broker answers again") : log.warning("the broker does not answer")
    }
  }

  private func commit(_ published: inout PublishedPositions, _ consumer: Consumer) {
    guard let positions = published.take(deliveredThrough: relay.deliveredThrough) else { return }
    do {
      try consumer.commit(positions)
    } catch {
      log.warning("positions could not be committed to Kafka", ["error": LogValue(error)])
    }
  }

  /// Back-pressure: what is read faster than it can be published would only fill the disk.
  private func waitForRelay(_ id: Int64) {
    while !isStopping && id - max(0, relay.deliveredThrough) > outboxLimit {
      metrics.relayWaits.add()
      pause(.milliseconds(50))
    }
  }

  /// The next records, none if there are none; nil when there was a fault.
  private func poll(
    _ consumer: Consumer, _ limit: Int, _ due: Deadline?, _ repeats: inout Repeats
  ) throws -> [ReceivedRecord]? {
    let timeout = min(.milliseconds(500), max(.milliseconds(1), due?.remaining ?? .seconds(1)))
    do {
      return try consumer.poll(maximum: limit, timeout: timeout)
    } catch {
      guard error.isRetriable && !error.isFatal else { throw error }
      connected.store(false, ordering: .releasing)
      metrics.pollFailures.add()
      if repeats.isDue("\(error)") {
        log.warning("the broker does not answer; trying again", ["error": LogValue(error)])
      }
      pause(.milliseconds(200))
      return nil
    }
  }

  /// Blocks until the broker has the topics; nil when stopping.
  private func waitForTopics() throws -> [Topic: Int]? {
    var repeats = Repeats()
    while !isStopping {
      do {
        let found = try checkTopics().filter { inputs[$0.key] != nil }
        let missing = inputs.keys.filter { found[$0, default: 0] < 1 }
        guard missing.isEmpty else {
          throw TopicsMissing(names: missing.map { store.context.topics.name(of: $0) }.sorted())
        }
        connected.store(true, ordering: .releasing)
        relay.topicsAreChecked()
        return found
      } catch let error as TopicsUnusable {
        throw ProcessorError.topicsUnusable(error)
      } catch let error as ProcessorError {
        throw error
      } catch {
        connected.store(error is TopicsMissing, ordering: .releasing)
        if repeats.isDue("\(error)") {
          log.warning("the topics are not there yet; trying again", ["error": LogValue(error)])
        }
        pause(.milliseconds(500))
      }
    }
    return nil
  }

  /// Assigns the shard's partitions at the store's positions; nil when stopping.
  private func assign(_ partitions: [Topic: Int]) throws -> (Consumer, [TopicPartition: Int64])? {
    let consumer = try makeConsumer()
    var isAssigned = false
    defer { if !isAssigned { consumer.close() } }
    var repeats = Repeats()
    while !isStopping {
      do {
        let stored = try store.readers.readAndWait { reader in try InputPositions.all(reader) }
        let owned = Self.owned(partitions, store.context, whole: wholeInputs)
        // A re-shard leaves the positions of all partitions in each store.
        let isAlone = store.context.shard.isAlone
        let plan = try StartPlan(
          owned, stored: isAlone ? stored : stored.filter { owned.contains($0.key) }, consumer,
          timeout: .seconds(1))
        for (partition, lost) in plan.lost.sorted(by: { $0.key < $1.key }) {
          log.error(
            "records were removed from the topic before they were read",
            [
              "topic": .string(partition.topic), "partition": LogValue(partition.partition),
              "position": LogValue(lost.position), "first": LogValue(lost.first),
            ])
        }
        try consumer.assign(plan.positions)
        progress.advance(plan.positions)
        self.consumer.withLock { $0 = consumer }
        isAssigned = true
        return (consumer, plan.ends)
      } catch  where Self.mayPass(error) {
        if repeats.isDue("\(error)") {
          log.warning("the partitions cannot be assigned yet", ["error": LogValue(error)])
        }
        pause(.milliseconds(500))
      }
    }
    return nil
  }

  /// The partitions that a shard reads.
  static func owned(_ counts: [Topic: Int], _ context: StoreContext, whole: Set<Topic>)
    -> [TopicPartition]
  {
    let whole = Set(whole.map(context.topics.name(of:)))
    return counts.flatMap { topic, count in
      (0..<Int32(count)).map { TopicPartition(context.topics.name(of: topic), $0) }
    }.filter { context.shard.reads($0, whole: whole) }
  }

  /// Whether the same may succeed later.
  static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as KafkaError: error.isRetriable && !error.isFatal
    case let error as SQLiteError: error.isStorageFailure
    case is ReadersBusy, is WriterBusy: true
    default: false
    }
  }
}
