public import Events
public import Kafka
public import ServiceRuntime

/// What every service with a store and topics needs to know, from its settings.
public struct PipelineSettings: Sendable {
  /// How to reach the brokers.
  public let kafka: ClientConfiguration
  /// The names of the topics.
  public let topics: TopicNames
  /// What of the topics is checked at the start.
  public let topicCheck: TopicPlan.Check
  /// The clock of all decisions.
  public let clock: any WallClock
  /// The SQLite file.
  public let storePath: String
  /// Which shard the process is, and where the others are.
  public let shards: ShardSettings
  /// Whether the clock is shifted by a file, which no service for Production may do.
  public let isClockShifted: Bool

  /// Reads `KAFKA_…`, `PURSER_TOPIC_PREFIX`, `PURSER_TOPIC_CHECK`,
  /// `PURSER_CLOCK_FILE`, `<prefix>_STORE`, and which shard this is.
  ///
  /// - Parameter isSharded: Whether the process owns partitions and a store.
  public init(
    _ reader: inout SettingsReader, prefix: String, store: String, isSharded: Bool = true
  ) {
    let properties = reader.prefixed(
      "KAFKA_",
      "properties of librdkafka: KAFKA_BOOTSTRAP_SERVERS, KAFKA_SECURITY_PROTOCOL and so on; "
        + "those that would break a guarantee are refused")
    do {
      kafka = try ClientConfiguration(fromEnvironment: properties)
    } catch {
      reader.fault("KAFKA_…", "cannot be used: \(error)")
      kafka = .bootstrap("")
    }
    topics = TopicNames(
      prefix: reader.text("PURSER_TOPIC_PREFIX", default: "iap.", "what topic names begin with"))
    if !TopicNames.isValid(prefix: topics.prefix) {
      reader.fault(
        "PURSER_TOPIC_PREFIX",
        "is '\(topics.prefix)'; give up to 100 letters, digits, dots, underscores and hyphens")
    }
    topicCheck = reader.choice(
      "PURSER_TOPIC_CHECK", default: .settings,
      "what of the topics is checked at the start: partitions, or their settings too; for brokers "
        + "that do not tell settings")
    let clockFile = reader.optionalText(
      "PURSER_CLOCK_FILE",
      "a file with milliseconds by which the clock is shifted; for development, never Production")
    clock = clockFile.map { ShiftedClock(path: $0) } ?? SystemClock()
    isClockShifted = clockFile != nil
    storePath = reader.text("\(prefix)_STORE", default: store, "the SQLite file of this service")
    shards = ShardSettings(&reader, isSharded: isSharded)
  }

  /// A shifted clock may not decide about real money.
  public func refuseShiftedClock(servesProduction: Bool, _ reader: inout SettingsReader) {
    guard isClockShifted && servesProduction else { return }
    reader.fault("PURSER_CLOCK_FILE", "is set, and an app serves Production; remove one of them")
  }
}

/// The parts of a running pipeline, wired: store, relay, processor and timers of one service.
public struct PipelineParts: Sendable {
  /// The service's store.
  public let store: Store
  /// Publishes the store's outbox.
  public let relay: Relay
  /// Reads the service's topics.
  public let processor: Processor
  /// Does what falls due.
  public let timers: Timers

  /// Wires the parts; nothing runs yet.
  ///
  /// - Parameters:
  ///   - service: Such as `order-service`; names the Kafka group and client.
  ///   - settings: Where everything is.
  ///   - store: The open store.
  ///   - inputs: Which topics are read, and by whom.
  ///   - outputs: Which topics are written; they are checked at the start too.
  ///   - wholeInputs: Of the inputs those that every shard reads in full; of the others each reads the
  ///     partitions that it owns.
  ///   - own: The topic that nobody else writes to, by which the store's age is checked.
  ///   - jobs: What happens because time passed.
  ///   - log: Where the parts speak.
  ///   - metrics: Where they count.
  /// - Throws: `KafkaError` when librdkafka refuses the configuration.
  public init(
    service: String, settings: PipelineSettings, store: Store, inputs: [Topic: any RecordHandler],
    wholeInputs: Set<Topic> = [], outputs: Set<Topic>, own: Topic, jobs: [any TimerJob], log: Log,
    metrics: Metrics
  ) throws {
    self.store = store
    let kafka = settings.kafka
    relay = Relay(store: store, log: log, metrics: metrics) {
      try Producer(kafka, name: "\(service)-relay", log: log, metrics: metrics)
    }
    let plan = TopicPlan(names: settings.topics, checked: settings.topicCheck)
    let all = Set(inputs.keys).union(outputs).union([.deadLetters])
    let read = Set(inputs.keys)
    let shard = settings.shards.shard
    let group = shard.group(of: service, settings.topics)
    processor = Processor(
      inputs: inputs, wholeInputs: wholeInputs, store: store, relay: relay, log: log,
      metrics: metrics,
      checkTopics: {
        // Asked until it is answered once, so the client lives no longer than a question.
        let admin = try Admin(kafka, name: "\(service)-check", log: log, metrics: metrics)
        defer { admin.closeAndWait() }
        let found = try plan.check(all, admin, partitions: shard.partitions, timeout: .seconds(2)) {
          log.warning(TopicPlan.unseenWarning, ["error": LogValue($0)])
        }
        let consumer = try Consumer(
          kafka, groupID: group, name: "\(service)-check", log: log, metrics: metrics)
        defer { consumer.close() }
        try StoreAge.check(store, own, partitions: found[own] ?? 0, consumer)
        return found.filter { read.contains($0.key) }
      },
      makeConsumer: {
        try Consumer(
          kafka, groupID: group, name: "\(service)-in", log: log, metrics: metrics)
      })
    timers = Timers(store: store, processor: processor, jobs: jobs, log: log, metrics: metrics)
  }

  /// The services in the order of starting; HTTP comes after them and stops before them.
  public var services: [any Service] { [StoreService(store), relay, processor, timers] }
}
