import Kafka
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import verify_service

@Suite("The edge sends records", .timeLimit(.minutes(1))) struct EdgeSenderTests {
  private let record = Record(topic: "facts", key: Array("k".utf8), value: Array("v".utf8))

  private func sent(by sender: EdgeSender, atMost duration: Duration) async -> DeliveryResult {
    let told = Completion<DeliveryResult>()
    sender.send(record, atMost: duration) { told.complete(with: $0) }
    return await told.value()
  }

  @Test func `a producer that librdkafka declares fatal is replaced by the next record`()
    async throws
  {
    let cluster = try MockCluster()
    try cluster.createTopic("facts", partitions: 1)
    let made = Mutex<[Producer]>([])
    let configuration = ClientConfiguration.bootstrap(cluster.bootstrapServers)
    let sender = try EdgeSender(limit: 10, metrics: Metrics()) {
      let producer = try Producer(configuration, name: "edge", log: .silent, metrics: Metrics())
      made.withLock { $0.append(producer) }
      return producer
    }
    _ = try await sent(by: sender, atMost: .seconds(20)).get()
    made.withLock { $0.first }?.triggerFatalErrorForTests()
    _ = try await sent(by: sender, atMost: .seconds(20)).get()
    #expect(made.withLock { $0.count } == 2)
    await sender.close(by: .after(.seconds(5)))
  }

  @Test
  func `with the broker away a record is given up in time and the number that wait is bounded`()
    async throws
  {
    let sender = try EdgeSender(limit: 1, metrics: Metrics()) {
      try Producer(
        .bootstrap("127.0.0.1:1"), name: "edge", log: .silent, metrics: Metrics())
    }
    func code(_ result: DeliveryResult) -> KafkaErrorCode? {
      guard case .failure(let error) = result else { return nil }
      return error.code
    }
    let first = await sent(by: sender, atMost: .milliseconds(200))
    #expect(code(first) == .timedOut)
    // The first record is still with the producer, so there is no room for another.
    #expect(code(await sent(by: sender, atMost: .seconds(20))) == .queueFull)
    await sender.close(by: .after(.seconds(5)))
  }
}
