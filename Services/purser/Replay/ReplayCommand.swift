/// `purser replay`: questions that the topics answer, without touching a service.
enum ReplayCommand {
  static let why = Command(
    name: "replay why",
    synopsis:
      "[CUSTOMER] [--at TIME] [--from TIME] [--lineage L] [--type T] [--json] [--to FILE] "
      + "[--resume FILE]",
    summary: "Tells one customer's story from the topics, and what was owned at a time",
    about: """
      Reads what the topics hold of a customer and of the lineages that were told to it: facts from
      Apple, tokens, merges, orders, proofs, outcomes, lineage states, and every event with what it
      changed; in the order of time. --at TIME ends the story there and says what the customer owned
      then. Without CUSTOMER, --lineage tells the story of a lineage, or of anything else that has an id,
      whoever it concerns. It reads topics and nothing else, joins no group and commits nothing.

      TIME is a time (2026-05-01T12:00:00Z), an age (2h, 7d), or the place of a record, whose time it is
      (transactions/3/17). What is gathered lies in a file meanwhile; with --resume FILE one that was
      stopped goes on where it was.

      A proof stays on its topic for 30 days. Who was erased still has a story here, as topics keep
      it: treat the output accordingly.
      """,
    options: [
      .init(name: "--at", value: "TIME", help: "end the story then, and say what was owned"),
      .init(name: "--from", value: "TIME", help: "leave out what is older"),
      .init(name: "--lineage", value: "L", help: "only what names this lineage or transaction id"),
      .init(name: "--type", value: "T", help: "only types that are T or have T in them"),
    ] + ReplayOutput.options + [
      .init(name: "--resume", value: "FILE", help: "where the story is kept until it is told")
    ],
    operands: 0...1,
    examples: [
      "purser replay why alice", "purser replay why alice --at 2026-05-01T12:00:00Z",
      "purser replay why --lineage com.example.app/Production/2000000123456789",
      "purser replay why alice --to alice.sqlite",
    ]
  ) { arguments, settings in try WhyStory.run(arguments, settings) }

  static let again = Command(
    name: "replay again",
    synopsis:
      "TOPIC [--from PLACE] [--until PLACE] [--partition N] [--key K] [--lineage L] [--type T] "
      + "[--into TOPIC] [--broker HOST:PORT] [--rate N] [--really] [--json] [--to FILE] "
      + "[--resume FILE]",
    summary: "Publishes a range of records once more, with their key, id and time",
    about: """
      Without --really it only says how many it would publish, and with --json or --to which. Records
      keep key, value, headers and time, and get the header purser-replay with their origin; services of
      Purser drop what they have, by revision and version, and subscribers should do the same. The way to
      a broker is that of KAFKA_BOOTSTRAP_SERVERS for reading, and for writing, too, unless --broker
      names another.

      With --resume FILE it notes how far it is after each second, and goes on from there when it is
      called again with the same file.
      """,
    options: [
      .init(
        name: "--from", value: "PLACE",
        help: "'beginning', a time, an age, or with --partition an offset"),
      .init(
        name: "--until", value: "PLACE",
        help: "before this time or age, or with --partition before this offset"),
      .init(name: "--partition", value: "N", help: "only this partition"),
      .init(name: "--key", value: "K", help: "only records with this key, such as a customer"),
      .init(name: "--lineage", value: "L", help: "only what names this lineage or transaction id"),
      .init(name: "--type", value: "T", help: "only types that are T or have T in them"),
      .init(name: "--into", value: "TOPIC", help: "publish to this topic (default: the same)"),
      .init(name: "--broker", value: "HOST:PORT", help: "publish to this broker"),
      .init(name: "--rate", value: "N", help: "records a second at most (default 500)"),
      .init(name: "--really", help: "publish; without it nothing is written"),
    ] + ReplayOutput.options + [
      .init(name: "--resume", value: "FILE", help: "where progress is noted")
    ],
    operands: 1...1,
    examples: [
      "purser replay again entitlements --key alice --json",
      "purser replay again entitlements --from 2h --really --rate 100 --resume progress",
    ]
  ) { arguments, settings in try PublishAgain.run(arguments, settings) }
}
