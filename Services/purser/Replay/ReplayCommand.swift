/// `purser replay`: questions that the topics answer, without touching a service.
enum ReplayCommand {
  static let why = Command(
    name: "replay why",
    synopsis: "CUSTOMER [--at TIME] [--from PLACE] [--lineage L] [--type T] [--json] [--to FILE]",
    summary: "Tells one customer's story from the topics, and what was owned at a time",
    about: """
      Reads what the topics hold of a customer and of the lineages that were told to it: facts from
      Apple, tokens, merges, orders, proofs, outcomes, lineage states, and every event with what it
      changed; in the order of time. --at TIME ends the story there and says what the customer owned
      then. It reads topics and nothing else, joins no group and commits nothing.

      A proof stays on its topic for 30 days. Who was erased still has a story here, as topics keep
      it: treat the output accordingly.
      """,
    options: [
      .init(name: "--at", value: "TIME", help: "a time (2026-05-01T12:00:00Z) or an age (2h, 7d)"),
      .init(name: "--from", value: "PLACE", help: "leave out what is older: a time or an age"),
      .init(name: "--lineage", value: "L", help: "only what names this lineage or transaction id"),
      .init(name: "--type", value: "T", help: "only types that are T or have T in them"),
      .init(name: "--json", help: "a JSON object in each line, with headers and the whole value"),
      .init(
        name: "--to", value: "FILE.sqlite",
        help: "write the records to a SQLite file that can be queried instead"),
    ],
    operands: 1...1,
    examples: [
      "purser replay why alice", "purser replay why alice --at 2026-05-01T12:00:00Z",
      "purser replay why alice --to alice.sqlite",
    ]
  ) { arguments, settings in try WhyStory.run(arguments, settings) }

  static let again = Command(
    name: "replay again",
    synopsis:
      "TOPIC [--from PLACE] [--until TIME] [--partition N] [--key K] [--type T] [--into TOPIC] "
      + "[--rate N] [--really] [--resume FILE]",
    summary: "Publishes a range of records once more, with their key, id and time",
    about: """
      Without --really it only counts what it would publish. Records keep key, value, headers and
      time, and get the header purser-replay with their origin; services of Purser drop what they
      have, by revision and version, and subscribers should do the same. The way to a broker is
      that of KAFKA_BOOTSTRAP_SERVERS for reading, and for writing, too, unless --broker names another.

      With --resume FILE it notes how far it is after each second, and goes on from there when it is
      called again with the same file.
      """,
    options: [
      .init(name: "--from", value: "PLACE", help: "'beginning', a time, an age, or an offset"),
      .init(name: "--until", value: "TIME", help: "before this time or age"),
      .init(name: "--partition", value: "N", help: "only this partition"),
      .init(name: "--key", value: "K", help: "only records with this key"),
      .init(name: "--type", value: "T", help: "only types that are T or have T in them"),
      .init(name: "--into", value: "TOPIC", help: "publish to this topic (default: the same)"),
      .init(name: "--broker", value: "HOST:PORT", help: "publish to this broker"),
      .init(name: "--rate", value: "N", help: "records a second at most (default 500)"),
      .init(name: "--really", help: "publish; without it nothing is written"),
      .init(name: "--resume", value: "FILE", help: "where progress is noted"),
    ],
    operands: 1...1,
    examples: [
      "purser replay again entitlements --key alice",
      "purser replay again entitlements --from 2h --really --rate 100 --resume progress.json",
    ]
  ) { arguments, settings in try PublishAgain.run(arguments, settings) }
}
