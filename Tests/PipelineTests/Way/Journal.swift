import Events
import Kafka
import ServiceRuntime
import Synchronization

@testable import purser

/// Reads all topics from their beginning, as another backend would, and keeps every record.
final class Journal: Sendable {
  private struct State {
    var events: [ReadEvent] = []
    var positions: [TopicPartition: Int64] = [:]
    var fault: String?
  }

  private let consumer: Consumer
  /// Asks where logs end.
  ///
  /// On the reader's own connection a question waits behind its fetch, for half a second when nothing
  /// comes.
  private let asker: Consumer
  private let names: TopicNames
  private let partitions: [TopicPartition]
  private let state = Mutex(State())
  private let isStopping = Atomic<Bool>(false)
  private let thread = Mutex<DedicatedThread?>(nil)

  /// Begins to read topics that are there; blocks.
  init(of plan: StackPlan) throws {
    names = plan.topics
    let names = names
    partitions = Topic.allCases.flatMap { topic in
      (0..<Int32(TopicNames.defaultPartitions)).map {
        TopicPartition(names.name(of: topic), $0)
      }
    }
    let configuration = try ClientConfiguration(fromEnvironment: plan.kafkaVariables)
    consumer = try Consumer(
      configuration, groupID: "test-journal", name: "test-journal", log: .silent,
      metrics: Metrics())
    asker = try Consumer(
      configuration, groupID: "test-asker", name: "test-asker", log: .silent, metrics: Metrics())
    let first = try consumer.beginnings(of: partitions, timeout: .seconds(30))
    try consumer.assign(first)
    state.withLock { $0.positions = first }
    let reader = DedicatedThread(name: "journal") { [self] in
      while !isStopping.load(ordering: .acquiring) { read() }
    }
    thread.withLock { $0 = reader }
  }

  private func read() {
    do {
      let records = try consumer.poll(maximum: 500, timeout: .milliseconds(200))
      state.withLock { state in
        for record in records {
          guard let topic = names.topic(named: record.topic) else { continue }
          state.events.append(ReadEvent(topic: topic, record: record))
          state.positions[record.topicPartition] = record.offset + 1
        }
      }
    } catch {
      state.withLock { $0.fault = "\(error)" }
      Wake().wait(atMost: .milliseconds(100))
    }
  }

  /// Everything read so far, or what came after a place; within a partition in its order.
  func events(from place: Int = 0) -> ArraySlice<ReadEvent> {
    state.withLock { $0.events[min(place, $0.events.count)...] }
  }

  /// Everything read so far on one topic.
  func events(on topic: Topic) -> [ReadEvent] { events().filter { $0.topic == topic } }

  /// How many records were read.
  var count: Int { state.withLock { $0.events.count } }

  /// The last fault of reading.
  var fault: String? { state.withLock { $0.fault } }

  /// Where all logs end now.
  func ends() async throws -> [TopicPartition: Int64] {
    try await offPool { [asker, partitions] in
      try asker.ends(of: partitions, timeout: .seconds(20))
    }
  }

  /// Waits until everything is read that the logs hold now.
  func catchUp() async throws {
    let ends = try await ends()
    _ = try await eventually("the journal has read what there is\(fault.map { ": \($0)" } ?? "")") {
      let positions = state.withLock { $0.positions }
      return ends.allSatisfy { positions[$0.key, default: 0] >= $0.value } ? true : nil
    }
  }

  /// All payloads of a type that pass a test, in the order of reading.
  func all<Value: Told>(
    _ type: Value.Type, where test: (Value) -> Bool = { _ in true }
  ) -> [Value] {
    events().compactMap { $0.told(type) }.filter(test)
  }

  /// The first event of a type that passes a test; those of before count.
  func first<Value: Told>(
    _ type: Value.Type, _ what: String, within patience: Duration = Way.patience,
    where test: (Value) -> Bool
  ) async throws -> Value {
    var place = 0
    return try await eventually(what, within: patience) {
      let news = events(from: place)
      place += news.count
      return news.lazy.compactMap { $0.told(type) }.first(where: test)
    }
  }

  /// Ends reading.
  func close() {
    isStopping.store(true, ordering: .releasing)
    consumer.wake()
    thread.withLock { $0 }?.join()
    consumer.close()
    asker.close()
  }
}

/// A payload and the event types that bear it.
protocol Told: Decodable, Sendable {
  static var types: Set<EventType> { get }
}

extension TokenIssued: Told { static let types: Set<EventType> = [.tokenIssued] }
extension Order: Told { static let types: Set<EventType> = [.orderChanged] }
extension Proof: Told { static let types: Set<EventType> = [.proofSubmitted] }
extension AppStoreFact: Told { static let types: Set<EventType> = [.appStoreFact] }
extension LineageState: Told { static let types: Set<EventType> = [.lineageChanged] }
extension ProofOutcome: Told { static let types: Set<EventType> = [.proofDecided] }
extension EntitlementChanged: Told {
  static let types: Set<EventType> = [
    .entitlementActivated, .entitlementUpdated, .entitlementDeactivated,
  ]
}
extension BalanceChanged: Told { static let types: Set<EventType> = [.balanceChanged] }
extension EntitlementsErased: Told { static let types: Set<EventType> = [.entitlementsErased] }
extension CustomerState: Told { static let types: Set<EventType> = [.customerState] }

extension ReadEvent {
  /// The payload, if the event is of a type that bears it.
  func told<Value: Told>(_ type: Value.Type) -> Value? {
    Value.types.contains(self.type) && topic != .deadLetters ? payload(type) : nil
  }

  /// The version of an event of `iap.entitlements`, whatever its type.
  var version: Int64? {
    struct Versioned: Decodable { let version: Int64 }
    return payload(Versioned.self)?.version
  }

  /// The key as text.
  var key: String { String(decoding: record.key ?? [], as: UTF8.self) }
}
