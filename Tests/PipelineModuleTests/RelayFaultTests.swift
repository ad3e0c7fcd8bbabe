import Events
import Kafka
import ServiceRuntime
import Synchronization
import Testing

@testable import Pipeline

@Suite(.timeLimit(.minutes(2)))
struct `The relay, when Kafka fails,` {
  private final class LastProducer: Sendable {
    let producer = Mutex<Producer?>(nil)
  }

  @Test func `delivers once and in order when the broker was away`() async throws {
    let mock = try MockCluster()
    let world = try await World(mock: mock, partitions: 1, topics: [.orders])
    let process = try TestProcess(world)
    try await process.store.change { change in try change.publish("0") }
    #expect(try await process.drained())

    try mock.setBroker(1, isUp: false)
    for number in 1..<50 {
      try await process.store.change { change in try change.publish("\(number)") }
    }
    #expect(try await process.rows("outbox") == 49)
    try mock.setBroker(1, isUp: true)

    let records = try await world.records(50, in: .orders)
    #expect(records.compactMap(\.note) == (0..<50).map { "\($0)" })
    #expect(try await process.drained())
    await process.stop()
  }

  @Test func `removes no row before its report`() async throws {
    let mock = try MockCluster()
    let world = try await World(mock: mock, partitions: 1, topics: [.orders])
    try mock.setRoundTrip(1, .milliseconds(700))
    let process = try TestProcess(world)
    try await process.store.change { change in try change.publish("slow") }
    while process.relay.deliveredThrough < 1 {
      let rows = try await process.rows("outbox")
      // Asked in this order, so that a report between the two questions does not matter.
      if process.relay.deliveredThrough < 1 { #expect(rows == 1) }
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(try await process.drained())
    await process.stop()
  }

  @Test func `sends the rows of a refused batch alone to find the one that is refused`()
    async throws
  {
    let mock = try MockCluster()
    let world = try await World(mock: mock, partitions: 1, topics: [.orders, .deadLetters])
    let first = try TestProcess(world, relays: false)
    try await first.store.change { change in
      for text in ["a", "b", "c"] { try change.publish(text) }
    }
    await first.stop()

    // Once for the batch, once for the first record alone.
    mock.push(errors: [.recordTooLarge, .recordTooLarge], for: .produce)
    let process = try TestProcess(world)
    #expect(try await world.records(1, in: .deadLetters).compactMap(\.note).count == 1)
    #expect(try await world.records(2, in: .orders).count == 2)
    let all = try await world.records(2, in: .orders) + world.records(1, in: .deadLetters)
    #expect(Set(all.compactMap(\.note)) == ["a", "b", "c"])
    #expect(process.count("relay_refused_total") == 1)
    #expect(try await process.drained())
    await process.stop()
  }

  @Test func `publishes nothing past a dead letter that Kafka refuses, until its topic takes it`()
    async throws
  {
    let mock = try MockCluster()
    let world = try await World(mock: mock, partitions: 1, topics: [.orders, .deadLetters])
    // A row, its letter and the letter without a value are refused, each in its batch and then alone; the
    // last thrice more by the next producers.
    mock.push(errors: Array(repeating: .recordTooLarge, count: 12), for: .produce)
    let process = try TestProcess(world)
    try await process.store.change { change in try change.publish("refused") }
    #expect(await eventually { process.count("relay_restarts_total") >= 1 })
    try await process.store.change { change in try change.publish("behind it") }
    #expect(try await process.rows("outbox") == 2)
    #expect(try await world.size(of: .orders) == 0)

    let letter = try #require(try await world.records(1, in: .deadLetters).first)
    #expect(letter.value == nil && letter.keyText == "customer")
    #expect(letter.header("purser-reason") == "refused-by-kafka")
    #expect(letter.header("purser-value-left-out") != nil)
    let behind = try #require(try await world.records(1, in: .orders).first, "\(world.told)")
    #expect(behind.note == "behind it")
    #expect(try await process.drained())
    #expect(world.logged("Kafka refuses a dead letter"))
    await process.stop()
  }

  @Test func `replaces a producer that failed and goes on from the first unsent row`()
    async throws
  {
    let world = try await World(partitions: 1, topics: [.orders])
    let last = LastProducer()
    let process = try TestProcess(
      world,
      makeProducer: {
        let made = try Producer(
          world.configuration, name: "relay", log: .silent, metrics: Metrics())
        last.producer.withLock { $0 = made }
        return made
      })
    for number in 0..<10 {
      try await process.store.change { change in try change.publish("\(number)") }
    }
    #expect(await eventually { process.relay.deliveredThrough == 10 })
    // The rows may still be there: what is known to be delivered is not sent once more.
    last.producer.withLock { $0 }?.triggerFatalErrorForTests()
    for number in 10..<20 {
      try await process.store.change { change in try change.publish("\(number)") }
    }
    let records = try await world.records(20, in: .orders)
    #expect(records.compactMap(\.note) == (0..<20).map { "\($0)" })
    #expect(process.count("relay_restarts_total") == 1)
    #expect(try await process.drained())
    await process.stop()
  }

  @Test func `keeps the order when a report fails`() async throws {
    let mock = try MockCluster()
    let world = try await World(mock: mock, partitions: 1, topics: [.orders])
    mock.push(errors: [.topicAuthorizationFailed], for: .produce)
    let process = try TestProcess(world)
    for number in 0..<200 {
      try await process.store.change { change in try change.publish("\(number)") }
    }
    #expect(try await process.drained())
    let notes = try await world.records(200, in: .orders).compactMap(\.note)
    // The mock cluster takes what follows the batch that it refused; no record that overtook another may be
    // the last of its kind.
    let last = notes.indices.filter { !notes[($0 + 1)...].contains(notes[$0]) }.map { notes[$0] }
    #expect(last == (0..<200).map { "\($0)" })
    #expect(process.count("relay_restarts_total") >= 1)
    #expect(process.count("relay_refused_total") == 0)
    await process.stop()
  }

  @Test func `stops in time without a broker and leaves the rows for the next start`()
    async throws
  {
    let mock = try MockCluster()
    let world = try await World(mock: mock, partitions: 1, topics: [.orders])
    try mock.setBroker(1, isUp: false)
    let process = try TestProcess(world)
    for number in 0..<20 {
      try await process.store.change { change in try change.publish("\(number)") }
    }
    let began = ContinuousClock.now
    await process.stop()
    #expect(ContinuousClock.now - began < .seconds(7))

    try mock.setBroker(1, isUp: true)
    let next = try TestProcess(world)
    let records = try await world.records(20, in: .orders)
    #expect(records.compactMap(\.note) == (0..<20).map { "\($0)" })
    #expect(try await next.drained())
    await next.stop()
  }

  @Test func `goes on publishing while the store cannot be written`() async throws {
    let world = try await World(partitions: 1, topics: [.orders])
    let first = try TestProcess(world, relays: false)
    try await first.store.change { change in try change.publish("kept") }
    await first.stop()

    let process = try TestProcess(world)
    process.setStoreFails(true)
    #expect(try await world.records(1, in: .orders).compactMap(\.note) == ["kept"])
    process.setStoreFails(false)
    #expect(try await process.drained())
    #expect(try await world.size(of: .orders) == 1)
    #expect(process.count("relay_restarts_total") == 0)
    await process.stop()
  }
}
