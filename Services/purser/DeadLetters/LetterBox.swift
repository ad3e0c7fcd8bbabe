import Events
import Kafka
import ServiceRuntime

/// The letters that stand on the dead-letter topic now, each with what was decided about it.
struct LetterBox {
  /// No more letters than this are looked at; the oldest ones come first.
  static let limit = 100_000

  private(set) var letters: [LetterPlace: DeadLetter] = [:]
  /// Whether there are more than `limit`.
  private(set) var isCut = false

  /// Folds the topic's records: a decision belongs to the letter that it names.
  init(_ records: some Sequence<ReceivedRecord>) {
    var decisions: [LetterPlace: LetterDecision] = [:]
    for record in records {
      if let decision = LetterDecision(record) {
        // The first one holds: what came later found a decided letter and did nothing.
        if decisions[decision.letter] == nil { decisions[decision.letter] = decision }
      } else if letters.count < Self.limit {
        let letter = DeadLetter(record)
        letters[letter.place] = letter
      } else {
        isCut = true
      }
    }
    for (place, decision) in decisions { letters[place]?.decision = decision }
  }

  /// Reads the topic from its beginning to its end; blocks.
  static func read(_ settings: Settings) throws -> LetterBox {
    let reading = try TopicReading(
      Topic.deadLetters.rawValue, names: TopicNames(prefix: settings.topicPrefix),
      partition: nil, configuration: try settings.clientConfiguration())
    defer { reading.close() }
    try reading.begin(at: .beginning)
    var records: [ReceivedRecord] = []
    guard
      try reading.read(
        follows: false,
        {
          records.append($0); return true
        }) == .end
    else {
      throw LetterError.notReadToTheEnd
    }
    return LetterBox(records)
  }

  /// Letters in the order in which they were written.
  func sorted(where test: (DeadLetter) -> Bool) -> [DeadLetter] {
    letters.values.filter(test).sorted {
      ($0.record.timestamp, $0.place) < ($1.record.timestamp, $1.place)
    }
  }
}

/// Which letters a command is about.
struct LetterFilter: Sendable {
  static let options: [Command.Option] = [
    .init(name: "--reason", value: "R", help: "letters of this reason, such as malformed-value"),
    .init(
      name: "--topic", value: "T", help: "letters from this topic; 'orders' is 'iap.orders'"),
    .init(name: "--service", value: "S", help: "letters of this service, such as verify-service"),
    .init(name: "--key", value: "K", help: "letters of this key, such as a customer"),
  ]

  let places: [LetterPlace]
  private let reason: String?
  private let topic: String?
  private let service: String?
  private let key: String?

  init(_ arguments: Arguments, _ names: TopicNames) throws(UsageError) {
    var places: [LetterPlace] = []
    for word in arguments.operands {
      guard let place = LetterPlace(word) else {
        throw arguments.error(
          "'\(word)' names no letter; give partition:offset as 'purser dead-letters list' shows it")
      }
      places.append(place)
    }
    self.places = places
    reason = arguments.text("--reason")
    topic = arguments.text("--topic").map { word in
      Topic(rawValue: word).map(names.name(of:)) ?? word
    }
    service = arguments.text("--service")
    key = arguments.text("--key")
  }

  /// Whether nothing was said about which letters.
  var isOpen: Bool {
    places.isEmpty && reason == nil && topic == nil && service == nil && key == nil
  }

  func takes(_ letter: DeadLetter) -> Bool {
    (places.isEmpty || places.contains(letter.place))
      && (reason == nil || letter.reason == reason)
      && (topic == nil || letter.originTopic == topic)
      && (service == nil || letter.service.hasSuffix(service ?? ""))
      && (key == nil || letter.record.key == key.map { Array($0.utf8) })
  }
}

/// Why letters cannot be dealt with as asked.
enum LetterError: Error, CustomStringConvertible {
  case notReadToTheEnd
  case noLetter([LetterPlace])
  case notWritten(String)

  var description: String {
    switch self {
    case .notReadToTheEnd:
      "the dead-letter topic was not read to its end, so nothing was done; try again"
    case .noLetter(let places):
      "there is no letter \(places.map(\.description).joined(separator: ", ")); "
        + "'purser dead-letters list --decided' shows all that are there"
    case .notWritten(let fault):
      "the broker did not take a record: \(fault); what was done before it stands, run this again"
    }
  }
}
