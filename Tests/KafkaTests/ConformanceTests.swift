import Kafka
import ServiceRuntime
import Testing

/// What Purser needs of a Kafka cluster, asked of each that the tests can have.
@Suite(.timeLimit(.minutes(2)))
struct `A Kafka cluster` {
  @Test(arguments: KafkaSubject.allCases)
  func `keeps the records of a key in the order they were sent`(_ subject: KafkaSubject)
    async throws
  {
    let topic = try await subject.newTopic(partitions: 4)
    let records = (0..<600).map { Record(topic, key: "key-\($0 % 7)", "\($0)") }
    let delivered = try await produce(records, subject.configuration)
    #expect(delivered.count == 600)

    let read = try await read(600, from: beginnings(topic, partitions: 4), subject.configuration)
    #expect(Set(read.map(\.partition)).count > 1)
    for key in 0..<7 {
      let values = read.filter { text($0.key) == "key-\(key)" }.map { text($0.value) }
      #expect(values == stride(from: key, to: 600, by: 7).map(String.init))
    }
  }

  @Test(arguments: KafkaSubject.allCases)
  func `says for each record where it stands`(_ subject: KafkaSubject) async throws {
    let topic = try await subject.newTopic(partitions: 3)
    let records = (0..<30).map { Record(topic, key: "key-\($0)", "\($0)") }
    let delivered = try await produce(records, subject.configuration)
    let read = try await read(30, from: beginnings(topic, partitions: 3), subject.configuration)
    for (record, place) in zip(records, delivered) {
      let found = read.first { $0.partition == place.partition && $0.offset == place.offset }
      #expect(found?.value == record.value)
    }
  }

  @Test(arguments: KafkaSubject.allCases)
  func `keeps keys, values, tombstones, headers and times`(_ subject: KafkaSubject) async throws {
    let topic = try await subject.newTopic()
    let headers = [
      Header(name: "ce_id", text: "1"), Header(name: "empty", value: []),
      Header(name: "bytes", value: [0, 255, 10]), Header(name: "ce_id", text: "twice"),
      Header(name: "ä", text: "ö"),
    ]
    let records = [
      Record(
        topic: topic, key: [0, 1, 255], value: [0, 0, 7], headers: headers, timestamp: 1_000),
      Record(topic: topic, key: [1], value: nil, timestamp: 1_700_000_000_123),
      Record(topic: topic, key: nil, value: [1], timestamp: 1_700_000_000_124),
      Record(topic: topic, key: [], value: [], timestamp: 1_700_000_000_125),
    ]
    _ = try await produce(records, subject.configuration)
    let read = try await read(4, from: beginnings(topic), subject.configuration)
    let asSent = read.map {
      Record(
        topic: $0.topic, key: $0.key, value: $0.value, headers: $0.headers, timestamp: $0.timestamp)
    }
    #expect(asSent == records)
    #expect(read.map(\.offset) == [0, 1, 2, 3])
    #expect(read.first?.header("ce_id") == "1")
  }

  /// The hashes stand in Apache Kafka's own `UtilsTest.testMurmur2`.
  @Test(arguments: KafkaSubject.allCases)
  func `takes keys to the partitions that Java clients choose`(_ subject: KafkaSubject)
    async throws
  {
    let hashes: [(key: String, murmur2: Int32)] = [
      ("21", -973_932_308),
      ("foobar", -790_332_482),
      ("a-little-bit-long-string", -985_981_536),
      ("a-little-bit-longer-string", -1_486_304_829),
      ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
      ("abc", 479_470_107),
    ]
    let topic = try await subject.newTopic(partitions: 12)
    let records = hashes.map { Record(topic, key: $0.key, "") }
    let delivered = try await produce(records, subject.configuration)
    #expect(delivered.map(\.partition) == hashes.map { ($0.murmur2 & 0x7fff_ffff) % 12 })
  }

  @Test(arguments: KafkaSubject.allCases)
  func `reads from the positions it is given`(_ subject: KafkaSubject) async throws {
    let topic = try await subject.newTopic(partitions: 2)
    let records = (0..<20).map {
      Record(topic: topic, key: nil, value: [UInt8($0)], partition: Int32($0 % 2))
    }
    _ = try await produce(records, subject.configuration)
    let positions = [TopicPartition(topic, 0): Int64(4), TopicPartition(topic, 1): 7]
    let read = try await read(9, from: positions, subject.configuration)
    #expect(read.filter { $0.partition == 0 }.map(\.offset) == Array(4...9))
    #expect(read.filter { $0.partition == 1 }.map(\.offset) == Array(7...9))
  }

