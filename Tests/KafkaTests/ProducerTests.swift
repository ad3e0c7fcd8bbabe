import Kafka
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

/// The producer when brokers are slow, away, or refuse.
@Suite(.timeLimit(.minutes(2)))
struct `A producer` {
  private func numbered(_ count: Int, _ topic: String) -> [Record] {
    (0..<count).map { Record(topic, key: "key", "\($0)") }
  }

  /// Enqueues all before it returns, unlike `send`; so tests know what is under way.
  private func enqueue(_ records: [Record], _ producer: Producer) throws -> Reports {
    let reports = Reports(count: records.count)
    for (index, record) in records.enumerated() {
      try producer.enqueue(record) { reports.add($0, at: index) }
    }
    return reports
  }

  @Test func `delivers once and in order when the broker goes away and returns`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("away", partitions: 1)
    let producer = try newProducer(cluster.configuration)
    _ = await producer.send(numbered(1, "away"))
    try cluster.setBroker(1, isUp: false)
    let records = numbered(200, "away")
    let reports = try enqueue(records, producer)
    #expect(await !producer.flushed(by: .after(.milliseconds(300))))
    try cluster.setBroker(1, isUp: true)
    #expect(await reports.all().compactMap { try? $0.get().offset } == Array(1...200))
    let read = try await read(201, from: beginnings("away"), cluster.configuration)
    #expect(read.dropFirst().map { text($0.value) } == records.map { text($0.value) })
    await producer.close(by: .after(.seconds(5)))
  }

  @Test func `delivers once and in order when a frozen broker goes on`() async throws {
    let broker = try DevBroker.start()
    let configuration = ClientConfiguration.bootstrap(broker.bootstrapServers)
    let admin = try newAdmin(configuration)
    try await admin.perform { admin throws(KafkaError) in
      try admin.create(
        [TopicSpecification(name: "frozen", partitions: 1)], timeout: .seconds(10))
    }
    await admin.close()
    let producer = try newProducer(configuration)
    _ = await producer.send(numbered(1, "frozen"))
    broker.freeze()
    let records = numbered(200, "frozen")
    let reports = try enqueue(records, producer)
    #expect(await !producer.flushed(by: .after(.milliseconds(300))))
    broker.thaw()
    #expect(await reports.all().compactMap { try? $0.get().offset } == Array(1...200))
    await producer.close(by: .after(.seconds(5)))
    broker.stop()
  }

  @Test func `waits for a slow broker`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("slow", partitions: 1)
    let producer = try newProducer(cluster.configuration)
    _ = await producer.send(numbered(1, "slow"))
    try cluster.setRoundTrip(1, .milliseconds(400))
    let start = ContinuousClock.now
    let results = await producer.send(numbered(10, "slow"))
    #expect(results.compactMap { try? $0.get().offset } == Array(1...10))
    #expect(ContinuousClock.now - start >= .milliseconds(350))
    await producer.close(by: .after(.seconds(5)))
  }

  @Test func `waits for more records for as long as it lingers, and then sends what it has`()
    async throws
  {
    let cluster = try MockCluster()
    try cluster.createTopic("lingering", partitions: 1)
    let producer = try newProducer(cluster.configuration)
    let lingering = try newProducer(cluster.configuration, lingerMilliseconds: 700)
    // Both know the topic now.
    for one in [producer, lingering] { _ = await one.send(numbered(1, "lingering")) }
    let waiting = try enqueue(numbered(1, "lingering"), lingering)
    let overtaking = await producer.send(numbered(1, "lingering"))
    #expect(overtaking.compactMap { try? $0.get().offset } == [2])
    #expect(await waiting.all().compactMap { try? $0.get().offset } == [3])
    for one in [producer, lingering] { await one.close(by: .after(.seconds(5))) }
  }

  @Test func `repeats what a broker answers with a passing fault`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("faults", partitions: 1)
    let producer = try newProducer(cluster.configuration)
    // NOT_ENOUGH_REPLICAS, NOT_LEADER_FOR_PARTITION, REQUEST_TIMED_OUT.
    cluster.push(errors: [19, 6, 7].map(KafkaErrorCode.init(rawValue:)), for: .produce)
    let results = await producer.send(numbered(50, "faults"))
    #expect(results.compactMap { try? $0.get().offset } == Array(0..<50))
    let read = try await read(50, from: beginnings("faults"), cluster.configuration)
    #expect(read.map { text($0.value) } == (0..<50).map(String.init))
    await producer.close(by: .after(.seconds(5)))
  }

  @Test func `says what a broker refuses for good`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("refused", partitions: 1)
    let producer = try newProducer(cluster.configuration)
    cluster.push(errors: [.recordTooLarge], for: .produce)
    let results = await producer.send(numbered(1, "refused"))
    guard case .failure(let error) = results.first else {
      Issue.record("the broker refused, and the producer said it was delivered")
      return
    }
    #expect(error.code == .recordTooLarge)
    #expect(!error.isRetriable && !error.isFatal)
    #expect(error.reason.contains("refused"))
    await producer.close(by: .after(.seconds(5)))
  }

  @Test func `takes no more than its queue holds, and then goes on`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("full", partitions: 1)
    try cluster.setBroker(1, isUp: false)
    let producer = try newProducer(cluster.configuration, queueRecords: 10)
    let reports = Atomic<Int>(0)
    for record in numbered(10, "full") {
      try producer.enqueue(record) { _ in reports.wrappingAdd(1, ordering: .relaxed) }
    }
    let error = #expect(throws: KafkaError.self) {
      try producer.enqueue(Record("full", key: "key", "11")) { _ in
        Issue.record("a refused record was reported")
      }
    }
    #expect(error?.code == .queueFull)
    #expect(error?.isRetriable == true)
    async let results = producer.send(numbered(100, "full"))
    try cluster.setBroker(1, isUp: true)
    #expect(await results.compactMap { try? $0.get().offset } == Array(10..<110))
    #expect(reports.load(ordering: .relaxed) == 10)
    await producer.close(by: .after(.seconds(5)))
  }

  @Test func `ends within its deadline when the broker is away, with every report`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("gone", partitions: 1)
    // One more than is enqueued below: the first record's room is free only when its report has returned,
    // and who awaits the result may be faster.
    let producer = try newProducer(cluster.configuration, queueRecords: 101)
    _ = await producer.send(numbered(1, "gone"))
    try cluster.setBroker(1, isUp: false)
    // Some wait in the queue, some for room in it.
    let reports = try enqueue(numbered(100, "gone"), producer)
    async let results = producer.send(numbered(50, "gone"))
    #expect(await !producer.flushed(by: .after(.milliseconds(200))))
    let start = ContinuousClock.now
    await producer.close(by: .after(.seconds(1)))
    #expect(ContinuousClock.now - start < .seconds(8))
    let codes = await (reports.all() + results).map { result -> KafkaErrorCode? in
      guard case .failure(let error) = result, error.isRetriable else { return nil }
      return error.code
    }
    #expect(codes.count == 150)
    #expect(Set(codes).isSubset(of: [.purgedInQueue, .purgedInFlight, .closed]))
    #expect(codes.contains(.closed))
  }

  @Test func `delivers what it has before it ends`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("last", partitions: 1)
    let producer = try newProducer(cluster.configuration)
    let delivered = Atomic<Int>(0)
    for record in numbered(500, "last") {
      try producer.enqueue(record) { result in
        if case .success = result { delivered.wrappingAdd(1, ordering: .relaxed) }
      }
    }
    try await onThread { producer.closeAndWait(by: .after(.seconds(10))) }
    #expect(delivered.load(ordering: .relaxed) == 500)
    let error = #expect(throws: KafkaError.self) {
      try producer.enqueue(Record("last", key: "key", "late")) { _ in }
    }
    #expect(error?.code == .closed)
    await producer.close(by: .after(.seconds(1)))
  }

  @Test func `reports everything when it is let go without an end`() async throws {
    let cluster = try MockCluster()
    try cluster.setBroker(1, isUp: false)
    let reported = Completion<DeliveryResult>()
    do {
      let producer = try newProducer(cluster.configuration)
      try producer.enqueue(Record("dropped", key: "key", "1")) { reported.complete(with: $0) }
    }
    guard case .failure = await reported.value() else {
      Issue.record("delivered without a broker")
      return
    }
  }

  @Test func `shows its fatal error and fails what is outstanding with it`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("fatal", partitions: 1)
    let producer = try newProducer(cluster.configuration)
    #expect(producer.fatalError == nil)
    _ = await producer.send(numbered(1, "fatal"))
    try cluster.setBroker(1, isUp: false)
    let reports = try enqueue(numbered(20, "fatal"), producer)
    #expect(await !producer.flushed(by: .after(.milliseconds(100))))
    producer.triggerFatalErrorForTests()
    #expect(producer.fatalError?.isFatal == true)
    let errors = await reports.all().compactMap { result -> KafkaError? in
      if case .failure(let error) = result { error } else { nil }
    }
    #expect(errors.count == 20)
    #expect(errors.allSatisfy { $0.isFatal && $0 == producer.fatalError })
    let error = #expect(throws: KafkaError.self) {
      try producer.enqueue(Record("fatal", key: "key", "later")) { _ in }
    }
    #expect(error?.isFatal == true)
    await producer.close(by: .after(.seconds(1)))

    // A new producer takes its place.
    try cluster.setBroker(1, isUp: true)
    #expect(try await produce(numbered(3, "fatal"), cluster.configuration).count == 3)
  }

  @Test func `tells librdkafka's lines to our log`() async throws {
    let heard = Completion<String>()
    let log = Log(program: "test") { heard.complete(with: $0) }
    // A refused connection is always told; a lost one only sometimes.
    let producer = try newProducer(.bootstrap("127.0.0.1:1"), log: log)
    let deadline = Deadline.after(.seconds(30))
    while heard.current == nil && !deadline.hasPassed {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(heard.current?.contains("test-producer") == true)
    await producer.close(by: .after(.seconds(1)))
  }

  @Test func `counts deliveries`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("counted", partitions: 1)
    let metrics = Metrics()
    let producer = try newProducer(cluster.configuration, metrics: metrics)
    _ = await producer.send(numbered(7, "counted"))
    let text = metrics.text()
    #expect(text.contains("kafka_producer_delivered_total{client=\"test-producer\"} 7"))
    #expect(text.contains("kafka_producer_queue_records{client=\"test-producer\"} 0"))
    #expect(text.contains("kafka_producer_delivery_seconds_count{client=\"test-producer\"} 7"))
    await producer.close(by: .after(.seconds(1)))
  }
}

/// Reports by the place of their records.
private final class Reports: Sendable {
  private let results: Mutex<[DeliveryResult?]>
  private let complete = Completion<[DeliveryResult]>()

  init(count: Int) { results = Mutex(Array(repeating: nil, count: count)) }

  func add(_ result: DeliveryResult, at index: Int) {
    let all = results.withLock { results in
      if results[index] != nil { Issue.record("record \(index) was reported twice") }
      results[index] = result
      return results.compactMap { $0 }
    }
    if all.count == results.withLock({ $0.count }) { complete.complete(with: all) }
  }

  func all() async -> [DeliveryResult] { await complete.value() }
}
