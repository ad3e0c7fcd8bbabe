import Events
import Kafka
import SQLite
import ServiceRuntime
import Synchronization

@testable import Pipeline

/// What a test writes and reads: the text stands in a field.
struct Note: Codable, Equatable {
  var text: String
}

extension EventType {
  static let note = EventType(rawValue: "test.note.v1")
}

/// A handler made of a closure.
struct TestHandler: RecordHandler {
  let body: @Sendable (ReceivedRecord) throws -> RecordWork?

  init(_ body: @escaping @Sendable (ReceivedRecord) throws -> RecordWork?) { self.body = body }

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? { try body(record) }

  /// Writes each record's text into the table `seen`, in order.
  static let seeing = TestHandler { record in { change in try change.see(record) } }
}

extension ReceivedRecord {
  var keyText: String { String(decoding: key ?? [], as: UTF8.self) }
  var valueText: String { String(decoding: value ?? [], as: UTF8.self) }
  /// The text of a `Note` in the value.
  var note: String? { value.flatMap { try? EventJSON.decode(Note.self, from: $0) }?.text }
}

extension Change {
  func see(_ record: ReceivedRecord) throws {
    try transaction.run(
      "INSERT INTO seen (topic, key, text) VALUES (?, ?, ?)", record.topic, record.keyText,
      record.valueText)
  }

  func publish(_ text: String, key: String = "customer", to topic: Topic = .orders) throws {
    try publish(topic, key: key, type: .note, subject: key, revision: text, Note(text: text))
  }
}

/// One life of a service over a world: store, relay, and on wish processor and timers.
final class TestProcess: Sendable {
  let store: Store
  let relay: Relay
  let processor: Processor?
  let timers: Timers?
  let metrics: Metrics
  private let ended = Completion<Result<Void, any Error>>()

  private static let tables = Migration(
    version: 1,
    PipelineTables.version1 + """
      CREATE TABLE seen (
        id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, key TEXT NOT NULL,
        text TEXT NOT NULL);
      CREATE TABLE due (at INTEGER NOT NULL);
      """)

  /// Starts; the relay runs only with `relays`.
  init(
    _ world: World, relays: Bool = true, checksTopics: Bool = true,
    inputs: [Topic: any RecordHandler] = [:],
    jobs: [any TimerJob] = [],
    checkTopics: (@Sendable () throws -> [Topic: Int])? = nil,
    makeProducer: (@Sendable () throws -> Producer)? = nil, outboxLimit: Int64 = 50_000
  ) throws {
    let metrics = Metrics()
    let fails = Flag()
    self.metrics = metrics
    let store = try Store(
      path: world.path, migrations: [Self.tables], source: "/purser/test", topics: world.topics,
      clock: world.clock, log: world.log, metrics: metrics,
      beforeCommitForTests: { _ in
        if fails.isSet { throw SQLiteError(code: .full, message: "the disk is full") }
      })
    self.store = store
    self.fails = fails
    relay = Relay(
      store: store, log: world.log, metrics: metrics,
      makeProducer: makeProducer ?? {
        try Producer(world.configuration, name: "relay", log: .silent, metrics: Metrics())
      })
    self.relays = relays
    if inputs.isEmpty {
      // Without a processor nobody checks topics: these tests made theirs.
      if checksTopics { relay.topicsAreChecked() }
      processor = nil
      timers = nil
    } else {
      let counts = Dictionary(uniqueKeysWithValues: inputs.keys.map { ($0, world.partitions) })
      let processor = Processor(
        inputs: inputs, store: store, relay: relay, log: world.log, metrics: metrics,
        checkTopics: checkTopics ?? { counts },
        makeConsumer: { try world.newConsumer(group: "service") }, outboxLimit: outboxLimit)
      self.processor = processor
      timers =
        jobs.isEmpty
        ? nil
        : Timers(
          store: store, processor: processor, jobs: jobs, log: world.log, metrics: metrics)
    }
    run()
  }

  private let fails: Flag
  private let relays: Bool

  private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set(_ new: Bool) { value.store(new, ordering: .releasing) }
  }

  /// Makes every COMMIT fail as on a full disk, or no more.
  func setStoreFails(_ fail: Bool) { fails.set(fail) }

  private func run() {
    if relays { Task { await relay.run() } }
    if let timers { Task { await timers.run() } }
    guard let processor else { return }
    Task {
      do {
        try await processor.run()
        ended.complete(with: .success(()))
      } catch {
        ended.complete(with: .failure(error))
      }
    }
  }

  /// What the processor ended with.
  func processorEnd() async throws { try await ended.value().get() }

  /// Stops as a service group does: in reverse order, and the store last.
  func stop() async {
    let deadline = Deadline.after(.seconds(9))
    await timers?.stop(by: deadline)
    await processor?.stop(by: deadline)
    if relays { await relay.stop(by: deadline) }
    await StoreService(store).stop(by: deadline)
  }

  func count(_ name: String) -> Int { metrics.counter(name, "").value }

  func rows(_ table: String) async throws -> Int64 {
    try await store.readers.read { reader in
      try reader.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? -1
    }
  }

  /// The texts that handlers saw, in order; of one key, if given.
  func seen(key: String? = nil) async throws -> [String] {
    try await store.readers.read { reader in
      try reader.query(
        "SELECT text FROM seen WHERE ?1 IS NULL OR key = ?1 ORDER BY id", key
      ) { $0.text(0) }
    }
  }

  /// Waits until the outbox is empty.
  func drained(within seconds: Int = 20) async throws -> Bool {
    try await eventually(within: seconds) { try await self.rows("outbox") == 0 }
  }
}
