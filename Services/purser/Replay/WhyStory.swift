import Events
import Kafka
import ServiceRuntime

/// One customer's or one lineage's story: every record of the topics that is about it, in the order of time.
struct WhyStory {
  /// Topics whose records bear the customer as key, in the order in which one thing leads to another.
  private static let byCustomer: [Topic] = [
    .customers, .orders, .proofs, .transactions, .entitlements,
  ]

  let customer: String?
  let lineage: String?
  let type: String?
  /// What is older is left out.
  let from: Int64?
  /// What is newer does not count.
  let at: Int64?
  let settings: Settings

  static func run(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    let story = WhyStory(
      customer: arguments.operands.first, lineage: arguments.text("--lineage"),
      type: arguments.text("--type"), from: try arguments.time("--from", settings),
      at: try arguments.time("--at", settings), settings: settings)
    guard story.customer ?? story.lineage ?? "" != "" else {
      throw arguments.error("name a customer, or a lineage with --lineage")
    }
    let output = try ReplayOutput(arguments, settings)
    let asked = [
      story.customer, story.lineage, arguments.text("--from"), arguments.text("--at"),
      settings.topicPrefix,
    ]
    let file = try StoryFile(
      resuming: arguments.text("--resume"),
      question: asked.map { $0 ?? "" }.joined(separator: "\n"))
    try story.gather(file)
    try story.tell(file, output)
    try output.finish()
    file.remove()
    if output.count == 0 {
      Terminal.complain(
        "purser: no record tells of '\(story.customer ?? story.lineage ?? "")'; is the id right, as it was "
          + "written?")
    }
    if let path = arguments.text("--to") {
      Terminal(settings).line("\(output.count) records are in \(path)")
    }
    return Tool.success
  }

  /// Reads all records of the customer, and of the lineages that it was told of.
  func gather(_ file: StoryFile) throws {
    let progress = ReplayProgress()
    guard let customer else { return try gatherLineage(file, progress) }
    // What was owned at a time follows from all that was told before it.
    let begin = at == nil ? from : nil
    for (rank, topic) in Self.byCustomer.enumerated() {
      try read(
        topic, keys: [Array(customer.utf8)], from: topic == .transactions ? nil : begin, rank: rank,
        into: file, progress)
    }
    let lineages = try file.allLineages().map { Array($0.utf8) }
    guard !lineages.isEmpty else { return }
    try read(.appstore, keys: Set(lineages), from: begin, rank: -1, into: file, progress)
  }

  /// Reads all records that name a lineage, whoever has or had it.
  private func gatherLineage(_ file: StoryFile, _ progress: ReplayProgress) throws {
    guard let lineage else { return }
    let id = LineageID(lineage)?.originalTransactionId ?? lineage
    let keys = LineageID(lineage).map { Set([Array($0.description.utf8)]) }
    try read(.appstore, keys: keys, naming: id, from: from, rank: -1, into: file, progress)
    for (rank, topic) in Self.byCustomer.enumerated() {
      try read(topic, keys: nil, naming: id, from: from, rank: rank, into: file, progress)
    }
  }

  /// Reads the records of keys, and those that name something.
  private func read(
    _ topic: Topic, keys: Set<[UInt8]>?, naming id: String? = nil, from: Int64?, rank: Int,
    into file: StoryFile, _ progress: ReplayProgress
  ) throws {
    let names = TopicNames(prefix: settings.topicPrefix)
    let reading = try TopicReading(
      topic.rawValue, names: names, keeping: keys, configuration: try settings.clientConfiguration()
    )
    defer { reading.close() }
    try reading.begin(at: from.map { .time($0) } ?? .beginning)
    reading.goOn(from: try file.places(names.name(of: topic)))
    let ending = try reading.read(follows: false) { record in
      progress.add(topic.rawValue, left: reading.left)
      let isWanted =
        at.map { record.timestamp <= $0 } ?? true
        && keys.map { $0.contains(record.key ?? []) } ?? true
        && id.map { RecordFilter.names($0, record) } ?? true
      if isWanted { file.take(record, rank: rank, lineage: Self.lineage(of: record)) }
      try file.noteIfDue(reading.positions)
      return true
    }
    try file.note(reading.positions)
    if ending == .silence { throw StoryIncomplete(topic: topic) }
  }

  private static func lineage(of record: ReceivedRecord) -> String? {
    guard record.header("ce_type") == EventType.lineageChanged.rawValue, let value = record.value
    else { return nil }
    return try? EventJSON.decode(LineageState.self, from: value).lineage.description
  }

  /// Tells what was gathered, and what was owned at the end of it.
  private func tell(_ file: StoryFile, _ output: ReplayOutput) throws {
    let filter = RecordFilter(
      key: nil, type: type, lineage: lineage, from: from)
    let names = TopicNames(prefix: settings.topicPrefix)
    let terminal = Terminal(settings)
    var owned = Owned()
    try file.forEach { record in
      if let customer { try owned.take(record, of: customer) }
      guard filter.takes(record) else { return }
      let topic = names.topic(named: record.topic) ?? .deadLetters
      try output.put(
        record: record,
        text: terminal.styled(rfc3339(record.timestamp), .dim) + "  "
          + RecordLine.line(record, topic: topic, terminal))
    }
    guard let at, customer != nil else { return }
    Terminal(settings).line(owned.text(at: at))
  }
}

extension ReplayOutput {
  /// Adds a record of a topic.
  func put(record: ReceivedRecord, text: @autoclosure () -> String) throws {
    try put(
      "records",
      [
        ("topic", .text(record.topic)), ("partition", .number(Int64(record.partition))),
        ("record_offset", .number(record.offset)), ("time", .number(record.timestamp)),
        ("key", .text(record.key.map { String(decoding: $0, as: UTF8.self) })),
        ("type", .text(record.header("ce_type"))),
        ("value", .text(record.value.map { String(decoding: $0, as: UTF8.self) })),
        ("line", .text(PayloadSummary.text(record))),
      ], json: RecordJSON.line(record), text: text())
  }
}

/// What a customer owned after the last record of a story.
struct Owned: Equatable {
  var rights: [String: Entitlement] = [:]
  var balances: [String: Balance] = [:]
  var version: Int64 = 0

  /// Folds an event of a customer, each version once.
  mutating func take(_ record: ReceivedRecord, of customer: String) throws {
    guard record.key == Array(customer.utf8), let type = record.header("ce_type"),
      let value = record.value
    else { return }
    switch EventType(rawValue: type) {
    case .entitlementActivated, .entitlementUpdated, .entitlementDeactivated:
      let told = try EventJSON.decode(EntitlementChanged.self, from: value)
      guard told.version > version else { return }
      version = told.version
      let name = "\(told.entitlement.environment)/\(told.entitlement.name)"
      rights[name] = told.entitlement.isActive ? told.entitlement : nil
    case .balanceChanged:
      let told = try EventJSON.decode(BalanceChanged.self, from: value)
      guard told.version > version else { return }
      version = told.version
      balances["\(told.balance.environment)/\(told.balance.unit)"] = told.balance
    case .entitlementsErased:
      rights = [:]
      balances = [:]
    default: break
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

/// A topic that was not read to its end.
struct StoryIncomplete: Error, CustomStringConvertible {
  let topic: Topic
  var description: String {
    "\(topic.rawValue) could not be read to its end: the broker gave nothing more; try again"
  }
}
