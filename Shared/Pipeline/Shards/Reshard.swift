import Events
import Glibc
import Kafka
public import SQLite
public import ServiceRuntime

extension Program.Command {
  /// `reshard`, which every service with a store has.
  public static func reshard(
    _ run: @escaping @Sendable (Settings, [String: String], Log) throws -> Void
  ) -> Self {
    Self(
      name: "reshard",
      help: """
        reshard --from FILES --to FILES   makes the stores of another number of shards out of those
          that are there, all stopped; files with commas between, and ends
        """,
      options: ["--from", "--to"], run: run)
  }
}

/// Makes the stores of another number of shards out of those that are there.
///
/// The old ones are only read. The new ones get their names when they are whole and were held against
/// the old ones; then their positions stand in Kafka too, so that each can be rebuilt.
public struct Reshard {
  private let plan: ReshardPlan
  private let settings: PipelineSettings
  private let log: Log
  private let sources: [ReshardSource]
  private let targets: [String]
  private let partitions: Int

  /// Makes the new stores; blocks.
  ///
  /// - Throws: `ReshardError`, `SQLiteError`, `KafkaError`.
  public static func run(
    _ plan: ReshardPlan, _ settings: PipelineSettings, migrations: [Migration],
    _ options: [String: String], _ log: Log
  ) throws {
    let reshard = try Reshard(plan, settings, options, log)
    try reshard.checkSources()
    try reshard.write(migrations)
  }

  private init(
    _ plan: ReshardPlan, _ settings: PipelineSettings, _ options: [String: String], _ log: Log
  ) throws {
    self.plan = plan
    self.settings = settings
    self.log = log
    let from = try Self.files("--from", options)
    targets = try Self.files("--to", options)
    sources = try from.map { try ReshardSource($0) }.sorted { $0.shard.ordinal < $1.shard.ordinal }
    guard let first = sources.first?.shard,
      sources.allSatisfy({ $0.shard.partitions == first.partitions && $0.shard.count == from.count }
      ),
      sources.map(\.shard.ordinal) == Array(0..<from.count)
    else {
      let found = sources.map { "\($0.path) is \($0.shard)" }.joined(separator: ", ")
      throw ReshardError.incomplete("these are not all shards of one number: \(found)")
    }
    partitions = first.partitions
    guard targets.count <= partitions else {
      throw ReshardError.options(
        "--to names \(targets.count) stores, and there are \(partitions) partitions")
    }
  }

  private static func files(_ option: String, _ options: [String: String]) throws -> [String] {
    let files = (options[option] ?? "").split(separator: ",").map(String.init)
    guard !files.isEmpty, Set(files).count == files.count else {
      throw ReshardError.options("\(option) names no stores, or one twice; put commas between")
    }
    return files
  }

  /// Nothing may be on its way, and what all read in full all must have read to the same place.
  private func checkSources() throws {
    let whole = Set(plan.wholeInputs.map(settings.topics.name(of:)))
    for source in sources {
      if let left = try source.unsent() {
        throw ReshardError.unquiet("\(source.path) has \(left) records that are not published")
      }
      for (partition, position) in source.positions where whole.contains(partition.topic) {
        // A partition of which nothing was read may have no row, or 0.
        if let other = sources.first(where: { $0.positions[partition, default: 0] != position }) {
          throw ReshardError.unquiet(
            "\(source.path) has read \(partition) to \(position), \(other.path) has not")
        }
      }
    }
    let planned = plan.tables.map(\.name) + Self.ownTables
    for source in sources {
      let unknown = try source.tables().filter { !planned.contains($0) }
      guard unknown.isEmpty else {
        throw ReshardError.incomplete(
          "\(source.path) has tables that nobody knows how to divide: "
            + unknown.joined(separator: ", "))
      }
    }
    for target in targets where unsafe access(target, F_OK) == 0 {
      throw ReshardError.targetIsThere(target)
    }
  }

  /// Tables that are made anew.
  private static let ownTables = [
    "outbox", "input_positions", "waiting_records", "shard", "elsewhere",
  ]

  private func shard(_ ordinal: Int) -> Shard {
    Shard(ordinal: ordinal, count: targets.count, partitions: partitions)
  }

