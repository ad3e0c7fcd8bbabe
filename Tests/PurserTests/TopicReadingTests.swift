import Events
import Kafka
import ServiceRuntime
import TestSupport
import Testing

@testable import purser

@Suite("Reading a topic for purser inspect", .timeLimit(.minutes(2)))
struct TopicReadingTests {
  /// What one reading gave.
  private struct Read: Sendable, Equatable {
    var values: [String] = []
    var ending: TopicReading.Ending?
  }

  private let names = TopicNames(prefix: "look.")

  /// A broker with a topic of two partitions: values p0…p2 on 0, q0…q2 on 1, a second apart.
  private func withTopic(_ body: @Sendable (ClientConfiguration) async throws -> Void) async throws
  {
    let broker = try DevBroker.start()
    let configuration = ClientConfiguration.bootstrap(broker.bootstrapServers)
    let admin = try Admin(configuration, name: "reading", log: .silent, metrics: Metrics())
    try await admin.perform { admin throws(KafkaError) in
      try admin.create(
        [
          TopicSpecification(
            name: "look.orders", partitions: 2, settings: ["retention.ms": "-1"])
        ], timeout: .seconds(10))
    }
    await admin.close()
    try await send(
      ["p", "q"].enumerated().flatMap { number, letter in
        (0..<3).map { record("\(letter)\($0)", partition: Int32(number), second: Int64($0)) }
      }, configuration)
    try await body(configuration)
    broker.stop()
  }

  private func record(_ value: String, partition: Int32, second: Int64) -> Record {
    Record(
      topic: "look.orders", key: Array("alice".utf8), value: Array(value.utf8),
      timestamp: 1_700_000_000_000 + second * 1000, partition: partition)
  }

  private func send(_ records: [Record], _ configuration: ClientConfiguration) async throws {
    let producer = try Producer(configuration, name: "writer", log: .silent, metrics: Metrics())
    for result in await producer.send(records) { _ = try result.get() }
    await producer.close(by: .after(.seconds(5)))
  }

  /// Reads on a thread of its own, as reading blocks.
  private func read(
    _ configuration: ClientConfiguration, from place: StartingPlace, partition: Int32? = nil,
    word: String = "orders", follows: Bool = false, limit: Int = .max,
    before: @escaping @Sendable () -> Void = {}
  ) async throws -> Read {
    let names = names
    let result = Completion<Result<Read, any Error>>()
    _ = DedicatedThread(name: "reader") {
      result.complete(
        with: Result {
          let reading = try TopicReading(
            word, names: names, partition: partition, configuration: configuration)
          defer { reading.close() }
          try reading.begin(at: place)
          before()
          var read = Read()
          read.ending = try reading.read(follows: follows) { record in
            read.values.append(String(decoding: record.value ?? [], as: UTF8.self))
            return read.values.count < limit
          }
          read.values.sort()
          return read
        })
    }
    return try await result.value().get()
  }

  @Test func `it reads from the beginning, a time or an offset up to the end`() async throws {
    try await withTopic { configuration in
      let all = try await read(configuration, from: .beginning)
      #expect(all == Read(values: ["p0", "p1", "p2", "q0", "q1", "q2"], ending: .end))
      let named = try await read(configuration, from: .beginning, word: "look.orders")
      #expect(named == all)
      let later = try await read(configuration, from: .time(1_700_000_000_500))
      #expect(later == Read(values: ["p1", "p2", "q1", "q2"], ending: .end))
      let future = try await read(configuration, from: .time(1_800_000_000_000))
      #expect(future == Read(ending: .end))
      let last = try await read(configuration, from: .offset(2), partition: 1)
      #expect(last == Read(values: ["q2"], ending: .end))
      let two = try await read(configuration, from: .beginning, partition: 0, limit: 2)
      #expect(two == Read(values: ["p0", "p1"], ending: .readerHadEnough))
    }
  }

  @Test func `what is not there is refused with what is there`() async throws {
    try await withTopic { configuration in
      let topic = await #expect(throws: ReadingError.self) {
        try await read(configuration, from: .beginning, word: "proofs")
      }
      #expect(topic?.description.contains("look.orders") == true)
      let partition = await #expect(throws: ReadingError.self) {
        try await read(configuration, from: .beginning, partition: 2)
      }
      #expect(partition?.description.contains("0 to 1") == true)
      let offset = await #expect(throws: ReadingError.self) {
        try await read(configuration, from: .offset(4), partition: 0)
      }
      #expect(offset?.description.contains("0 up to, without, 3") == true)
    }
  }

  @Test func `later records are for one who follows only`() async throws {
    try await withTopic { configuration in
      let written = Completion<Void>()
      let begun = Completion<Void>()
      let writer = Task {
        await begun.value()
        try await send([record("p3", partition: 0, second: 3)], configuration)
        written.complete(with: ())
      }
      let first = try await read(configuration, from: .offset(2), partition: 0) {
        begun.complete(with: ())
        _ = written.wait(by: .after(.seconds(20)))
      }
      #expect(first == Read(values: ["p2"], ending: .end))
      try await writer.value
      let second = try await read(
        configuration, from: .offset(2), partition: 0, follows: true, limit: 2)
      #expect(second == Read(values: ["p2", "p3"], ending: .readerHadEnough))
    }
  }
}
