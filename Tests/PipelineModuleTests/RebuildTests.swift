import Events
import Kafka
import SQLite
import ServiceRuntime
import Testing

@testable import Pipeline

@Suite(.timeLimit(.minutes(2)))
struct `A rebuild` {
  private struct Killed: Error {}

  private static let migrations = [
    Migration(
      version: 1,
      PipelineTables.version1 + "; CREATE TABLE seen (text TEXT); CREATE TABLE parts (n INT)")
  ]

  private func settings(_ world: World) throws -> PipelineSettings {
    var reader = SettingsReader([
      "KAFKA_BOOTSTRAP_SERVERS": try SharedBroker.bootstrapServers,
      "PURSER_TOPIC_PREFIX": world.topics.prefix, "TEST_STORE": world.path,
      "PURSER_PARTITIONS": "\(world.partitions)",
    ])
    let settings = PipelineSettings(&reader, prefix: "TEST", store: "store.sqlite")
    try reader.finish()
    return settings
  }

  /// All of a rebuild; it fails where it is told to.
  private func run(_ world: World, isBeside: Bool = false, failsAt: Int = .max, part: Int64 = .max)
    throws -> Rebuild
  {
    let rebuild = try Rebuild(
      service: "order-service", settings: try settings(world), migrations: Self.migrations,
      reads: [.transactions], folds: [.orders], wish: RebuildWish(isBeside: isBeside),
      log: world.log)
    do {
      var count = 0
      try rebuild.read([.orders], to: .end) { record in
        count += 1
        guard count < failsAt else { throw Killed() }
        let text = String(decoding: record.value ?? [], as: UTF8.self)
        return { try $0.transaction.run("INSERT INTO seen (text) VALUES (?)", text) }
      }
      try rebuild.changeInParts(from: Int64(1)) { change, number in
        guard number < part else { throw Killed() }
        try change.transaction.run("INSERT INTO parts (n) VALUES (?)", number)
        return number < 5 ? number + 1 : nil
      }
    } catch {
      rebuild.close()
      throw error
    }
    return rebuild
  }

  @Test func `takes over from a copy of its own shard alone, and of its own service`() async throws
  {
    let world = try await World(topics: [.orders, .transactions])
    let settings = try settings(world)
    @Sendable func rebuild(_ backup: String) throws {
      try Rebuild(
        service: "order-service", settings: settings, migrations: Self.migrations,
        reads: [.transactions], folds: [.orders], wish: RebuildWish(backup: backup), log: world.log
      ).discard()
    }
    func copy(_ source: String, _ shard: Shard) async throws -> String {
      let path = "\(world.folder)/\(shard.ordinal)-of-\(shard.count).sqlite"
      try await onThread {
        try Store(
          path: path, migrations: Self.migrations, source: source, topics: world.topics,
          shard: shard, clock: world.clock, log: .silent, metrics: Metrics()
        ).closeAndWait()
      }
      return path
    }
    let other = try await copy(
      "/purser/order-service", Shard(ordinal: 1, count: 2, partitions: world.partitions))
    await #expect {
      try await onThread { try rebuild(other) }
    } throws: {
      if case RebuildError.backupOfAnother = $0 { true } else { false }
    }
    let stranger = try await copy(
      "/purser/verify-service", Shard(ordinal: 0, count: 1, partitions: world.partitions))
    await #expect(throws: ForeignStore(path: stranger, service: "order-service")) {
      try await onThread { try rebuild(stranger) }
    }
  }

  private func counts(_ rebuild: Rebuild) throws -> [Int64] {
    try rebuild.look { change in
      try ["seen", "DISTINCT text FROM seen", "parts"].map { what in
        let from = what.contains("FROM") ? "(SELECT \(what))" : what
        return try change.transaction.first("SELECT COUNT(*) FROM \(from)") { $0.int(0) } ?? 0
      }
    }
  }

  private func expect(_ expected: [Int64], _ rebuild: consuming Rebuild) throws {
    #expect(try counts(rebuild) == expected)
    rebuild.discard()
  }

  private func world(_ count: Int) async throws -> World {
    let world = try await World(partitions: 2, topics: [.orders, .transactions])
    try await world.produce((0..<count).map { ("k\($0 % 7)", "n\($0)") }, to: .orders)
    return world
  }

  @Test func `goes on where it was when it was killed, in a pass and between parts`() async throws {
    let world = try await world(6_000)
    try await onThread { [self] in
      #expect(throws: Killed.self) { try run(world, failsAt: 5_500).discard() }
      #expect(throws: Killed.self) { try run(world, part: 3).discard() }
      let rebuild = try run(world)
      #expect(try counts(rebuild) == [6_000, 6_000, 5])
      try rebuild.finish()
      let store = try Connection(path: world.path, mode: .readOnly)
      let notes = try store.first("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'rebuild_note'")
      {
        $0.int(0)
      }
      #expect(notes == 0, "nothing of it stays in the store")
    }
    #expect(world.logged("going on with what an earlier one began"))
  }

  @Test func `begins anew when the service has published since, unless it is made beside it`()
    async throws
  {
    let world = try await world(3_000)
    _ = try await onThread { [self] in
      #expect(throws: Killed.self) { try run(world, part: 2).discard() }
    }
    try await world.produce([("k0", "later")], to: .orders)
    try await onThread { [self] in try expect([3_001, 3_001, 5], run(world)) }
    _ = try await onThread { [self] in
      #expect(throws: Killed.self) { try run(world, isBeside: true, part: 2).discard() }
    }
    try await world.produce([("k0", "later still")], to: .orders)
    // Up to where the logs ended when it began.
    try await onThread { [self] in try expect([3_001, 3_001, 5], run(world, isBeside: true)) }
  }
}
