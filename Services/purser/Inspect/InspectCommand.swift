import Events
import Kafka
import ServiceRuntime

/// `purser inspect`: what stands in a topic, in lines that a person or a program can read.
enum InspectCommand {
  static let command = Command(
    name: "inspect",
    synopsis:
      "TOPIC [--from PLACE] [--partition N] [--key K] [--type T] [--limit N] [--follow] [--json]",
    summary: "Shows the records of a topic",
    about: """
      Reads a topic of the broker of KAFKA_BOOTSTRAP_SERVERS and prints a line for each record: time,
      partition:offset, key, type, and what it says. It joins no group and commits nothing, so it
      disturbs nobody. It ends where the topic ended when it began, or goes on with --follow.

      TOPIC is a full name, or the word behind the prefix: 'orders' is 'iap.orders'. Records of one
      partition, and so of one customer, come in their order; partitions are mixed.
      """,
    options: [
      .init(
        name: "--from", value: "PLACE",
        help: """
          where to begin: 'beginning' (default), 'end' (with --follow),
          a time (2026-05-01T12:00:00Z), an age (90s, 15m, 2h, 7d),
          or with --partition an offset
          """),
      .init(name: "--partition", value: "N", help: "only this partition"),
      .init(name: "--key", value: "K", help: "only records with this key, such as a customer"),
      .init(
        name: "--type", value: "T",
        help: "only records whose type is T or has T in it, such as 'entitlement'"),
      .init(
        name: "--limit", value: "N",
        help: "at most N records (default \(defaultLimit), without end with --follow)"),
      .init(name: "--follow", help: "go on with what comes, until Ctrl-C"),
      .init(name: "--json", help: "a JSON object in each line, with headers and the whole value"),
    ],
    operands: 1...1,
    examples: [
      "purser inspect orders --from 15m",
      "purser inspect iap.entitlements --key alice",
      "purser inspect transactions --partition 3 --from 17 --limit 1 --json",
      "purser inspect entitlements --from end --follow",
    ]
  ) { arguments, settings in
    try run(arguments, settings)
  }

  static let defaultLimit = 1000

  private static func run(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    let follows = arguments.has("--follow")
    let partition = try arguments.integer("--partition", in: 0...1_000_000)
    let place = try StartingPlace(
      arguments.text("--from") ?? "beginning", now: SystemClock().now(), arguments)
    if case .offset = place, partition == nil {
      throw arguments.error("--from with an offset needs --partition")
    }
    if case .end = place, !follows {
      throw arguments.error("--from end shows only what comes later; add --follow")
    }
    let limit = try arguments.integer("--limit", in: 1...Int.max)
    let filter = RecordFilter(key: arguments.text("--key"), type: arguments.text("--type"))
    let terminal = Terminal(settings)
    let showsJSON = arguments.has("--json")

    let reading = try TopicReading(
      arguments.operands[0], names: TopicNames(prefix: settings.topicPrefix),
      partition: partition.map(Int32.init), configuration: try settings.clientConfiguration())
    defer { reading.close() }
    try reading.begin(at: place)

    var left = limit ?? (follows ? .max : defaultLimit)
    let ending = try reading.read(follows: follows) { record in
      guard filter.takes(record) else { return true }
      terminal.line(showsJSON ? RecordJSON.line(record) : RecordLine.line(record, terminal))
      left -= 1
      return left > 0
    }
    switch ending {
    case .readerHadEnough where limit == nil:
      Terminal.complain("purser: stopped after \(defaultLimit) records; --limit N shows more")
    case .silence:
      Terminal.complain(
        "purser: no record came for \(TopicReading.silence); what follows may be transaction marks, "
          + "or the broker is slow")
    case .readerHadEnough, .end: break
    }
    return Tool.success
  }
}
