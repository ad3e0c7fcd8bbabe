import Events
import Kafka
import ServiceRuntime
import Synchronization

/// An event as a subscriber of the topics reads it.
struct ReadEvent: Sendable {
  let topic: Topic
  let record: ReceivedRecord

  var type: EventType { EventType(rawValue: record.header("ce_type") ?? "") }

  /// The payload, if it is of this type.
  func payload<Value: Decodable>(_ type: Value.Type) -> Value? {
    record.value.flatMap { try? EventJSON.decode(type, from: $0) }
  }
}

/// Reads topics on a thread of its own from where they end now, and keeps what came.
final class EventReader: Sendable {
  private struct State {
    var events: [ReadEvent] = []
    var wait: (test: @Sendable (ReadEvent) -> Bool, found: Completion<ReadEvent>)?
    var fault: String?
    var count = 0
  }

  /// No more events than this are kept; older ones go.
  private static let limit = 10_000
  private static let patience = Duration.seconds(15)

  private let consumer: Consumer
  private let state: Mutex<State>
  private let isStopping: Atomic<Bool>
  private let thread: Mutex<DedicatedThread?>

  /// Begins to read; blocks until it knows where the topics end.
  ///
  /// - Parameter each: Called for each event on the reader's thread.
  init(
    _ topics: [Topic], on stage: Stage, each: @escaping @Sendable (ReadEvent) -> Void
  ) throws {
    state = Mutex(State())
    isStopping = Atomic(false)
    thread = Mutex(nil)
    let configuration = try ClientConfiguration(fromEnvironment: stage.kafka)
    let admin = try Admin(
      configuration, name: "purser-events", log: .silent, metrics: Metrics())
    let found: [String: TopicDescription]
    do {
      defer { admin.closeAndWait() }
      found = try admin.topics(timeout: Self.patience)
    }
    consumer = try Consumer(
      configuration, groupID: "purser-events", name: "purser-events", log: .silent,
      metrics: Metrics())
    var ends: [TopicPartition: Int64] = [:]
    for topic in topics {
      let name = stage.topics.name(of: topic)
      for number in 0..<Int32(found[name]?.partitions ?? 0) {
        let partition = TopicPartition(name, number)
        ends[partition] = try consumer.watermarks(partition, timeout: Self.patience).high
      }
    }
    try consumer.assign(ends)
    let names = stage.topics
    let reader = DedicatedThread(name: "events") { [self] in
      while !isStopping.load(ordering: .acquiring) { read(names, each) }
    }
    thread.withLock { $0 = reader }
  }

  private func read(_ names: TopicNames, _ each: (ReadEvent) -> Void) {
    do {
      for record in try consumer.poll(maximum: 100, timeout: .milliseconds(500)) {
        guard let topic = names.topic(named: record.topic) else { continue }
        let event = ReadEvent(topic: topic, record: record)
        each(event)
        keep(event)
      }
    } catch {
      state.withLock { $0.fault = "\(error)" }
      // The fault may be there at once again; it must not keep a core busy.
      _ = Completion<Void>().wait(by: .after(.milliseconds(200)))
    }
  }

  private func keep(_ event: ReadEvent) {
    let found = state.withLock { state -> Completion<ReadEvent>? in
      state.count += 1
      state.events.append(event)
      if state.events.count > Self.limit { state.events.removeFirst(Self.limit / 10) }
      guard let wait = state.wait, wait.test(event) else { return nil }
      state.wait = nil
      return wait.found
    }
    found?.complete(with: event)
  }

  /// How many events were read.
  var count: Int { state.withLock { $0.count } }

  /// The last fault of reading, if there was one.
  var fault: String? { state.withLock { $0.fault } }

  /// The first event that passes a test, those included that came before; blocks.
  ///
  /// One caller at a time.
  func first(
    by deadline: Deadline, isInterrupted: () -> Bool,
    where test: @escaping @Sendable (ReadEvent) -> Bool
  ) throws -> ReadEvent? {
    let found = Completion<ReadEvent>()
    state.withLock { state in
      if let event = state.events.first(where: test) {
        found.complete(with: event)
      } else {
        state.wait = (test, found)
      }
    }
    while !deadline.hasPassed {
      if let event = found.wait(by: min(deadline, .after(.milliseconds(100)))) { return event }
      if isInterrupted() { throw Interrupted() }
    }
    return found.current
  }

  /// All events that are kept, in order of arrival.
  var all: [ReadEvent] { state.withLock { $0.events } }

  /// Ends reading.
  func close() {
    isStopping.store(true, ordering: .releasing)
    consumer.wake()
    thread.withLock { $0 }?.join()
    consumer.close()
  }
}
