import Events
import Kafka
import SQLite
import ServiceRuntime
import Testing

@testable import Pipeline

@Suite(.timeLimit(.minutes(2)))
struct `The processor, when something is wrong,` {
  @Test func `tries a batch again until the store takes it, and loses and doubles nothing`()
    async throws
  {
    let world = try await World(topics: [.proofs, .orders])
    let handler = TestHandler { record in
      { change in
        try change.see(record)
        try change.publish(record.valueText, key: record.keyText)
      }
    }
    let process = try TestProcess(world, inputs: [.proofs: handler])
    process.setStoreFails(true)
    try await world.produce((0..<100).map { ("k\($0 % 3)", "\($0)") }, to: .proofs)
    #expect(await eventually { process.count("processor_store_failures_total") >= 2 })
    #expect(try await process.rows("seen") == 0)
    process.setStoreFails(false)
    #expect(try await eventually { try await process.rows("seen") >= 100 })
    for key in 0..<3 {
      #expect(
        try await process.seen(key: "k\(key)")
          == stride(from: key, to: 100, by: 3).map { "\($0)" })
    }
    #expect(try await world.records(100, in: .orders).count == 100)
    await process.stop()
  }

  @Test func `tries again what a handler could not read from the store while decoding`()
    async throws
  {
    let world = try await World(topics: [.orders, .deadLetters])
    let failures = Metrics().counter("failures", "")
    let handler = TestHandler { record in
      if failures.value < 2 {
        failures.add()
        throw SQLiteError(code: .ioError, message: "a read failed")
      }
      return { change in try change.see(record) }
    }
    let process = try TestProcess(world, inputs: [.orders: handler])
    try await world.produce([("k", "1")], to: .orders)
    #expect(try await eventually { try await process.seen() == ["1"] })
    #expect(try await process.rows("outbox") == 0)
    await process.stop()
  }

  @Test func `stops in time while the store fails`() async throws {
    let world = try await World(topics: [.orders])
    let process = try TestProcess(world, inputs: [.orders: TestHandler.seeing])
    process.setStoreFails(true)
    try await world.produce([("k", "1")], to: .orders)
    #expect(await eventually { process.count("processor_store_failures_total") >= 1 })
    let began = ContinuousClock.now
    await process.stop()
    #expect(ContinuousClock.now - began < .seconds(5))

    let next = try TestProcess(world, inputs: [.orders: TestHandler.seeing])
    #expect(try await eventually { try await next.seen() == ["1"] })
    await next.stop()
  }

  @Test func `stops when the store has read more than the topic holds, and says what to do`()
    async throws
  {
    let world = try await World(topics: [.orders])
    let first = try TestProcess(world, relays: false)
    let name = world.topics.name(of: .orders)
    try await first.store.change { change in
      try InputPositions.set(change.transaction, [TopicPartition(name, 1): 77])
    }
    await first.stop()

    let process = try TestProcess(world, inputs: [.orders: TestHandler.seeing])
    do {
      try await process.processorEnd()
      Issue.record("it did not stop")
    } catch let error as ProcessorError {
      let words = error.description
      #expect(words.contains("\(name)[1]"))
      #expect(words.contains("offset 77"))
      #expect(words.contains("ends at 0"))
      #expect(words.contains("Start with the broker that the store was filled from"))
    }
    await process.stop()
  }

  @Test func `stops when a partition that the store has read is not there any more`()
    async throws
  {
    let world = try await World(topics: [.orders])
    let first = try TestProcess(world, relays: false)
    let gone = TopicPartition(world.topics.name(of: .orders), 9)
    try await first.store.change { change in
      try InputPositions.set(change.transaction, [gone: 5])
    }
    await first.stop()

    let process = try TestProcess(world, inputs: [.orders: TestHandler.seeing])
    await #expect(throws: ProcessorError.self) { try await process.processorEnd() }
    await process.stop()
  }

  @Test func `waits for a topic that is not there, with words, and goes on when it is made`()
    async throws
  {
    let world = try await World()
    let plan = TopicPlan(names: world.topics, partitions: world.partitions)
    let admin = try Admin(
      world.configuration, name: "check", log: .silent, metrics: Metrics())
    let process = try TestProcess(
      world, inputs: [.orders: TestHandler.seeing],
      checkTopics: { try plan.check([.orders], admin, timeout: .seconds(5)) })
    #expect(
      await eventually {
        world.logged(
          "there is no topic \(world.topics.name(of: .orders)); run `purser topics create`")
      })
    #expect(process.processor?.isCaughtUp == false)
    try await world.withAdmin { admin throws(KafkaError) in
      try admin.create(plan.specifications, timeout: .seconds(10))
    }
    #expect(await eventually { process.processor?.isCaughtUp == true })
    await process.stop()
    await admin.close()
  }

  @Test func `stops when the topics can never serve`() async throws {
    let world = try await World()
    try await world.create([.orders], settings: ["cleanup.policy": "compact"])
    let plan = TopicPlan(names: world.topics, partitions: world.partitions)
    let admin = try Admin(
      world.configuration, name: "check", log: .silent, metrics: Metrics())
    let process = try TestProcess(
      world, inputs: [.orders: TestHandler.seeing],
      checkTopics: { try plan.check([.orders], admin, timeout: .seconds(5)) })
    do {
      try await process.processorEnd()
      Issue.record("it did not stop")
    } catch let error as ProcessorError {
      let name = world.topics.name(of: .orders)
      #expect(error.description.contains("\(name) has cleanup.policy=compact, needs delete"))
    }
    await process.stop()
    await admin.close()
  }

  @Test func `reads its inputs only, whatever else was checked`() async throws {
    let world = try await World(topics: [.orders, .proofs])
    let process = try TestProcess(
      world, inputs: [.orders: TestHandler.seeing],
      checkTopics: { [.orders: world.partitions, .proofs: world.partitions] })
    try await world.produce([("k", "not ours")], to: .proofs)
    try await world.produce([("k", "ours")], to: .orders)
    #expect(try await eventually { try await process.seen() == ["ours"] })
    #expect(process.count("processor_records_total") == 1)
    await process.stop()
  }

  @Test func `notices that the broker is away and that it is back, and stops in time`()
    async throws
  {
    let mock = try MockCluster()
    let world = try await World(mock: mock, topics: [.orders])
    let process = try TestProcess(world, inputs: [.orders: TestHandler.seeing])
    let processor = try #require(process.processor)
    #expect(await eventually { processor.isCaughtUp && processor.isConnected })
    try mock.setBroker(1, isUp: false)
    #expect(await eventually { !processor.isConnected })
    try mock.setBroker(1, isUp: true)
    #expect(await eventually { processor.isConnected })
    try await world.produce([("k", "1")], to: .orders)
    #expect(try await eventually { try await process.seen() == ["1"] })

    try mock.setBroker(1, isUp: false)
    let began = ContinuousClock.now
    await process.stop()
    #expect(ContinuousClock.now - began < .seconds(9))
  }

  @Test func `waits before assigning while the broker is away, and stops then too`() async throws {
    let mock = try MockCluster()
    let world = try await World(mock: mock, topics: [.orders])
    try mock.setBroker(1, isUp: false)
    let process = try TestProcess(world, inputs: [.orders: TestHandler.seeing])
    #expect(await eventually { world.logged("the partitions cannot be assigned yet") })
    let began = ContinuousClock.now
    await process.stop()
    #expect(ContinuousClock.now - began < .seconds(9))
  }
}
