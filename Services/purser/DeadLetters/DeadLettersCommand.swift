import Events
import Kafka
import ServiceRuntime

/// `purser dead-letters list`, `show`, `retry` and `discard`.
enum DeadLettersCommand {
  static let list = Command(
    name: "dead-letters list",
    synopsis: "[--reason R] [--topic T] [--service S] [--key K] [--decided] [--check] [--json]",
    summary: "Shows the records that could not be used",
    about: """
      A service that cannot use a record writes it to the dead-letter topic: the original bytes and
      headers, why, and where it came from. This prints a line for each letter that is open: time,
      place (partition:offset, its name in the other commands), reason, origin, service, key, type.
      A letter is open until somebody retries or discards it. Letters stay for 30 days.
      """,
    options: LetterFilter.options + [
      .init(name: "--decided", help: "those that were retried or discarded, too"),
      .init(name: "--check", help: "exit code 1 if a letter is open, for a job that watches"),
      .init(name: "--json", help: "a JSON object in each line, with headers and the whole value"),
    ],
    examples: [
      "purser dead-letters list",
      "purser dead-letters list --reason malformed-value --json",
      "purser dead-letters list --check",
    ]
  ) { arguments, settings in
    try list(arguments, settings)
  }

  static let show = Command(
    name: "dead-letters show", synopsis: "PLACE… [--json]",
    summary: "Shows all about one letter",
    about: """
      Prints a letter's reason and what to do about it, its origin, what was decided, the original
      headers, and the original value: as text where it is text, otherwise in hexadecimal.
      """,
    options: [.init(name: "--json", help: "as one line of JSON; bytes that are no text in base64")],
    operands: 1...100,
    examples: ["purser dead-letters show 3:17"]
  ) { arguments, settings in
    let filter = try LetterFilter(arguments, TopicNames(prefix: settings.topicPrefix))
    let letters = try named(filter, in: try LetterBox.read(settings))
    let terminal = Terminal(settings)
    for letter in letters {
      terminal.line(
        arguments.has("--json") ? LetterText.json(letter) : LetterText.page(letter, terminal))
    }
    return Tool.success
  }

  private static let changeOptions: [Command.Option] =
    LetterFilter.options + [
      .init(name: "--all", help: "every open letter"),
      .init(name: "--because", value: "TEXT", help: "why; it stays with the letter"),
      .init(name: "--dry-run", help: "show what would be done, and do nothing"),
      .init(name: "--json", help: "the letters that are dealt with as lines of JSON"),
    ]

  static let retry = Command(
    name: "dead-letters retry",
    synopsis:
      "PLACE… | --reason R | --topic T | --service S | --key K | --all [--because TEXT] [--dry-run]",
    summary: "Puts records back through the door that they came by",
    about: """
      Writes the original record again to the topic and partition that it came from, with its own key,
      value and headers, and so with its own id: whoever has it drops it, whoever lacks it takes it.
      Then the letter is closed with a note. What was closed before is left alone, so the command may
      be run again. If the record fails again, it comes back as a new letter.

      After a build that mends a reader was started, retry all letters of its reason at once. A record
      of reason handler-failed waits in the service's store, too, and is tried there at each start;
      retry closes its letter, and the second copy changes nothing.

      A record goes back at most \(LetterOffice.maximumRetries) times without --force. A state of a customer
      (entitlement-state) goes back only where no newer one stands, as an old one would hide it; otherwise
      nothing is written, and the letter's note says so.
      """,
    options: changeOptions + [
      .init(name: "--force", help: "put back what was put back too often already")
    ],
    operands: 0...1000,
    examples: [
      "purser dead-letters retry 3:17",
      "purser dead-letters retry --reason malformed-value --dry-run",
    ]
  ) { arguments, settings in
    try change(arguments, settings, "retried", because: arguments.text("--because") ?? "") {
      office, letters in
      var good: [DeadLetter] = []
      var refused = 0
      for letter in letters {
        guard let objection = office.objection(to: letter, force: arguments.has("--force")) else {
          good.append(letter)
          continue
        }
        refused += 1
        Terminal.complain("purser: \(letter.place) stays open: \(objection)")
      }
      return (good, refused, { try office.retry(good, because: $0) })
    }
  }

