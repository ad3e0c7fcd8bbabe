import FoundationEssentials
import Kafka
import SQLite
import ServiceRuntime
import Synchronization
import TestSupport

@testable import Events
@testable import Pipeline

/// The time at which the tests' clocks begin, in UTC milliseconds.
let start: Int64 = 1_700_000_000_000

/// The broker of development, shared by all tests of the process: each test has its own topics.
enum SharedBroker {
  private static let broker = Result { try DevBroker.start() }
  private static let numbers = Atomic<Int>(0)

  static var bootstrapServers: String { get throws { try broker.get().bootstrapServers } }

  static var configuration: ClientConfiguration {
    get throws { .bootstrap(try bootstrapServers) }
  }

  static func newPrefix() -> String {
    "t\(numbers.wrappingAdd(1, ordering: .relaxed).newValue)."
  }
}

/// What outlives a process: the broker with its topics, the store's file, the clock.
final class World: Sendable {
  let configuration: ClientConfiguration
  let topics: TopicNames
  let partitions: Int
  let folder: String
  let clock = ManualClock(start)
  let log: Log
  private let lines: Lines

  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  /// A world on a mock cluster, or on the broker of development.
  init(mock: MockCluster? = nil, partitions: Int = 2, topics made: [Topic] = []) async throws {
    let lines = Lines()
    self.lines = lines
    log = Log(program: "test", minimumLevel: .info) { line in
      lines.all.withLock { $0.append(line) }
    }
    topics = TopicNames(prefix: SharedBroker.newPrefix())
    self.partitions = partitions
    folder = TestFolder.path("pipeline")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if let mock {
      configuration = mock.configuration
      for topic in made { try mock.createTopic(topics.name(of: topic), partitions: partitions) }
    } else {
      configuration = try SharedBroker.configuration
      if !made.isEmpty { try await create(made) }
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var path: String { "\(folder)/store.sqlite" }

  /// The lines of the log that contain a text.
  func logged(_ text: String) -> Bool {
    lines.all.withLock { $0.contains { $0.contains(text) } }
  }

  /// The whole log, for a test that fails.
  var told: String { lines.all.withLock { $0.joined(separator: "\n") } }

  func create(_ made: [Topic], settings: [String: String] = [:]) async throws {
    let specifications = made.map { topic in
      var all = topic.settings
      all["retention.ms"] = "-1"
      all.merge(settings) { _, new in new }
      return TopicSpecification(
        name: topics.name(of: topic), partitions: partitions, settings: all)
    }
    try await withAdmin { admin throws(KafkaError) in
      try admin.create(specifications, timeout: .seconds(10))
    }
  }

  func withAdmin<R: Sendable>(_ body: @escaping @Sendable (Admin) throws(KafkaError) -> R)
    async throws -> R
  {
    let admin = try Admin(configuration, name: "test-admin", log: .silent, metrics: Metrics())
    let result = try await admin.perform(body)
    await admin.close()
    return result
  }

  func partitions(of topic: Topic) -> [TopicPartition] {
    (0..<Int32(partitions)).map { TopicPartition(topics.name(of: topic), $0) }
  }

  func newConsumer(group: String = "test-reader") throws -> Consumer {
    try Consumer(
      configuration, groupID: topics.prefix + group, name: "test-reader", log: .silent,
      metrics: Metrics())
  }

  /// Reads a topic from its beginning until it has `count` records, and then to its end, so that
  /// a record too many is seen as well; fewer when 20 s were not enough.
  func records(_ count: Int, in topic: Topic) async throws -> [ReceivedRecord] {
    try await onThread { [self] in
      let consumer = try newConsumer()
      defer { consumer.close() }
      var positions: [TopicPartition: Int64] = [:]
      for partition in partitions(of: topic) { positions[partition] = 0 }
      try consumer.assign(positions)
      var found: [ReceivedRecord] = []
      let deadline = Deadline.after(.seconds(20))
      func read() {
        for record in (try? consumer.poll(maximum: 1000, timeout: .milliseconds(50))) ?? [] {
          found.append(record)
          positions[record.topicPartition] = record.offset + 1
        }
      }
      while found.count < count && !deadline.hasPassed { read() }
      guard found.count >= count else { return found }
      let ends = try consumer.ends(of: partitions(of: topic), timeout: .seconds(10))
      while ends.contains(where: { positions[$0.key, default: 0] < $0.value })
        && !deadline.hasPassed
      { read() }
      return found
    }
  }

  /// Where the logs of a topic end, all together.
  func size(of topic: Topic) async throws -> Int64 {
    try await onThread { [self] in
      let consumer = try newConsumer()
      defer { consumer.close() }
      return try consumer.ends(of: partitions(of: topic), timeout: .seconds(10)).values
        .reduce(0, +)
    }
  }

  /// Writes records from outside, each to the partition of its key.
  func produce(_ records: [(key: String?, text: String)], to topic: Topic) async throws {
    let producer = try Producer(
      configuration, name: "test-producer", log: .silent, metrics: Metrics())
    let results = await producer.send(
      records.map { key, text in
        Record(
          topic: topics.name(of: topic), key: key.map { Array($0.utf8) }, value: Array(text.utf8),
          headers: [Header(name: "h", text: "of \(text)")])
      })
    await producer.close(by: .after(.seconds(5)))
    for result in results { _ = try result.get() }
  }
}

/// Runs blocking calls off the cooperative pool.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  let answer = Completion<Result<R, any Error>>()
  _ = DedicatedThread(name: "test-blocking") { answer.complete(with: Result { try body() }) }
  return try await answer.value().get()
}

/// Waits until something is true; false when it is not within the time.
func eventually(
  within seconds: Int = 20, _ condition: @Sendable () async throws -> Bool
) async rethrows -> Bool {
  let deadline = Deadline.after(.seconds(seconds))
  while try await !condition() {
    if deadline.hasPassed { return false }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return true
}
