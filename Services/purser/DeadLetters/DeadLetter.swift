import Kafka
import Pipeline
import ServiceRuntime

/// Where a letter stands on the dead-letter topic, as `partition:offset`: its name for people.
struct LetterPlace: Hashable, Comparable, Sendable, CustomStringConvertible {
  let partition: Int32
  let offset: Int64

  var description: String { "\(partition):\(offset)" }

  /// Reads what `description` wrote.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]),
      partition >= 0, offset >= 0
    else { return nil }
    self.init(partition: partition, offset: offset)
  }

  init(partition: Int32, offset: Int64) {
    self.partition = partition
    self.offset = offset
  }

  static func < (left: LetterPlace, right: LetterPlace) -> Bool {
    (left.partition, left.offset) < (right.partition, right.offset)
  }
}

/// A record that could not be used, as it stands on the dead-letter topic.
struct DeadLetter: Sendable {
  /// Headers that a letter has beside those of the original.
  static let notes: Set<String> = Set(
    [
      "reason", "detail", "service", "origin-topic", "origin-partition", "origin-offset",
      "value-left-out", "headers-left-out", "key-left-out",
    ].map { "purser-\($0)" })
  /// How often a record was put back; it travels with the record.
  static let retriesHeader = "purser-retries"

  let record: ReceivedRecord
  /// What a person decided about it; nil while it is open.
  var decision: LetterDecision?

  init(_ record: ReceivedRecord) { self.record = record }

  var place: LetterPlace { LetterPlace(partition: record.partition, offset: record.offset) }
  /// Why it is dead, as a stable word.
  var reason: String { note("reason") ?? "unknown" }
  /// The same for people.
  var detail: String { note("detail") ?? "" }
  /// Which service gave it up, as its `ce_source`.
  var service: String { note("service") ?? "unknown" }
  /// The topic that it was read from, or could not be written to.
  var originTopic: String? { note("origin-topic") }
  var originPartition: Int32? { note("origin-partition").flatMap { Int32($0) } }
  var originOffset: Int64? { note("origin-offset").flatMap { Int64($0) } }
  /// What of the original was too large for a letter.
  var leftOut: [String] {
    ["value", "headers", "key"].filter { note("\($0)-left-out") != nil }
  }
  var retries: Int { Self.last(Self.retriesHeader, in: record.headers).flatMap { Int($0) } ?? 0 }

  /// The original as far as it is in the letter: without the letter's own notes.
  var original: Record {
    var headers = record.headers
    // The letter's own number in the line of its service comes behind its notes.
    if let last = headers.lastIndex(where: { Self.notes.contains($0.name) }),
      let own = headers.lastIndex(where: { $0.name == StoreHeaders.sequence }), own > last
    {
      headers.remove(at: own)
    }
    for name in Self.notes {
      // The letter's note is the last of its name; one before it came with the original.
      if let index = headers.lastIndex(where: { $0.name == name }) { headers.remove(at: index) }
    }
    return Record(
      topic: originTopic ?? "", key: record.key, value: record.value, headers: headers,
      partition: originPartition)
  }

  private func note(_ name: String) -> String? { Self.last("purser-\(name)", in: record.headers) }

  private static func last(_ name: String, in headers: [Header]) -> String? {
    headers.last { $0.name == name }?.text
  }
}

/// What a person decided about a letter: a record behind it in its partition.
struct LetterDecision: Sendable, Equatable {
  enum Kind: String, Sendable { case retried, discarded }

  static let kindHeader = "purser-decision"
  private static let placeHeader = "purser-letter"
  private static let becauseHeader = "purser-because"

  let kind: Kind
  let letter: LetterPlace
  /// Why, in the person's words.
  let because: String
  /// UTC milliseconds.
  let decidedAt: Int64

  init(_ kind: Kind, _ letter: LetterPlace, because: String, at time: Int64) {
    self.kind = kind
    self.letter = letter
    self.because = because
    decidedAt = time
  }

  /// Nil for a record that is no decision.
  init?(_ record: ReceivedRecord) {
    guard let kind = record.header(Self.kindHeader).flatMap(Kind.init(rawValue:)),
      let letter = record.header(Self.placeHeader).flatMap(LetterPlace.init)
    else { return nil }
    self.init(
      kind, letter, because: record.header(Self.becauseHeader) ?? "", at: record.timestamp)
  }

  /// The record that says so: without value, in the letter's own partition.
  func record(for letter: DeadLetter) -> Record {
    Record(
      topic: letter.record.topic, key: letter.record.key, value: nil,
      headers: [
        Header(name: Self.kindHeader, text: kind.rawValue),
        Header(name: Self.placeHeader, text: "\(self.letter)"),
        Header(name: Self.becauseHeader, text: because),
      ], timestamp: decidedAt, partition: letter.record.partition)
  }
}
