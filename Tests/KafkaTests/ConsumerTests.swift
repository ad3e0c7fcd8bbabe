import Kafka
import ServiceRuntime
import Synchronization
import Testing

/// The consumer as the thread sees it that polls, and when brokers are away.
@Suite(.timeLimit(.minutes(2)))
struct `A consumer` {
  private func cluster(_ topic: String, holding count: Int) async throws -> MockCluster {
    let cluster = try MockCluster()
    try cluster.createTopic(topic, partitions: 1)
    let records = (0..<count).map { Record(topic, key: "key", "\($0)") }
    _ = try await produce(records, cluster.configuration)
    return cluster
  }

  @Test func `returns at once when it is woken`() async throws {
    let cluster = try await cluster("wake", holding: 0)
    let consumer = try newConsumer(cluster.configuration)
    let polling = Completion<Void>()
    async let polled = onThread {
      try consumer.assign(beginnings("wake"))
      polling.complete(with: ())
      let start = ContinuousClock.now
      let records = try consumer.poll(maximum: 10, timeout: .seconds(30))
      return (records.count, ContinuousClock.now - start)
    }
    await polling.value()
    consumer.wake()
    let (count, time) = try await polled
    #expect(count == 0)
    #expect(time < .seconds(10))
    try await onThread { consumer.close() }
  }

  @Test func `hands over a record without waiting for a full batch`() async throws {
    let cluster = try await cluster("prompt", holding: 3)
    try await onThread {
      let consumer = try newConsumer(cluster.configuration)
      defer { consumer.close() }
      try consumer.assign(beginnings("prompt"))
      let start = ContinuousClock.now
      let records = try consumer.poll(maximum: 1000, timeout: .seconds(30))
      #expect(!records.isEmpty)
      #expect(ContinuousClock.now - start < .seconds(10))
    }
  }

  @Test func `takes no more than it is asked to`() async throws {
    let cluster = try await cluster("few", holding: 25)
    let sizes = try await onThread {
      let consumer = try newConsumer(cluster.configuration)
      defer { consumer.close() }
      try consumer.assign(beginnings("few"))
      var sizes: [Int] = []
      while sizes.reduce(0, +) < 25 {
        sizes.append(try consumer.poll(maximum: 10, timeout: .seconds(10)).count)
      }
      return sizes
    }
    #expect(sizes.allSatisfy { $0 <= 10 })
    #expect(sizes.reduce(0, +) == 25)
  }

  @Test func `goes on where it was when the broker goes away and returns`() async throws {
    let cluster = try await cluster("return", holding: 5)
    let producer = try newProducer(cluster.configuration)
    let half = Completion<Void>()
    async let read = onThread {
      let consumer = try newConsumer(cluster.configuration)
      defer { consumer.close() }
      try consumer.assign(beginnings("return"))
      var values: [String] = []
      let deadline = Deadline.after(.seconds(30))
      while values.count < 10 && !deadline.hasPassed {
        values += try consumer.poll(maximum: 10, timeout: deadline.remaining).map { text($0.value) }
        if values.count == 5 { half.complete(with: ()) }
      }
      return values
    }
    await half.value()
    try cluster.setBroker(1, isUp: false)
    try cluster.setBroker(1, isUp: true)
    _ = await producer.send((5..<10).map { Record("return", key: "key", "\($0)") })
    #expect(try await read == (0..<10).map(String.init))
    await producer.close(by: .after(.seconds(5)))
  }

  @Test func `survives a passing fault of fetching`() async throws {
    let cluster = try await cluster("fetch", holding: 5)
    // NOT_LEADER_FOR_PARTITION, REQUEST_TIMED_OUT.
    cluster.push(errors: [6, 7].map(KafkaErrorCode.init(rawValue:)), for: .fetch)
    let read = try await read(5, from: beginnings("fetch"), cluster.configuration)
    #expect(read.map(\.offset) == Array(0..<5))
  }

  @Test func `reads nothing from what is paused, and all of it later`() async throws {
    let cluster = try await cluster("pause", holding: 5)
    let (paused, resumed) = try await onThread {
      let consumer = try newConsumer(cluster.configuration)
      defer { consumer.close() }
      let partition = TopicPartition("pause", 0)
      try consumer.assign([partition: 2])
      try consumer.pause([partition])
      let paused = try consumer.poll(maximum: 10, timeout: .milliseconds(300)).count
      try consumer.resume([partition])
      var resumed: [Int64] = []
      while resumed.count < 3 {
        resumed += try consumer.poll(maximum: 10, timeout: .seconds(10)).map(\.offset)
      }
      return (paused, resumed)
    }
    #expect(paused == 0)
    #expect(resumed == [2, 3, 4])
  }

  @Test func `starts anew at other positions`() async throws {
    let cluster = try await cluster("again", holding: 10)
    let offsets = try await onThread {
      let consumer = try newConsumer(cluster.configuration)
      defer { consumer.close() }
      let partition = TopicPartition("again", 0)
      try consumer.assign([partition: 0])
      _ = try consumer.poll(maximum: 2, timeout: .seconds(10))
      try consumer.assign([partition: 7])
      var offsets: [Int64] = []
      while offsets.count < 3 {
        offsets += try consumer.poll(maximum: 10, timeout: .seconds(10)).map(\.offset)
      }
      return offsets
    }
    #expect(offsets == [7, 8, 9])
  }

  @Test func `ends while it polls, even with the broker away`() async throws {
    let cluster = try await cluster("end", holding: 1)
    let consumer = try newConsumer(cluster.configuration)
    let polling = Completion<Void>()
    async let last = onThread { () -> KafkaErrorCode? in
      do {
        try consumer.assign(beginnings("end"))
        while true {
          if try !consumer.poll(maximum: 10, timeout: .seconds(30)).isEmpty {
            polling.complete(with: ())
          }
        }
      } catch let error as KafkaError {
        return error.code
      }
    }
    await polling.value()
    try cluster.setBroker(1, isUp: false)
    let time = try await onThread {
      try consumer.commit([TopicPartition("end", 0): 1])
      let start = ContinuousClock.now
      consumer.close(by: .after(.milliseconds(500)))
      return ContinuousClock.now - start
    }
    #expect(time < .seconds(3))
    #expect(try await last == .closed)
  }

  @Test func `counts a commit that fails and reads on`() async throws {
    let cluster = try await cluster("commit", holding: 1)
    // GROUP_AUTHORIZATION_FAILED.
    cluster.push(errors: [KafkaErrorCode(rawValue: 30)], for: .offsetCommit)
    let metrics = Metrics()
    try await onThread {
      let consumer = try newConsumer(cluster.configuration, metrics: metrics)
      try consumer.assign(beginnings("commit"))
      try consumer.commit([TopicPartition("commit", 0): 1])
      #expect(try consumer.poll(maximum: 1, timeout: .seconds(10)).count == 1)
      consumer.close(by: .after(.seconds(15)))
    }
    #expect(
      metrics.text().contains(
        "kafka_consumer_commit_failures_total{client=\"test-consumer\"} 1"))
  }
}