  @Test(arguments: KafkaSubject.allCases)
  func `refuses a position beyond the end of the log for good`(_ subject: KafkaSubject)
    async throws
  {
    let topic = try await subject.newTopic()
    _ = try await produce([Record(topic, key: "a", "1")], subject.configuration)
    let error = await #expect(throws: KafkaError.self) {
      try await read(1, from: [TopicPartition(topic, 0): 50], subject.configuration)
    }
    #expect(error?.code == .positionOutOfRange)
    #expect(error?.isRetriable == false)
    #expect(error?.reason.contains("\(topic)[0]") == true)
  }

  @Test(arguments: KafkaSubject.allCases)
  func `takes a position at the very end and reads what comes then`(_ subject: KafkaSubject)
    async throws
  {
    let topic = try await subject.newTopic()
    let configuration = try subject.configuration
    _ = try await produce([Record(topic, key: "a", "old")], configuration)
    async let later = read(1, from: [TopicPartition(topic, 0): 1], configuration)
    _ = try await produce([Record(topic, key: "a", "new")], configuration)
    #expect(try await later.map { text($0.value) } == ["new"])
  }

  @Test(arguments: KafkaSubject.allCases)
  func `carries records up to 2 MiB and refuses larger ones for good`(_ subject: KafkaSubject)
    async throws
  {
    let topic = try await subject.newTopic(settings: ["max.message.bytes": "2097152"])
    var record = Record(topic: topic, key: [1], value: [])
    let room = Producer.maximumRecordBytes - record.wireBytes
    record.value = (0..<room).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    _ = try await produce([record], subject.configuration)
    let read = try await read(1, from: beginnings(topic), subject.configuration)
    #expect(read.first?.value == record.value)

    record.value?.append(0)
    let producer = try newProducer(subject.configuration)
    let small = Record(topic, key: "a", "small")
    let results = await producer.send([record, small])
    await producer.close(by: .after(.seconds(5)))
    guard case .failure(let error) = results[0] else {
      Issue.record("a record of more than 2 MiB was taken")
      return
    }
    #expect(error.code == .recordTooLarge)
    #expect(!error.isRetriable && !error.isFatal)
    #expect((try? results[1].get())?.offset == 1)
  }

  @Test(arguments: KafkaSubject.allCases)
  func `says where a log begins and ends`(_ subject: KafkaSubject) async throws {
    let topic = try await subject.newTopic(partitions: 2)
    let configuration = try subject.configuration
    let records = (0..<5).map {
      Record(topic: topic, key: nil, value: [UInt8($0)], partition: 1)
    }
    _ = try await produce(records, configuration)
    let marks = try await onThread {
      let consumer = try newConsumer(configuration)
      defer { consumer.close() }
      return try [Int32(0), 1].map {
        let marks = try consumer.watermarks(TopicPartition(topic, $0), timeout: .seconds(10))
        return [marks.low, marks.high]
      }
    }
    #expect(marks == [[0, 0], [0, 5]])
  }

  @Test(arguments: KafkaSubject.allCases)
  func `knows from what it read where a log ends, without asking`(_ subject: KafkaSubject)
    async throws
  {
    let topic = try await subject.newTopic(partitions: 1)
    let configuration = try subject.configuration
    _ = try await produce((0..<5).map { Record(topic, key: "k", "\($0)") }, configuration)
    let partition = TopicPartition(topic, 0)
    let (before, after, other) = try await onThread {
      let consumer = try newConsumer(configuration)
      defer { consumer.close() }
      let before = consumer.knownEnd(of: partition)
      try consumer.assign([partition: 0])
      var count = 0
      let deadline = Deadline.after(.seconds(30))
      while count < 5 && !deadline.hasPassed {
        count += try consumer.poll(maximum: 10, timeout: .seconds(1)).count
      }
      return (
        before, consumer.knownEnd(of: partition), consumer.knownEnd(of: TopicPartition(topic, 9))
      )
    }
    #expect(before == nil && after == 5 && other == nil)
  }

  @Test(arguments: KafkaSubject.allCases)
  func `keeps committed positions for the next process`(_ subject: KafkaSubject) async throws {
    let topic = try await subject.newTopic(partitions: 3)
    let configuration = try subject.configuration
    _ = try await produce((0..<9).map { Record(topic, key: "\($0)", "") }, configuration)
    let group = KafkaSubject.newName("group")
    let first = TopicPartition(topic, 0)
    let second = TopicPartition(topic, 1)
    let committed = try await onThread {
      let writer = try newConsumer(configuration, groupID: group)
      try writer.assign(beginnings(topic, partitions: 3))
      try writer.commit([first: 1])
      // While one commit is under way, later ones are taken together.
      for position in 1...3 { try writer.commit([first: Int64(position), second: 7]) }
      writer.close(by: .after(.seconds(15)))
      let reader = try newConsumer(configuration, groupID: group)
      defer { reader.close() }
      return try reader.committed(
        [first, second, TopicPartition(topic, 2)], timeout: .seconds(15))
    }
    #expect(committed == [first: 3, second: 7])
  }

  @Test func `finds records by time`() async throws {
    let subject = KafkaSubject.devBroker
    let topic = try await subject.newTopic()
    let configuration = try subject.configuration
    let records = [1_000, 2_000, 3_000].map {
      Record(topic: topic, key: [1], value: [1], timestamp: $0)
    }
    _ = try await produce(records, configuration)
    let partition = TopicPartition(topic, 0)
    let found = try await onThread {
      let consumer = try newConsumer(configuration)
      defer { consumer.close() }
      return try [1_500, 3_000, 9_000].map {
        try consumer.offsets(forTimes: [partition: $0], timeout: .seconds(10))[partition]
      }
    }
    #expect(found == [1, 2, Consumer.end])
  }
}
