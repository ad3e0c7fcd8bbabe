import Events
import Kafka
import Pipeline
import ServiceRuntime

/// `purser topics create` and `purser topics check`.
enum TopicsCommand {
  static let create = Command(
    name: "topics create",
    synopsis: "[--partitions N] [--replication N] [--prefix P]",
    summary: "Makes the topics that are missing",
    about: """
      Makes Purser's topics on the broker of KAFKA_BOOTSTRAP_SERVERS, each with the cleanup policy,
      retention and record size that Purser relies on. May be run again: what is there and right
      stays. A topic that is there and differs is never changed; then nothing is made, and you
      are told each difference and how to mend it.

      The number of partitions is fixed from then on: it decides where a customer's events are.
      """,
    options: options(
      partitions:
        "partitions of each topic\n(default: PURSER_PARTITIONS, or \(TopicNames.defaultPartitions))",
      replication: "copies of each partition (default: the broker's own)"),
    examples: [
      "KAFKA_BOOTSTRAP_SERVERS=localhost:9092 purser topics create",
      "purser topics create --replication 3",
    ]
  ) { arguments, settings in
    try run(arguments, settings) { plan, admin, terminal in
      let report = try TopicReport(plan, admin)
      guard report.differences.isEmpty else {
        terminal.line(report.table)
        throw TopicDifferences(report.differences, advice: "nothing was made")
      }
      try admin.create(report.missing, timeout: patience)
      for topic in report.missing { terminal.line("made \(topic.name)") }
      let kept = report.rows.count - report.missing.count
      terminal.line("\(report.missing.count) topics made, \(kept) were there and right")
      return Tool.success
    }
  }

  static let check = Command(
    name: "topics check",
    synopsis: "[--partitions N] [--replication N] [--prefix P]",
    summary: "Compares the topics with what Purser needs",
    about: """
      Prints a table of Purser's topics on the broker of KAFKA_BOOTSTRAP_SERVERS and, for each that
      is missing or differs, how to mend it. Changes nothing. Exit code 1 if anything differs.
      """,
    options: options(
      partitions:
        "partitions that each topic must have\n(default: PURSER_PARTITIONS, or any number, but all the same)",
      replication: "copies that each partition must have (default: any)"),
    examples: ["KAFKA_BOOTSTRAP_SERVERS=localhost:9092 purser topics check"]
  ) { arguments, settings in
    try run(arguments, settings) { plan, admin, terminal in
      let report = try TopicReport(
        plan, admin,
        anyPartitions: arguments.text("--partitions") == nil && settings.partitions == nil)
      terminal.line(report.table)
      let problems =
        report.differences
        + report.missing.map { topic in
          TopicDifference(
            topic: topic.name, what: "is missing", remedy: "purser topics create")
        }
      guard problems.isEmpty else { throw TopicDifferences(problems, advice: nil) }
      terminal.line("all \(report.rows.count) topics are as they must be")
      return Tool.success
    }
  }

  /// How long a broker may take for one answer.
  static let patience = Duration.seconds(15)

  private static func options(partitions: String, replication: String) -> [Command.Option] {
    [
      .init(name: "--partitions", value: "N", help: partitions),
      .init(name: "--replication", value: "N", help: replication),
      .init(
        name: "--prefix", value: "P",
        help: "what the names begin with (default: PURSER_TOPIC_PREFIX, or 'iap.')"),
    ]
  }

  private static func run(
    _ arguments: Arguments, _ settings: Settings,
    _ body: (TopicPlan, Admin, Terminal) throws -> Int32
  ) throws -> Int32 {
    let prefix = arguments.text("--prefix") ?? settings.topicPrefix
    guard Settings.isTopicName(prefix) else {
      throw arguments.error("--prefix \(Settings.topicNameRule)")
    }
    let partitions = try arguments.integer("--partitions", in: 1...10_000)
    let replication = try arguments.integer("--replication", in: 1...100)
    let plan = TopicPlan(
      names: TopicNames(prefix: prefix),
      partitions: partitions ?? settings.partitions ?? TopicNames.defaultPartitions,
      replicationFactor: replication ?? -1)
    let admin = try Admin(
      try settings.clientConfiguration(), name: "purser-topics", log: .complaints,
      metrics: Metrics())
    defer { admin.closeAndWait() }
    return try body(plan, admin, Terminal(settings))
  }
}

extension Log {
  /// What the Kafka client has to complain about, on standard error.
  static let complaints = Log(program: "purser", minimumLevel: .error) { line in
    Terminal.complain(String(line.dropLast()))
  }
}