  static let discard = Command(
    name: "dead-letters discard",
    synopsis:
      "PLACE… | --reason R | --topic T | --service S | --key K | --all --because TEXT [--dry-run]",
    summary: "Closes letters that nobody needs, with a note of why",
    about: """
      Closes letters. Nothing is deleted: the letter stays on the topic as long as all letters do,
      with a note behind it that says when and why; 'purser dead-letters list --decided' shows both.
      What was closed before is left alone, so the command may be run again.
      """,
    options: changeOptions,
    operands: 0...1000,
    examples: ["purser dead-letters discard 3:17 --because 'a test of the warehouse team'"]
  ) { arguments, settings in
    guard let because = arguments.text("--because"), !because.isEmpty else {
      throw arguments.error("say why with --because TEXT; it stays with the letter")
    }
    return try change(arguments, settings, "discarded", because: because) { office, letters in
      (letters, 0, { try office.discard(letters, because: $0) })
    }
  }

  static let all = [list, show, retry, discard]

  private static func list(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    let filter = try LetterFilter(arguments, TopicNames(prefix: settings.topicPrefix))
    let box = try LetterBox.read(settings)
    let letters = box.sorted {
      filter.takes($0) && (arguments.has("--decided") || $0.decision == nil)
    }
    let terminal = Terminal(settings)
    for letter in letters {
      terminal.line(
        arguments.has("--json") ? LetterText.json(letter) : LetterText.line(letter, terminal))
    }
    let open = letters.filter { $0.decision == nil }
    Terminal.complain(
      open.isEmpty
        ? "purser: no letter is open" : "purser: \(open.count) open: \(LetterText.sums(open))")
    if box.isCut {
      Terminal.complain(
        "purser: there are more than \(LetterBox.limit) letters; the rest is not shown")
    }
    return arguments.has("--check") && !open.isEmpty ? Tool.failure : Tool.success
  }

  /// The letters that were named, in that order.
  private static func named(_ filter: LetterFilter, in box: LetterBox) throws -> [DeadLetter] {
    let missing = filter.places.filter { box.letters[$0] == nil }
    guard missing.isEmpty else { throw LetterError.noLetter(missing) }
    return filter.places.compactMap { box.letters[$0] }
  }

  /// What is to be done with letters: which, how many are left out, and the doing.
  private typealias Plan = (
    letters: [DeadLetter], refused: Int, run: (_ because: String) throws -> Void
  )

  private static func change(
    _ arguments: Arguments, _ settings: Settings, _ done: String, because: String,
    _ plan: (LetterOffice, [DeadLetter]) -> Plan
  ) throws -> Int32 {
    let names = TopicNames(prefix: settings.topicPrefix)
    let filter = try LetterFilter(arguments, names)
    guard filter.isOpen == arguments.has("--all") else {
      throw arguments.error(
        filter.isOpen
          ? "say which letters: their places, --reason, --topic, --service, --key, or --all"
          : "--all is every letter; give it alone")
    }
    let box = try LetterBox.read(settings)
    _ = try named(filter, in: box)
    let letters = box.sorted(where: filter.takes)
    let office = LetterOffice(
      configuration: try settings.clientConfiguration(), names: names, clock: SystemClock())
    let plan = plan(office, letters.filter { $0.decision == nil })
    let terminal = Terminal(settings)
    for letter in plan.letters {
      terminal.line(
        arguments.has("--json") ? LetterText.json(letter) : LetterText.line(letter, terminal))
    }
    let isDry = arguments.has("--dry-run")
    if !isDry && !plan.letters.isEmpty { try plan.run(because) }
    var words = ["\(plan.letters.count) \(isDry ? "would be \(done)" : done)"]
    let closed = letters.count { $0.decision != nil }
    if closed > 0 { words.append("\(closed) were closed before") }
    if plan.refused > 0 { words.append("\(plan.refused) stay open") }
    Terminal.complain("purser: \(words.joined(separator: ", "))")
    return plan.refused > 0 ? Tool.failure : Tool.success
  }
}
