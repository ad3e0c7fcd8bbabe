import Events
import Kafka
import ServiceRuntime

extension Arguments {
  /// The lineage of `--lineage`, where only a whole one can be compared: a part of it would find nothing, which
  /// looks as if all were well.
  func wholeLineage() throws -> String? {
    guard let text = text("--lineage") else { return nil }
    guard LineageID(text) != nil else {
      throw error(
        "--lineage is '\(text)'; give it whole, such as com.example.app/Production/2000000123456789"
      )
    }
    return text
  }

  /// A time: given as such, as an age, or as the place of a record, `TOPIC/PARTITION/OFFSET`, whose time it
  /// is; UTC milliseconds.
  ///
  /// Blocks where it asks the broker.
  func time(_ name: String, _ settings: Settings) throws -> Int64? {
    guard let text = text(name) else { return nil }
    if let age = StartingPlace.age(text) { return SystemClock().now() - age }
    if let time = milliseconds(rfc3339: text) { return time }
    let parts = text.split(separator: "/")
    guard parts.count == 3, let partition = Int32(parts[1]), let offset = Int64(parts[2]) else {
      throw error(
        "\(name) is '\(text)'; give a time such as 2026-05-01T12:00:00Z, an age such as 2h, or the place "
          + "of a record such as transactions/3/17")
    }
    return try RecordFetch.record(String(parts[0]), partition, offset, settings).timestamp
  }
}

/// Reads single records by their place.
enum RecordFetch {
  /// The record at a place; blocks.
  ///
  /// - Throws: `ReadingError` when it is not there.
  static func record(_ topic: String, _ partition: Int32, _ offset: Int64, _ settings: Settings)
    throws -> ReceivedRecord
  {
    let found = try TopicReading.record(
      topic, partition, offset, names: TopicNames(prefix: settings.topicPrefix),
      configuration: try settings.clientConfiguration())
    guard let found else {
      throw ReadingError.noRecord(TopicPartition(topic, partition), offset)
    }
    return found
  }
}

/// Says on standard error how far a reading is, every few seconds.
final class ReplayProgress {
  private let began = ContinuousClock.now
  private var next = Deadline.after(.seconds(3))
  private var read = 0

  func add(_ what: String, left: Int64) {
    read += 1
    guard read.isMultiple(of: 256), next.hasPassed else { return }
    next = .after(.seconds(3))
    let seconds = max(0.001, (ContinuousClock.now - began) / Duration.seconds(1))
    let rate = Double(read) / seconds
    Terminal.complain(
      "purser: \(what): \(read) records read, \(left) left in this topic, \(Int(rate)) a second, "
        + "about \(Int(Double(left) / max(1, rate))) s to go")
  }
}
