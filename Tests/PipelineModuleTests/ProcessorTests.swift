import Events
import Kafka
import SQLite
import ServiceRuntime
import Synchronization
import Testing

@testable import Pipeline

@Suite(.timeLimit(.minutes(2)))
struct `The processor` {
  private struct Fault: Error {}

  @Test func `hands each record once to its topic's handler, in the order of its key`()
    async throws
  {
    let world = try await World(topics: [.orders, .proofs])
    let process = try TestProcess(
      world, inputs: [.orders: TestHandler.seeing, .proofs: TestHandler.seeing])
    try await world.produce((0..<500).map { ("k\($0 % 5)", "\($0)") }, to: .orders)
    try await world.produce([("p", "proof")], to: .proofs)
    #expect(try await eventually { try await process.seen().count >= 501 })
    for key in 0..<5 {
      #expect(
        try await process.seen(key: "k\(key)")
          == stride(from: key, to: 500, by: 5).map { "\($0)" })
    }
    #expect(try await process.seen(key: "p") == ["proof"])
    #expect(process.count("processor_records_total") == 501)
    await process.stop()
  }

  @Test func `tells how far it is behind, by partition`() async throws {
    let world = try await World(partitions: 2, topics: [.orders])
    let gate = Completion<Void>()
    let handler = TestHandler { record in
      if record.valueText == "waits" { gate.wait() }
      return { change in try change.see(record) }
    }
    let process = try TestProcess(world, inputs: [.orders: handler])
    #expect(await eventually { process.processor?.isCaughtUp == true })
    @Sendable func lag() -> [Double] {
      process.metrics.text().split(separator: "\n")
        .filter { $0.hasPrefix("processor_lag_records{") }
        .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
    }
    try await world.produce([("k", "waits"), ("k", "2"), ("k", "3")], to: .orders)
    #expect(await eventually { lag().reduce(0, +) >= 1 })
    gate.complete(with: ())
    #expect(try await eventually { try await process.seen() == ["waits", "2", "3"] })
    #expect(await eventually { lag() == [0, 0] })
    #expect(
      process.metrics.text().contains(
        "processor_lag_records{partition=\"1\",topic=\"\(world.topics.name(of: .orders))\"} 0.0"))
    await process.stop()
  }

  @Test func `publishes what handlers publish`() async throws {
    let world = try await World(topics: [.proofs, .orders])
    let handler = TestHandler { record in
      { change in try change.publish("of \(record.valueText)", key: record.keyText) }
    }
    let process = try TestProcess(world, inputs: [.proofs: handler])
    try await world.produce((0..<50).map { ("k", "\($0)") }, to: .proofs)
    let records = try await world.records(50, in: .orders)
    #expect(records.compactMap(\.note) == (0..<50).map { "of \($0)" })
    // By this a rebuild knows how far the input had taken effect.
    #expect(records.compactMap(\.input?.offset) == (0..<50).map { Int64($0) })
    #expect(records.allSatisfy { $0.input?.partition.topic == world.topics.name(of: .proofs) })
    await process.stop()
  }

  @Test func `makes a record that cannot be decoded a dead letter, whole, and goes on`()
    async throws
  {
    let world = try await World(topics: [.orders, .deadLetters])
    let handler = TestHandler { record in
      guard record.valueText != "poison" else { throw Undecodable("not-json", "at byte 0") }
      return { change in try change.see(record) }
    }
    let process = try TestProcess(world, relays: false, inputs: [.orders: handler])
    try await world.produce([("k", "1"), ("k", "poison"), ("k", "2")], to: .orders)
    #expect(try await eventually { try await process.seen() == ["1", "2"] })
    // The dead letter and the position stand in the store together.
    let (letters, positions) = try await process.store.readers.read { reader in
      (
        try reader.first("SELECT count(*) FROM outbox") { $0.int(0) },
        try reader.first("SELECT sum(next_offset) FROM input_positions") { $0.int(0) }
      )
    }
    #expect(letters == 1)
    #expect(positions == 3)
    await process.stop()

    let next = try TestProcess(world, inputs: [.orders: handler])
    let letter = try #require(try await world.records(1, in: .deadLetters).first)
    #expect(letter.valueText == "poison")
    #expect(letter.keyText == "k")
    #expect(letter.header("h") == "of poison")
    #expect(letter.header("purser-reason") == "not-json")
    #expect(letter.header("purser-detail") == "at byte 0")
    #expect(letter.header("purser-origin-topic") == world.topics.name(of: .orders))
    #expect(letter.header("purser-origin-offset") == "1")
    #expect(try await next.drained())
    #expect(try await world.size(of: .deadLetters) == 1)
    await next.stop()
  }

  @Test func `lets the key of a failing handler wait, and others go on`() async throws {
    let world = try await World(topics: [.orders, .deadLetters])
    let tries = Atomic<Int>(0)
    let isMended = Atomic<Bool>(false)
    let handler = TestHandler { record in
      { change in
        if record.valueText == "bad" && !isMended.load(ordering: .acquiring) {
          try change.see(record)
          tries.wrappingAdd(1, ordering: .relaxed)
          throw Fault()
        }
        try change.see(record)
      }
    }
    let process = try TestProcess(world, inputs: [.orders: handler])
    try await world.produce(
      [("k", "1"), ("k", "bad"), ("other", "a"), ("k", "2"), ("other", "b"), ("k", "3")],
      to: .orders)
    #expect(try await eventually { try await process.seen(key: "other") == ["a", "b"] })
    #expect(try await eventually { try await process.rows("waiting_records") == 3 })
    #expect(try await process.seen(key: "k") == ["1"])
    #expect(tries.load(ordering: .relaxed) == 3)
    let letter = try #require(try await world.records(1, in: .deadLetters).first)
    #expect(letter.valueText == "bad")
    #expect(letter.header("purser-reason") == "handler-failed")
    #expect(process.count("processor_handler_failures_total") == 1)
    await process.stop()

    // Started again with the fault still there: everything waits on, in order, with one dead letter.
    let again = try TestProcess(world, inputs: [.orders: handler])
    try await world.produce([("k", "4"), ("other", "c")], to: .orders)
    #expect(try await eventually { try await again.rows("waiting_records") == 4 })
    #expect(try await eventually { try await again.seen(key: "other") == ["a", "b", "c"] })
    #expect(try await again.seen(key: "k") == ["1"])
    #expect(try await again.drained())
    await again.stop()

    isMended.store(true, ordering: .releasing)
    let mended = try TestProcess(world, inputs: [.orders: handler])
    try await world.produce([("k", "5")], to: .orders)
    #expect(try await eventually { try await mended.seen(key: "k").count >= 6 })
    #expect(try await mended.seen(key: "k") == ["1", "bad", "2", "3", "4", "5"])
    #expect(try await mended.rows("waiting_records") == 0)
    #expect(try await world.size(of: .deadLetters) == 1)
    await mended.stop()
  }

  @Test func `keeps the order of waiting records over more than one page of them`() async throws {
    let world = try await World(topics: [.orders, .deadLetters])
    let mendedFrom = Atomic<Int>(Int.max)
    let handler = TestHandler { record in
      { change in
        if record.valueText == "0" && mendedFrom.load(ordering: .acquiring) > 0 { throw Fault() }
        try change.see(record)
      }
    }
    let count = BatchSize.records + 100
    let first = try TestProcess(world, inputs: [.orders: handler])
    try await world.produce((0..<count).map { ("k", "\($0)") }, to: .orders)
    #expect(try await eventually { try await first.rows("waiting_records") == count })
    await first.stop()
    let second = try TestProcess(world, inputs: [.orders: handler])
    #expect(await eventually { second.processor?.isCaughtUp ?? false })
    #expect(try await second.seen() == [])
    await second.stop()

    mendedFrom.store(0, ordering: .releasing)
    let third = try TestProcess(world, inputs: [.orders: handler])
    #expect(try await eventually { try await third.rows("waiting_records") == 0 })
    #expect(try await third.seen() == (0..<count).map { "\($0)" })
    await third.stop()
  }

  @Test func `lets a waiting record go when it turns out to be undecodable`() async throws {
    let world = try await World(topics: [.orders, .deadLetters])
    let failing = TestHandler { _ in { _ in throw Fault() } }
    let first = try TestProcess(world, inputs: [.orders: failing])
    try await world.produce([("k", "1"), ("k", "2")], to: .orders)
    #expect(try await eventually { try await first.rows("waiting_records") == 2 })
    await first.stop()

    let refusing = TestHandler { record in
      if record.valueText == "1" { throw Undecodable("old-form", "no such thing") }
      return { change in try change.see(record) }
    }
    let second = try TestProcess(world, inputs: [.orders: refusing])
    #expect(try await eventually { try await second.rows("waiting_records") == 0 })
    #expect(try await second.seen() == ["2"])
    let letters = try await world.records(2, in: .deadLetters)
    #expect(letters.map { $0.header("purser-reason") } == ["handler-failed", "old-form"])
    await second.stop()
  }

  @Test func `lets records without a key wait for nobody`() async throws {
    let world = try await World(partitions: 1, topics: [.orders, .deadLetters])
    let handler = TestHandler { record in
      { change in
        if record.valueText == "bad" { throw Fault() }
        try change.see(record)
      }
    }
    let process = try TestProcess(world, inputs: [.orders: handler])
    try await world.produce([(nil, "bad"), (nil, "good")], to: .orders)
    #expect(try await eventually { try await process.seen() == ["good"] })
    #expect(try await process.rows("waiting_records") == 1)
    await process.stop()
  }

  @Test func `handles each record once over many restarts in mid-work`() async throws {
    let world = try await World(topics: [.orders, .entitlements])
    let handler = TestHandler { record in
      { change in
        try change.see(record)
        try change.publish(record.valueText, key: record.keyText, to: .entitlements)
      }
    }
    let count = 6000
    try await world.produce((0..<count).map { ("k\($0 % 10)", "\($0)") }, to: .orders)
    var seen = 0
    for life in 1...12 where seen < count {
      let process = try TestProcess(world, inputs: [.orders: handler])
      let target = min(count, seen + 600)
      #expect(try await eventually { try await process.rows("seen") >= target })
      await process.stop()
      let look = try TestProcess(world, relays: false)
      seen = Int(try await look.rows("seen"))
      await look.stop()
      #expect(life < 12 || seen == count)
    }
    let last = try TestProcess(world, inputs: [.orders: handler])
    #expect(try await eventually { try await last.rows("seen") >= count })
    for key in 0..<10 {
      #expect(
        try await last.seen(key: "k\(key)")
          == stride(from: key, to: count, by: 10).map { "\($0)" })
    }
    let published = try await world.records(count, in: .entitlements)
    #expect(published.count == count)
    #expect(Set(published.compactMap(\.note)).count == count)
    await last.stop()
  }

  @Test func `says that it has caught up only after the backlog`() async throws {
    let world = try await World(topics: [.orders])
    let gate = Completion<Void>()
    let handler = TestHandler { record in
      gate.wait()
      return { change in try change.see(record) }
    }
    try await world.produce((0..<100).map { ("k\($0)", "\($0)") }, to: .orders)
    let process = try TestProcess(world, inputs: [.orders: handler])
    let processor = try #require(process.processor)
    #expect(await eventually { processor.isConnected })
    #expect(!processor.isCaughtUp)
    gate.complete(with: ())
    #expect(await eventually { processor.isCaughtUp })
    #expect(try await process.seen().count == 100)
    await process.stop()
  }

  @Test func `commits group offsets only after what a batch published is delivered`()
    async throws
  {
    let world = try await World(topics: [.proofs, .orders])
    let gate = Completion<Void>()
    let handler = TestHandler { record in
      { change in try change.publish(record.valueText, key: record.keyText) }
    }
    let process = try TestProcess(
      world, inputs: [.proofs: handler],
      makeProducer: {
        gate.wait()
        return try Producer(
          world.configuration, name: "relay", log: .silent, metrics: Metrics())
      })
    try await world.produce((0..<20).map { ("k\($0)", "\($0)") }, to: .proofs)
    #expect(try await eventually { try await process.rows("outbox") == 20 })
    #expect(try await committed(world) == 0)
    gate.complete(with: ())
    #expect(try await eventually { try await committed(world) == 20 })
    await process.stop()
  }

  @Test func `does not read again what concerned nobody, after a while and after a stop`()
    async throws
  {
    let world = try await World(topics: [.orders])
    let prepared = Metrics().counter("prepared", "")
    let handler = TestHandler { record in
      prepared.add()
      guard record.valueText != "nothing" else { return nil }
      return { change in try change.see(record) }
    }
    let process = try TestProcess(world, inputs: [.orders: handler])
    #expect(await eventually { process.processor?.isCaughtUp == true })
    try await world.produce((0..<10).map { ("k\($0)", "nothing") }, to: .orders)
    #expect(try await eventually { try await read(process) == 10 })
    #expect(process.count("processor_records_total") == 10)

    try await world.produce([("a", "nothing"), ("b", "something"), ("c", "nothing")], to: .orders)
    #expect(await eventually { prepared.value == 13 })
    await process.stop()
    let next = try TestProcess(world, inputs: [.orders: handler])
    #expect(await eventually { next.processor?.isCaughtUp == true })
    #expect(try await read(next) == 13)
    #expect(try await next.seen() == ["something"])
    #expect(prepared.value == 13)
    await next.stop()
  }

  /// How far the store has read, over all partitions.
  private func read(_ process: TestProcess) async throws -> Int64 {
    try await process.store.readers.read { reader in
      try InputPositions.all(reader).values.reduce(0, +)
    }
  }

  @Test func `reads no further while the outbox is far behind`() async throws {
    let world = try await World(topics: [.proofs, .orders])
    let handler = TestHandler { record in
      { change in try change.publish(record.valueText, key: record.keyText) }
    }
    let process = try TestProcess(
      world, relays: false, inputs: [.proofs: handler], outboxLimit: 10)
    let waits = process.metrics.counter("processor_relay_waits_total", "")
    try await world.produce((0..<100).map { ("k", "\($0)") }, to: .proofs)
    #expect(await eventually { waits.value >= 3 })
    let rows = try await process.rows("outbox")
    try await world.produce((100..<200).map { ("k", "\($0)") }, to: .proofs)
    let before = waits.value
    #expect(await eventually { waits.value >= before + 3 })
    #expect(try await process.rows("outbox") == rows)
    await process.stop()

    let next = try TestProcess(world, inputs: [.proofs: handler], outboxLimit: 10)
    let records = try await world.records(200, in: .orders)
    #expect(records.compactMap(\.note) == (0..<200).map { "\($0)" })
    await next.stop()
  }

  private func committed(_ world: World) async throws -> Int64 {
    try await onThread {
      let consumer = try world.newConsumer(group: "service")
      defer { consumer.close() }
      return try consumer.committed(world.partitions(of: .proofs), timeout: .seconds(10)).values
        .reduce(0, +)
    }
  }
}