  private func write(_ migrations: [Migration]) throws {
    let positions = positions()
    var stores: [ReshardTarget] = []
    defer { for store in stores { store.close() } }
    for (ordinal, path) in targets.enumerated() {
      stores.append(
        try ReshardTarget(
          path, shard(ordinal), plan.service, settings, migrations: migrations, log: log))
    }
    let copy = ReshardCopy(sources: sources, targets: stores)
    for table in plan.tables {
      let rows = try copy.copy(table)
      log.info("copied", ["table": .string(table.name), "rows": LogValue(rows)])
    }
    for parted in plan.parted { try copy.note(parted) }
    try copy.copyWaitingRecords()
    let newest = try sources.map { try $0.newestID() }.max() ?? 0
    for store in stores { try store.finish(positions, newest: newest) }
    try commit(positions, stores.map(\.shard))
    for store in stores { try store.name() }
    log.info(
      "re-sharded; start the services with the new number of shards",
      ["from": LogValue(sources.count), "to": LogValue(targets.count)])
  }

  /// Every partition's position, as the shard has it to which it belonged.
  private func positions() -> [TopicPartition: Int64] {
    sources.reduce(into: [:]) { all, source in
      for (partition, position) in source.positions where source.shard.owns(partition.partition) {
        all[partition] = position
      }
    }
  }

  /// Commits to the groups of the new shards what their stores say, so that a lost one can be rebuilt.
  private func commit(_ positions: [TopicPartition: Int64], _ shards: [Shard]) throws {
    let whole = Set(plan.wholeInputs.map(settings.topics.name(of:)))
    let inputs = Set(plan.inputs.map(settings.topics.name(of:)))
    for shard in shards {
      let own = positions.filter {
        inputs.contains($0.key.topic) && shard.reads($0.key, whole: whole)
      }
      guard !own.isEmpty else { continue }
      let consumer = try Consumer(
        settings.kafka, groupID: shard.group(of: plan.service, settings.topics),
        name: "\(plan.service)-reshard", log: log, metrics: Metrics())
      defer { consumer.close() }
      try consumer.commit(own)
      let deadline = Deadline.after(.seconds(30))
      while try consumer.committed(Array(own.keys), timeout: .seconds(10)) != own {
        guard !deadline.hasPassed else {
          throw ReshardError.positions("the group of \(shard) does not have them")
        }
        _ = try? consumer.poll(maximum: 1, timeout: .milliseconds(100))
      }
    }
  }
}

/// A store of before, locked and only read.
final class ReshardSource {
  let path: String
  let shard: Shard
  let connection: Connection
  let positions: [TopicPartition: Int64]
  private let lock: StoreLock

  init(_ path: String) throws {
    guard unsafe access(path, R_OK) == 0 else {
      throw ReshardError.incomplete("there is no store at \(path)")
    }
    self.path = path
    lock = try StoreLock(store: path)
    connection = try Connection(path: path, mode: .readOnly)
    guard let found = try ShardOfStore.read(connection) else {
      throw ReshardError.incomplete("\(path) does not say which shard it is")
    }
    shard = found
    positions = try InputPositions.all(connection)
  }

  /// How many records wait to be published; nil when none do.
  func unsent() throws -> Int64? {
    let count = try connection.first("SELECT COUNT(*) FROM outbox") { $0.int(0) } ?? 0
    return count > 0 ? count : nil
  }

  func tables() throws -> [String] {
    try connection.query(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ) { $0.text(0) }
  }

  func newestID() throws -> Int64 {
    try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'") { $0.int(0) } ?? 0
  }
}

/// A store of afterwards, beside its place until it is whole.
final class ReshardTarget {
  let shard: Shard
  let store: Store
  private let path: String
  private let temporaryPath: String
  private var isOpen = true

  init(
    _ path: String, _ shard: Shard, _ service: String, _ settings: PipelineSettings,
    migrations: [Migration], log: Log
  ) throws {
    self.path = path
    self.shard = shard
    temporaryPath = "\(path).resharding"
    for file in Store.files(of: temporaryPath) { unsafe unlink(file) }
    store = try Store(
      path: temporaryPath, migrations: migrations, source: "/purser/\(service)",
      topics: settings.topics, shard: shard, clock: settings.clock, log: log, metrics: Metrics())
  }

  /// Notes where reading goes on, and the line of numbers.
  func finish(_ positions: [TopicPartition: Int64], newest: Int64) throws {
    try store.changeAndWait { change in
      try InputPositions.set(change.transaction, positions)
      try Outbox.continueAfter(change.transaction, newest)
    }
  }

  /// Closes the store and gives it its name.
  func name() throws {
    closeStore()
    guard unsafe rename(temporaryPath, path) == 0 else {
      throw ReshardError.cannotName(path, code: errno)
    }
  }

  /// Throws away what has no name.
  func close() {
    closeStore()
    for file in Store.files(of: temporaryPath) { unsafe unlink(file) }
  }

  private func closeStore() {
    guard isOpen else { return }
    isOpen = false
    store.closeAndWait()
  }
}
