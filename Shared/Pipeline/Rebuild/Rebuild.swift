public import Events
import Glibc
public import Kafka
public import SQLite
public import ServiceRuntime

/// Makes a lost store anew from the topics: what was published is folded, nothing is decided again.
///
/// It works on a file beside the store, which takes the store's place only when it is whole. With each
/// batch it notes there how far it is: one that was killed goes on, by the same steps.
public final class Rebuild {
  /// The store that is made.
  public let store: Store
  /// Where the logs end; what comes later is not looked at.
  public let ends: [TopicPartition: Int64]
  /// The next offset of each input partition that the service will read: at first up to where everything that
  /// came of the inputs is published, as the service's group says.
  public var positions: [TopicPartition: Int64]
  /// The newest number that a record of the service bears.
  public var newestSequence: Int64 = 0

  let log: Log
  let consumer: Consumer
  let beginnings: [TopicPartition: Int64]
  /// What was noted when this one began; of a fresh one, that nothing is done.
  let begun: RebuildNote
  /// Steps that are whole.
  var step = 0
  let topics: TopicNames
  /// Whose store it is.
  public let shard: Shard
  /// Whether it is made beside a service that goes on, to be looked at and thrown away.
  public let isBeside: Bool
  private let inputNames: Set<String>
  private let path: String
  private let temporaryPath: String
  private let lock: StoreLock
  private let backup: String?

  /// Opens the new store and asks the broker where everything stands; blocks.
  ///
  /// - Parameters:
  ///   - service: Such as `order-service`; names the Kafka group whose positions count.
  ///   - settings: Where everything is.
  ///   - migrations: The service's migrations.
  ///   - reads: The topics that the service reads, whose positions are set.
  ///   - wholeReads: Of them those that every shard reads in full.
  ///   - folds: The topics that are folded besides.
  ///   - wish: What is wanted. One beside the service that was killed goes on up to where the logs ended
  ///     when it began; another one begins anew if the service has published since.
  ///   - time: As of when it is made, UTC milliseconds; nil for now.
  ///   - log: Where it speaks.
  /// - Throws: `RebuildError` when a rebuild would be wrong; `KafkaError`, `SQLiteError`.
  public init(
    service: String, settings: PipelineSettings, migrations: [Migration], reads: Set<Topic>,
    wholeReads: Set<Topic> = [], folds: Set<Topic>, wish: RebuildWish, until time: Int64? = nil,
    log: Log
  ) throws {
    self.log = log
    let (backup, isBeside) = (wish.backup, wish.isBeside)
    self.backup = backup
    self.isBeside = isBeside
    topics = settings.topics
    let shard = settings.shards.shard
    self.shard = shard
    path = settings.storePath
    temporaryPath = "\(path).rebuilding"
    lock = try StoreLock(store: path)
    guard unsafe access(path, F_OK) != 0 else { throw RebuildError.storeIsThere(path) }
    if let backup {
      let known = try StoreLabel(of: backup, service: service).shard
      guard known == nil || known == shard else {
        throw RebuildError.backupOfAnother(backup, known: known ?? shard, asked: shard)
      }
    }
    let metrics = Metrics()
    let topicPlan = TopicPlan(names: topics, checked: .partitions)
    let admin = try Admin(settings.kafka, name: "\(service)-rebuild", log: log, metrics: metrics)
    defer { admin.closeAndWait() }
    let counts = try topicPlan.check(
      reads.union(folds), admin, partitions: shard.partitions, timeout: Self.patience
    ) { _ in }
    let partitions = counts.flatMap { topic, count in
      (0..<Int32(count)).map { TopicPartition(settings.topics.name(of: topic), $0) }
    }
    for topic in reads.union(folds) where counts[topic, default: 0] < 1 {
      throw TopicsMissing(names: [topics.name(of: topic)])
    }
    consumer = try Consumer(
      settings.kafka, groupID: shard.group(of: service, topics),
      name: "\(service)-rebuild", log: log, metrics: metrics)
    var ends = try consumer.ends(of: partitions, timeout: Self.patience)
    inputNames = Set(reads.map(settings.topics.name(of:)))
    let wholeNames = Set(wholeReads.map(settings.topics.name(of:)))
    let plan =
      "\(service)\(shard.suffix), backup \(backup ?? "none"), beside \(isBeside), until \(time ?? 0), "
      + "build \(RebuildNote.build)"
    let outputNames = folds.subtracting(reads).map(settings.topics.name(of:))
    let known = RebuildNote.read(temporaryPath, plan: plan).flatMap { note in
      let old = [TopicPartition: Int64](noted: note.ends)
      let fits = ends.allSatisfy { partition, end in
        let known = old[partition, default: -1]
        let isOutput = outputNames.contains(partition.topic) && shard.owns(partition.partition)
        let mayGrow = isBeside || !isOutput
        return known >= 0 && (mayGrow ? end >= known : end == known)
      }
      return fits ? note : nil
    }
    if let known {
      begun = known
      log.info("going on with what an earlier one began", ["step": LogValue(known.step)])
    } else {
      if let time {
        let times = Dictionary(uniqueKeysWithValues: partitions.map { ($0, time) })
        let later = try consumer.offsets(forTimes: times, timeout: Self.patience)
        ends.merge(later.filter { $0.value >= 0 }) { min($0, $1) }
      }
      let inputs = partitions.filter { [inputNames] in
        inputNames.contains($0.topic) && shard.reads($0, whole: wholeNames)
      }
      let positions =
        try wish.live.map { try Self.positions(in: $0, of: Set(inputs)) }
        ?? consumer.committed(inputs, timeout: Self.patience)
      begun = RebuildNote(
        plan: plan,
        beginnings: try consumer.beginnings(of: partitions, timeout: Self.patience).noted,
        ends: ends.noted, positions: positions.noted)
      for file in Store.files(of: temporaryPath) { unsafe unlink(file) }
    }
    beginnings = [TopicPartition: Int64](noted: begun.beginnings)
    self.ends = [TopicPartition: Int64](noted: begun.ends)
    positions = [TopicPartition: Int64](noted: begun.positions)
    newestSequence = begun.newestSequence

    store = try Store(
      path: temporaryPath, migrations: migrations, source: "/purser/\(service)",
      topics: settings.topics, shard: shard, clock: settings.clock, log: log, metrics: metrics)
    if known == nil { try store.changeAndWait { try RebuildNote.make($0.transaction) } }
  }

