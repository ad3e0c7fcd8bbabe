import Events
import FoundationEssentials
import Kafka
import Pipeline
import ServiceRuntime
import Synchronization

/// Publishes records once more, as they were, at a bounded rate.
struct PublishAgain {
  let rate: Int
  let into: String?
  let resumeFile: String?
  /// What was asked, in one line: progress is that of this question.
  let question: String

  static func run(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    let now = SystemClock().now()
    let partition = try arguments.integer("--partition", in: 0...1_000_000).map(Int32.init)
    let place = try StartingPlace(arguments.text("--from") ?? "beginning", now: now, arguments)
    if case .offset = place, partition == nil {
      throw arguments.error("--from with an offset needs --partition")
    }
    let until = try arguments.text("--until").map { text in
      try StartingPlace(text, now: now, arguments, option: "--until")
    }
    if case .offset = until, partition == nil {
      throw arguments.error("--until with an offset needs --partition")
    }
    let filter = RecordFilter(
      key: arguments.text("--key"), type: arguments.text("--type"),
      lineage: arguments.text("--lineage"))
    let names = TopicNames(prefix: settings.topicPrefix)
    let into = arguments.text("--into").map { word in
      Topic(rawValue: word).map(names.name(of:)) ?? word
    }
    let again = PublishAgain(
      rate: try arguments.integer("--rate", in: 1...1_000_000) ?? 500, into: into,
      resumeFile: arguments.text("--resume"),
      question: (arguments.operands
        + [
          "--partition", "--from", "--until", "--key", "--type", "--lineage", "--into", "--broker",
        ]
        .map { "\($0) \(arguments.text($0) ?? "")" }).joined(separator: ", "))
    let topic = arguments.operands[0]
    let state = names.name(of: .entitlementState)
    if [Topic.entitlementState.rawValue, state].contains(topic), (into ?? state) == state,
      arguments.text("--broker") == nil
    {
      throw arguments.error(
        "on \(state) the last record of a customer is what counts: an old one would hide a newer one; "
          + "name another topic with --into or another broker with --broker")
    }
    let configuration = try settings.clientConfiguration()
    let target = try arguments.text("--broker").map { broker in
      try ClientConfiguration(
        fromEnvironment: settings.kafka.merging(["BOOTSTRAP_SERVERS": broker]) { $1 })
    }
    let reading = try TopicReading(
      topic, names: names, partition: partition, configuration: configuration)
    defer { reading.close() }
    try reading.begin(at: place)
    try again.resume(reading)
    let producer =
      arguments.has("--really")
      ? try Producer(
        target ?? configuration, name: "purser-replay", log: .complaints, metrics: Metrics())
      : nil
    if producer != nil { try reach(target ?? configuration) }
    let output = try ReplayOutput(arguments, settings)
    let count = try again.publish(reading, producer) { record in
      guard filter.takes(record), !record.isReplayed, isBefore(until, record) else { return false }
      if !output.isForPeople { try output.put(record: record, text: "") }
      return true
    }
    try output.finish()
    Terminal.complain(
      producer == nil
        ? "purser: \(count) records would be published; nothing was. Add --really."
        : "purser: \(count) records were published once more")
    return Tool.success
  }

  /// A producer waits for its broker as long as it takes; a person wants to know of it first.
  private static func reach(_ configuration: ClientConfiguration) throws {
    let admin = try Admin(
      configuration, name: "purser-replay", log: .complaints, metrics: Metrics())
    defer { admin.closeAndWait() }
    _ = try admin.topics(timeout: TopicsCommand.patience)
  }

  private static func isBefore(_ place: StartingPlace?, _ record: ReceivedRecord) -> Bool {
    switch place {
    case nil, .end: true
    case .beginning: false
    case .time(let time): record.timestamp < time
    case .offset(let offset): record.offset < offset
    }
  }

  private func publish(
    _ reading: TopicReading, _ producer: Producer?, takes: (ReceivedRecord) throws -> Bool
  ) throws -> Int {
    defer { producer?.closeAndWait(by: .after(.seconds(5))) }
    let progress = ReplayProgress()
    let reports = AgainReports()
    var count = 0
    var pace = Deadline.after(.seconds(1))
    let ending = try reading.read(follows: false) { record in
      progress.add("replay", left: reading.left)
      guard try takes(record) else { return true }
      count += 1
      guard let producer else { return true }
      try send(copy(of: record), producer, reports)
      guard count.isMultiple(of: rate) else { return true }
      try reports.wait()
      try note(reading)
      if !pace.hasPassed { Wake().wait(atMost: pace.remaining) }
      pace = .after(.seconds(1))
      return true
    }
    guard ending == .end else { throw ReplayBroken(cause: "the broker gave nothing more") }
    try reports.wait()
    if producer != nil { try note(reading) }
    return count
  }

  private func copy(of record: ReceivedRecord) -> Record {
    Record(
      topic: into ?? record.topic, key: record.key, value: record.value,
      headers: record.headers
        + [
          Header(
            name: StoreHeaders.replay,
            text: "\(record.topic)/\(record.partition)/\(record.offset)")
        ], timestamp: record.timestamp)
  }

  private func send(_ record: Record, _ producer: Producer, _ reports: AgainReports) throws {
    while true {
      do {
        reports.begin()
        try producer.enqueue(record) { reports.end($0) }
        return
      } catch {
        reports.cancel()
        guard error.code == .queueFull else { throw error }
        Wake().wait(atMost: .milliseconds(10))
      }
    }
  }

  /// Everything before these offsets is published.
  private func note(_ reading: TopicReading) throws {
    guard let resumeFile else { return }
    let lines =
      ["# \(question)"]
      + reading.positions.sorted { $0.key < $1.key }
      .map { "\($0.key.topic) \($0.key.partition) \($0.value)" }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(
      to: URL(filePath: resumeFile), options: .atomic)
  }

  private func resume(_ reading: TopicReading) throws {
    guard let resumeFile, let data = try? Data(contentsOf: URL(filePath: resumeFile)) else {
      return
    }
    var positions: [TopicPartition: Int64] = [:]
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
    guard let first = lines.first, first.hasPrefix("# ") else {
      throw ReplayBroken(cause: "\(resumeFile) is not a file of --resume")
    }
    guard first.dropFirst(2) == question else { throw OtherQuestion(folder: resumeFile) }
    for line in lines.dropFirst() {
      let parts = line.split(separator: " ")
      guard parts.count == 3, let partition = Int32(parts[1]), let offset = Int64(parts[2]) else {
        throw ReplayBroken(cause: "\(resumeFile) is not a file of --resume")
      }
      positions[TopicPartition(String(parts[0]), partition)] = offset
    }
    reading.goOn(from: positions)
  }
}

/// Counts records whose report is still to come, and keeps the first failure.
private final class AgainReports: Sendable {
  private struct State {
    var open = 0
    var failure: KafkaError?
  }

  private let state = Mutex(State())
  private let wake = Wake()

  func begin() { state.withLock { $0.open += 1 } }

  func cancel() { state.withLock { $0.open -= 1 } }

  func end(_ result: DeliveryResult) {
    state.withLock { state in
      state.open -= 1
      if case .failure(let error) = result { state.failure = state.failure ?? error }
    }
    wake.signal()
  }

  /// Blocks until all reports are in.
  func wait() throws {
    while state.withLock({ $0.open }) > 0 { wake.wait(atMost: .milliseconds(200)) }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }
}

/// A replay that could not go on.
struct ReplayBroken: Error, CustomStringConvertible {
  let cause: String
  var description: String {
    "\(cause); what was published is marked, and --resume goes on behind it"
  }
}
