import Kafka
import ServiceRuntime
import Synchronization
import TestSupport

/// The clusters that the conformance tests run against, shared by all tests of the process.
enum KafkaSubject: String, CaseIterable, Sendable {
  case mockCluster, devBroker

  private static let mock = Result { try MockCluster() }
  private static let broker = Result { try DevBroker.start() }
  private static let numbers = Atomic<Int>(0)

  var configuration: ClientConfiguration {
    get throws {
      switch self {
      case .mockCluster: try Self.mock.get().configuration
      case .devBroker: .bootstrap(try Self.broker.get().bootstrapServers)
      }
    }
  }

  /// The development broker as host:port.
  static var devBrokerAddress: String { get throws { try broker.get().bootstrapServers } }

  /// A name that no other test has.
  static func newName(_ prefix: String) -> String {
    "\(prefix)-\(numbers.wrappingAdd(1, ordering: .relaxed).newValue)"
  }

  /// Makes a topic that keeps records of any age.
  func newTopic(partitions: Int = 1, settings: [String: String] = [:]) async throws -> String {
    let name = Self.newName("topic")
    switch self {
    case .mockCluster: try Self.mock.get().createTopic(name, partitions: partitions)
    case .devBroker:
      let admin = try newAdmin(try configuration)
      let settings = settings.merging(["retention.ms": "-1"]) { given, _ in given }
      let topic = TopicSpecification(name: name, partitions: partitions, settings: settings)
      try await admin.perform { admin throws(KafkaError) in
        try admin.create([topic], timeout: .seconds(10))
      }
      await admin.close()
    }
    return name
  }
}

func newProducer(
  _ configuration: ClientConfiguration, queueRecords: Int = 20_000, metrics: Metrics = Metrics(),
  log: Log = .silent, lingerMilliseconds: Int = 0
) throws -> Producer {
  try Producer(
    configuration, name: "test-producer", log: log, metrics: metrics, queueRecords: queueRecords,
    lingerMilliseconds: lingerMilliseconds)
}

func newConsumer(
  _ configuration: ClientConfiguration, groupID: String = KafkaSubject.newName("group"),
  metrics: Metrics = Metrics()
) throws -> Consumer {
  try Consumer(
    configuration, groupID: groupID, name: "test-consumer", log: .silent, metrics: metrics)
}

func newAdmin(_ configuration: ClientConfiguration) throws -> Admin {
  try Admin(configuration, name: "test-admin", log: .silent, metrics: Metrics())
}

/// Runs blocking calls off the cooperative pool.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  let answer = Completion<Result<R, any Error>>()
  _ = DedicatedThread(name: "test-blocking") { answer.complete(with: Result { try body() }) }
  return try await answer.value().get()
}

/// Reads until there are as many records as asked for; fewer when 20 s were not enough.
func read(
  _ count: Int, from positions: [TopicPartition: Int64], _ configuration: ClientConfiguration
) async throws -> [ReceivedRecord] {
  try await onThread {
    let consumer = try newConsumer(configuration)
    defer { consumer.close() }
    try consumer.assign(positions)
    var records: [ReceivedRecord] = []
    let deadline = Deadline.after(.seconds(20))
    while records.count < count && !deadline.hasPassed {
      records += try consumer.poll(maximum: 1000, timeout: deadline.remaining)
    }
    return records
  }
}

/// All partitions of a topic, from the beginning.
func beginnings(_ topic: String, partitions: Int32 = 1) -> [TopicPartition: Int64] {
  Dictionary(
    uniqueKeysWithValues: (0..<partitions).map { (TopicPartition(topic, $0), Consumer.beginning) })
}

func text(_ bytes: [UInt8]?) -> String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "" }

extension Record {
  init(_ topic: String, key: String, _ value: String) {
    self.init(topic: topic, key: Array(key.utf8), value: Array(value.utf8))
  }
}

/// Produces and fails when a record was not delivered.
func produce(_ records: [Record], _ configuration: ClientConfiguration) async throws -> [Delivered]
{
  let producer = try newProducer(configuration)
  let results = await producer.send(records)
  await producer.close(by: .after(.seconds(5)))
  return try results.map { try $0.get() }
}