  static let patience = Duration.seconds(30)

  private static func positions(in store: String, of inputs: Set<TopicPartition>) throws
    -> [TopicPartition: Int64]
  {
    try InputPositions.all(try Connection(path: store, mode: .readOnly))
      .filter { inputs.contains($0.key) }
  }

  /// Refuses to go on where records of the service are there, but nobody says what they are of.
  ///
  /// - Throws: `RebuildError.noPositions`.
  public func requirePositions() throws {
    let isAnythingToRead = ends.contains { partition, end in
      inputNames.contains(partition.topic) && shard.owns(partition.partition)
        && end > beginnings[partition, default: 0]
    }
    guard positions.isEmpty, newestSequence > 0, isAnythingToRead else { return }
    throw RebuildError.noPositions
  }

  /// Takes over tables that no topic carries from the old copy, if there is one.
  ///
  /// - Parameter tables: Their names; what stands in them is replaced.
  public func takeOver(_ tables: [String]) throws {
    // Once what comes after it is noted, it is not done again: that may have forgotten some of it.
    defer { step += 1 }
    guard step >= begun.step else { return }
    guard let backup else {
      return log.warning(
        "these tables are on no topic and stay empty, as no --backup was given",
        ["tables": .string(tables.joined(separator: ", "))])
    }
    let old = try Connection(path: backup, mode: .readOnly)
    for table in tables {
      let count = try old.first("SELECT COUNT(*) FROM pragma_table_info('\(table)')") { $0.int(0) }
      guard let columns = count, columns > 0 else {
        throw RebuildError.foreignBackup(backup, table: table)
      }
      var rows: [[Value]] = []
      let marks = Array(repeating: "?", count: Int(columns)).joined(separator: ", ")
      var after: Int64 = 0
      repeat {
        rows = try old.query(
          "SELECT * FROM \(table) LIMIT 1000 OFFSET ?", after
        ) { row in (0..<Int32(columns)).map { row.value($0) } }
        after += Int64(rows.count)
        let part = rows
        try store.changeAndWait { change in
          for row in part {
            try change.transaction.run(
              "INSERT OR REPLACE INTO \(table) VALUES (\(marks))", values: row.map { $0 })
          }
        }
      } while !rows.isEmpty
      log.info("taken over from the backup", ["table": .string(table), "rows": LogValue(after)])
    }
  }

