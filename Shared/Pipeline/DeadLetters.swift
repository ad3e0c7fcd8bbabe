import Events
import Kafka
import SQLite
import ServiceRuntime

/// Writes records that cannot be used to the dead-letter topic: original key, value and headers,
/// and beside them why and where they came from.
///
/// That always succeeds: what is too large for a dead letter is left out, never the letter.
enum DeadLetters {
  /// Puts a received record into the outbox as a dead letter.
  static func insert(_ change: Change, _ record: ReceivedRecord, reason: String, detail: String)
    throws
  {
    try insert(
      change,
      Record(topic: record.topic, key: record.key, value: record.value, headers: record.headers),
      notes: [
        ("reason", reason), ("detail", detail), ("service", change.context.source),
        ("origin-topic", record.topic), ("origin-partition", "\(record.partition)"),
        ("origin-offset", "\(record.offset)"),
      ])
    count(change, reason)
  }

  /// Puts a row that Kafka refused into the outbox as a dead letter.
  ///
  /// - Returns: Whether there is one: a dead letter that was itself refused is tried without its value,
  ///   and after that there is no other form of it.
  static func replace(_ change: Change, _ row: Outbox.Row, _ error: KafkaError) throws -> Bool {
    var record = Record(
      topic: row.topic, key: row.key, value: row.value, headers: row.headers ?? [])
    guard row.topic == change.context.topics.name(of: .deadLetters) else {
      // Which of the states of its customer it is, for whoever puts it back.
      record.headers.append(Header(name: StoreHeaders.sequence, text: "\(row.id)"))
      try insert(
        change, record,
        notes: [
          ("reason", "refused-by-kafka"), ("detail", error.description),
          ("service", change.context.source), ("origin-topic", row.topic),
        ])
      count(change, "refused-by-kafka")
      return true
    }
    guard record.value != nil else { return false }
    record.value = nil
    try insert(change, record, notes: [("value-left-out", error.description)])
    return true
  }

  /// The reasons that this module knows; they are shown from the start, since an alarm on a rise does
  /// not see the first of what was not there before.
  static func show(in metrics: Metrics) {
    for reason in ["no-type", "no-value", "malformed-value", "handler-failed", "refused-by-kafka"] {
      _ = counter(metrics, reason)
    }
  }

  private static func count(_ change: Change, _ reason: String) {
    change.count(counter(change.context.metrics, reason))
  }

  private static func counter(_ metrics: Metrics, _ reason: String) -> Counter {
    metrics.counter(
      "dead_letters_total", "Records given up, by reason; each is on the dead-letter topic.",
      labels: ["reason": reason])
  }

  private static func insert(_ change: Change, _ original: Record, notes: [(String, String)])
    throws
  {
    var notes = notes
    func letter() -> Record {
      var letter = original
      letter.topic = change.context.topics.name(of: .deadLetters)
      letter.headers += notes.map { name, text in
        Header(name: "purser-\(name)", value: Array(text.utf8.prefix(1000)))
      }
      return letter
    }
    func fits(_ record: Record) -> Bool {
      record.wireBytes + Outbox.overheadBytes <= Topic.maximumRecordBytes
    }

    var original = original
    let bytes = original.wireBytes
    if !fits(letter()) {
      original.value = nil
      notes.append(("value-left-out", "\(bytes) bytes; read the original at its origin"))
    }
    if !fits(letter()) {
      original.headers = []
      notes.append(("headers-left-out", "read the original at its origin"))
    }
    if !fits(letter()) {
      original.key = nil
      notes.append(("key-left-out", "read the original at its origin"))
    }
    try Outbox.insert(change, letter())
  }
}
