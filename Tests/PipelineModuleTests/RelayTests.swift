import Events
import Kafka
import SQLite
import ServiceRuntime
import Testing

@testable import Pipeline

@Suite(.timeLimit(.minutes(2)))
struct `The relay` {
  @Test func `publishes rows in order, whole, and then removes them`() async throws {
    let world = try await World(topics: [.orders])
    let process = try TestProcess(world)
    try await process.store.change { change in
      for number in 0..<300 { try change.publish("\(number)", key: "customer-\(number % 7)") }
    }
    let records = try await world.records(300, in: .orders)
    #expect(records.count == 300)
    for key in 0..<7 {
      let texts = records.filter { $0.keyText == "customer-\(key)" }.compactMap(\.note)
      #expect(texts == stride(from: key, to: 300, by: 7).map { "\($0)" })
    }
    let first = try #require(records.first { $0.note == "0" })
    #expect(first.timestamp == start)
    #expect(first.keyText == "customer-0")
    #expect(
      first.headers.map { "\($0.name)=\($0.text)" } == [
        "ce_specversion=1.0",
        "ce_id=\(EventID.make(.note, subject: "customer-0", revision: "0"))",
        "ce_type=test.note.v1", "ce_source=/purser/test", "ce_time=\(rfc3339(start))",
        "ce_subject=customer-0", "content-type=application/json", "purser-sequence=1",
      ])
    #expect(try await process.drained())
    #expect(process.count("relay_delivered_total") == 300)
    #expect(process.relay.deliveredThrough == 300)
    await process.stop()
  }

  @Test func `publishes a tombstone as a record without a value`() async throws {
    let world = try await World(topics: [.entitlementState])
    let process = try TestProcess(world)
    try await process.store.change { change in
      try change.publish(
        .entitlementState, key: "gone", type: .note, subject: "gone", revision: 1, nil)
    }
    let record = try #require(try await world.records(1, in: .entitlementState).first)
    #expect(record.value == nil)
    #expect(record.keyText == "gone")
    await process.stop()
  }

  @Test func `publishes nothing of a change that failed`() async throws {
    struct Fault: Error {}
    let world = try await World(topics: [.orders])
    let process = try TestProcess(world)
    await #expect(throws: Fault.self) {
      try await process.store.change { change in
        try change.publish("never")
        throw Fault()
      }
    }
    try await process.store.change { change in try change.publish("once") }
    #expect(try await world.records(1, in: .orders).compactMap(\.note) == ["once"])
    await process.stop()
  }

  @Test func `tells since when the oldest row waits, and that none does`() async throws {
    let world = try await World(topics: [.orders])
    let first = try TestProcess(world, relays: false)
    try await first.store.change { change in try change.publish("waits") }
    await first.stop()

    // The topics are not checked, so nothing leaves.
    world.clock.set(start + 90_000)
    let process = try TestProcess(world, checksTopics: false)
    @Sendable func age() -> String? {
      process.metrics.text().split(separator: "\n").first { $0.hasPrefix("outbox_oldest_age") }
        .map(String.init)
    }
    #expect(await eventually { age() == "outbox_oldest_age_seconds 90.0" })
    #expect(process.metrics.text().contains("outbox_undelivered 1\n"))
    process.relay.topicsAreChecked()
    #expect(await eventually { age() == "outbox_oldest_age_seconds 0.0" })
    await process.stop()
  }

  @Test func `measures the way to the report, from Apple's date and from the door`() async throws {
    let world = try await World(topics: [.orders, .transactions])
    let process = try TestProcess(world)
    let way = WayStart(source: "proof", signedAt: start - 7_200_000, receivedAt: start - 400)
    try await process.store.change { change in
      try change.since(way).publish("told", to: .transactions)
      try change.since(way).publish("not measured", to: .orders)
      try change.publish("of no way", to: .transactions)
    }
    #expect(try await process.drained())
    let topic = world.topics.name(of: .transactions)
    let lines = process.metrics.text().split(separator: "\n")
      .filter { $0.hasPrefix("way_through_seconds_sum") }
    #expect(
      lines == [
        "way_through_seconds_sum{since=\"received\",source=\"proof\",topic=\"\(topic)\"} 0.4",
        "way_through_seconds_sum{since=\"signed\",source=\"proof\",topic=\"\(topic)\"} 7200.0",
      ])
    let records = try await world.records(2, in: .transactions)
    #expect(records.compactMap(\.wayStart) == [way])
    await process.stop()
  }

  @Test func `drains what is in the outbox when it is stopped`() async throws {
    let world = try await World(topics: [.orders])
    let process = try TestProcess(world)
    try await process.store.change { change in
      for number in 0..<2000 { try change.publish("\(number)") }
    }
    await process.stop()

    let next = try TestProcess(world, relays: false)
    #expect(try await next.rows("outbox") == 0)
    #expect(try await world.size(of: .orders) == 2000)
    await next.stop()
  }

  @Test func `goes on after a restart with the rows that were left`() async throws {
    let world = try await World(topics: [.orders])
    let first = try TestProcess(world, relays: false)
    try await first.store.change { change in try change.publish("before") }
    await first.stop()

    let second = try TestProcess(world)
    try await second.store.change { change in try change.publish("after") }
    #expect(try await world.records(2, in: .orders).compactMap(\.note) == ["before", "after"])
    #expect(try await second.drained())
    await second.stop()
  }

  @Test func `makes a record that the topic refuses a dead letter and sends its neighbours`()
    async throws
  {
    let world = try await World()
    try await world.create([.orders], settings: ["max.message.bytes": "20000"])
    try await world.create([.deadLetters])
    let process = try TestProcess(world)
    let large = String(repeating: "x", count: 30_000)
    try await process.store.change { change in
      for number in 0..<5 { try change.publish("\(number)") }
      try change.publish(large)
      for number in 5..<10 { try change.publish("\(number)") }
    }
    let records = try await world.records(10, in: .orders)
    #expect(Set(records.compactMap(\.note)) == Set((0..<10).map { "\($0)" }))
    let letters = try await world.records(1, in: .deadLetters)
    let letter = try #require(letters.first)
    #expect(letters.count == 1)
    #expect(letter.note == large)
    #expect(letter.keyText == "customer")
    #expect(letter.header("ce_type") == "test.note.v1")
    #expect(letter.header("purser-reason") == "refused-by-kafka")
    #expect(letter.header("purser-origin-topic") == world.topics.name(of: .orders))
    #expect(letter.header("purser-service") == "/purser/test")
    #expect(process.count("relay_refused_total") == 1)
    #expect(process.count("relay_restarts_total") == 0)
    #expect(try await process.drained())
    await process.stop()
  }

  @Test func `sends large rows without reading all of them at once`() async throws {
    let world = try await World(topics: [.orders])
    let process = try TestProcess(world, relays: false)
    let text = String(repeating: "y", count: 1_500_000)
    for number in 0..<30 {
      try await process.store.change { change in try change.publish("\(number)\(text)") }
    }
    let path = process.store.path
    let atOnce = try await onThread {
      try OutboxReader(path: path).rows(after: 0, limit: 1024, bytes: RelaySession.readBytes)
        .rows.count
    }
    #expect(atOnce < 5)
    await process.stop()

    let next = try TestProcess(world)
    #expect(try await next.drained())
    #expect(try await world.size(of: .orders) == 30)
    #expect(next.count("relay_restarts_total") == 0)
    await next.stop()
  }

  @Test func `refuses a record that no topic takes before it is stored`() async throws {
    let world = try await World()
    let process = try TestProcess(world, relays: false)
    await #expect(throws: OutboxError.self) {
      try await process.store.change { change in
        try change.publish(String(repeating: "z", count: 2 * 1024 * 1024))
      }
    }
    #expect(try await process.rows("outbox") == 0)
    await process.stop()
  }

  @Test(arguments: [3, 20_000])
  func `keeps the order of commits, small and large, quick and slow`(room: Int) async throws {
    let world = try await World(partitions: 1, topics: [.orders])
    let process = try TestProcess(
      world,
      makeProducer: {
        try Producer(
          world.configuration, name: "relay", log: .silent, metrics: Metrics(), queueRecords: room)
      })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          for number in 0..<40 {
            // So that some commits find the relay asleep, and others at work.
            if (number + writer).isMultiple(of: 4) {
              try await Task.sleep(for: .milliseconds(number % 7 * 5))
            }
            try await process.store.change { change in
              for row in 0...(number * writer % 12) {
                try change.publish("\(writer).\(number).\(row)")
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let count = (0..<8).reduce(0) { sum, writer in
      sum + (0..<40).reduce(0) { $0 + $1 * writer % 12 + 1 }
    }
    let records = try await world.records(count, in: .orders)
    let rows = records.compactMap { $0.header(StoreHeaders.sequence).flatMap { Int($0) } }
    #expect(rows == Array(1...count))
    #expect(process.count("relay_restarts_total") == 0)
    #expect(try await process.drained())
    await process.stop()
  }

  @Test func `makes a row whose headers were damaged a dead letter`() async throws {
    let world = try await World(topics: [.orders, .deadLetters])
    let first = try TestProcess(world, relays: false)
    try await first.store.change { change in
      try change.publish("damaged")
      try change.transaction.run("UPDATE outbox SET headers = x'00000005'")
      try change.publish("whole")
    }
    await first.stop()
    let process = try TestProcess(world)
    #expect(try await world.records(1, in: .orders).compactMap(\.note) == ["whole"])
    #expect(try await world.records(1, in: .deadLetters).compactMap(\.note) == ["damaged"])
    await process.stop()
  }
}