  /// Writes positions and the line of numbers, closes the store, and gives it its name.
  ///
  /// - Parameter last: What is done to the store in the same job, such as dropping tables of the rebuild.
  public func finish(_ last: @escaping @Sendable (Change) throws -> Void = { _ in }) throws {
    let positions = positions.mapValues { $0 }
    let newest = newestSequence
    try store.changeAndWait { change in
      try InputPositions.set(change.transaction, positions)
      try Outbox.continueAfter(change.transaction, newest)
      try last(change)
      try change.transaction.run("DROP TABLE IF EXISTS rebuild_findings")
      try RebuildNote.drop(change.transaction)
    }
    close()
    guard unsafe rename(temporaryPath, path) == 0 else {
      throw RebuildError.cannotName(temporaryPath, path, code: errno)
    }
    for file in Store.files(of: temporaryPath) { unsafe unlink(file) }
    log.info("the store is rebuilt; the service may be started", ["store": .string(path)])
  }

  /// Throws the new store away, for one that was only to be looked at.
  public func discard() {
    close()
    for file in Store.files(of: temporaryPath) { unsafe unlink(file) }
  }

  /// What is noted of the step under way.
  func note(next: [TopicPartition: Int64]? = nil, cursor: [UInt8]? = nil) -> RebuildNote {
    var note = begun
    note.positions = positions.noted
    note.newestSequence = newestSequence
    note.step = step
    note.next = next?.noted
    note.cursor = cursor
    return note
  }

  /// Closes the new store as it is; a killed process leaves it so, too.
  func close() {
    consumer.close()
    store.closeAndWait()
  }
}

/// Why a store is not rebuilt; final.
public enum RebuildError: Error, Sendable, CustomStringConvertible {
  /// A store stands where the new one is to stand.
  case storeIsThere(String)
  /// Nobody knows which of the inputs the published records came of.
  case noPositions
  /// The copy lacks a table.
  case foreignBackup(String, table: String)
  /// The copy is of another shard: its customers' rows would be told twice.
  case backupOfAnother(String, known: Shard, asked: Shard)
  /// The new store could not get its name.
  case cannotName(String, String, code: Int32)
  /// What was found could not be written.
  case cannotWrite(String, code: Int32)
  /// The broker gave nothing more, though the log has more.
  case silence(TopicPartition, next: Int64, end: Int64)

  /// The fault and what to do.
  public var description: String {
    switch self {
    case .storeIsThere(let path):
      "there is a store at \(path); a rebuild takes the place of a lost one: move the file away, "
        + "and give it with --backup if it is an old copy"
    case .noPositions:
      "the service has published, but neither its Kafka group nor its records say how far it had "
        + "read: was the number of shards changed without 'purser reshard', or the group deleted? Run the "
        + "re-shard, or restore the group's offsets"
    case .foreignBackup(let path, let table):
      "\(path) is no copy of this service's store by this version: it has no table \(table)"
    case .backupOfAnother(let path, let known, let asked):
      "\(path) is a copy of \(known), and the settings say \(asked); give a copy of the same shard, or "
        + "rebuild without one"
    case .cannotName(let from, let to, let code):
      "\(from) could not be renamed to \(to) (error \(code)); the store in it is whole: rename it"
    case .cannotWrite(let path, let code): "\(path) cannot be written (error \(code))"
    case .silence(let partition, let next, let end):
      "the broker gives no more of \(partition) at \(next), though it ends at \(end); try again"
    }
  }
}
