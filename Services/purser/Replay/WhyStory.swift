import Events
import FoundationEssentials
import Kafka
import SQLite
import ServiceRuntime

/// One customer's story: every record of the topics that is about the customer, in the order of time.
enum WhyStory {
  /// The most records that a story is made of; beyond it a narrower question is asked for.
  static let limit = 200_000

  /// Topics whose records bear the customer as key, in the order in which one thing leads to another.
  private static let byCustomer: [Topic] = [
    .customers, .orders, .proofs, .transactions, .entitlements,
  ]

  static func run(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    let now = SystemClock().now()
    let customer = arguments.operands[0]
    let at = try arguments.time("--at", now: now)
    let from = try arguments.time("--from", now: now)
    let records = try collect(customer, until: at, settings)
    let wanted = records.filter { record in
      (from.map { record.timestamp >= $0 } ?? true) && takes(record, arguments)
    }
    if let file = arguments.text("--to") {
      try write(wanted, to: file)
      Terminal(settings).line("\(wanted.count) records are in \(file), table records")
    } else {
      show(wanted, arguments, settings)
    }
    guard let at else { return Tool.success }
    let owned = try Owned(records, customer)
    Terminal(settings).line(owned.text(at: at))
    return Tool.success
  }

  /// All records of the customer, and of the lineages that it was told of, by time.
  static func collect(_ customer: String, until: Int64?, _ settings: Settings) throws
    -> [ReceivedRecord]
  {
    var found: [(rank: Int, record: ReceivedRecord)] = []
    var lineages: Set<String> = []
    let progress = ReplayProgress()
    for (rank, topic) in byCustomer.enumerated() {
      try read(topic, settings, key: customer, until, progress) { record in
        if record.header("ce_type") == EventType.lineageChanged.rawValue, let value = record.value {
          lineages.insert(
            try EventJSON.decode(LineageState.self, from: value).lineage.description)
        }
        found.append((rank, record))
      }
    }
    for lineage in lineages.sorted() {
      try read(.appstore, settings, key: lineage, until, progress) { found.append((-1, $0)) }
    }
    return found.sorted {
      ($0.record.timestamp, $0.rank, $0.record.offset)
        < ($1.record.timestamp, $1.rank, $1.record.offset)
    }.map(\.record)
  }

  /// The records of a key, which lie in one partition.
  private static func read(
    _ topic: Topic, _ settings: Settings, key: String, _ until: Int64?, _ progress: ReplayProgress,
    _ body: (ReceivedRecord) throws -> Void
  ) throws {
    let bytes = Array(key.utf8)
    let configuration = try settings.clientConfiguration()
    let names = TopicNames(prefix: settings.topicPrefix)
    let reading = try TopicReading(
      topic.rawValue, names: names, keeping: bytes, configuration: configuration)
    defer { reading.close() }
    try reading.begin(at: .beginning)
    var count = 0
    let ending = try reading.read(follows: false) { record in
      progress.add(topic.rawValue, left: reading.left)
      guard record.key == bytes, until.map({ record.timestamp <= $0 }) ?? true else { return true }
      try body(record)
      count += 1
      guard count <= limit else { throw StoryTooLong(topic: topic) }
      return true
    }
    if ending == .silence { throw StoryIncomplete(topic: topic) }
  }

  private static func takes(_ record: ReceivedRecord, _ arguments: Arguments) -> Bool {
    guard RecordFilter(key: nil, type: arguments.text("--type")).takes(record) else { return false }
    guard let lineage = arguments.text("--lineage") else { return true }
    let text = String(decoding: record.value ?? [], as: UTF8.self)
    return text.contains(lineage) || String(decoding: record.key ?? [], as: UTF8.self) == lineage
  }

  private static func show(
    _ records: [ReceivedRecord], _ arguments: Arguments, _ settings: Settings
  ) {
    let terminal = Terminal(settings)
    let names = TopicNames(prefix: settings.topicPrefix)
    for record in records {
      guard !arguments.has("--json") else {
        terminal.line(RecordJSON.line(record))
        continue
      }
      let topic = names.topic(named: record.topic) ?? .deadLetters
      terminal.line(
        terminal.styled(rfc3339(record.timestamp), .dim) + "  "
          + RecordLine.line(record, topic: topic, terminal))
    }
  }

  private static func write(_ records: [ReceivedRecord], to file: String) throws {
    guard !FileManager.default.fileExists(atPath: file) else {
      throw CatalogWriteError(path: file)
    }
    let store = try Connection(path: file, mode: .readWrite)
    try store.run(
      """
      CREATE TABLE records (
        topic TEXT, partition INTEGER, record_offset INTEGER, time INTEGER, key TEXT, type TEXT,
        value TEXT, line TEXT, PRIMARY KEY (topic, partition, record_offset))
      """)
    try store.run("BEGIN")
    for record in records {
      try store.run(
        "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", record.topic,
        Int64(record.partition), record.offset, record.timestamp,
        record.key.map { String(decoding: $0, as: UTF8.self) }, record.header("ce_type"),
        record.value.map { String(decoding: $0, as: UTF8.self) }, PayloadSummary.text(record))
    }
    try store.run("COMMIT")
  }
}

/// What a customer owned after the last record of a story.
struct Owned: Equatable {
  var rights: [String: Entitlement] = [:]
  var balances: [String: Balance] = [:]
  var version: Int64 = 0

  /// Folds the events of a customer, each version once.
  init(_ records: [ReceivedRecord], _ customer: String) throws {
    for record in records where record.key == Array(customer.utf8) {
      guard let type = record.header("ce_type"), let value = record.value else { continue }
      switch EventType(rawValue: type) {
      case .entitlementActivated, .entitlementUpdated, .entitlementDeactivated:
        let told = try EventJSON.decode(EntitlementChanged.self, from: value)
        guard told.version > version else { continue }
        version = told.version
        let name = "\(told.entitlement.environment)/\(told.entitlement.name)"
        rights[name] = told.entitlement.isActive ? told.entitlement : nil
      case .balanceChanged:
        let told = try EventJSON.decode(BalanceChanged.self, from: value)
        guard told.version > version else { continue }
        version = told.version
        balances["\(told.balance.environment)/\(told.balance.unit)"] = told.balance
      case .entitlementsErased:
        rights = [:]
        balances = [:]
      default: continue
      }
    }
  }

  func text(at time: Int64) -> String {
    let names = rights.keys.sorted().map { name in
      rights[name]?.expiresAt.map { "\(name) until \(rfc3339($0))" } ?? name
    }
    let sums = balances.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.amount)" }
    let all = names + sums
    return "owned at \(rfc3339(time)), version \(version): "
      + (all.isEmpty ? "nothing" : all.joined(separator: ", "))
  }
}

/// A story of more records than are kept at once.
struct StoryTooLong: Error, CustomStringConvertible {
  let topic: Topic
  var description: String {
    "the story has more than \(WhyStory.limit) records on \(topic.rawValue); use 'purser inspect'"
  }
}

/// A topic that was not read to its end.
struct StoryIncomplete: Error, CustomStringConvertible {
  let topic: Topic
  var description: String {
    "\(topic.rawValue) could not be read to its end: the broker gave nothing more; try again"
  }
}
