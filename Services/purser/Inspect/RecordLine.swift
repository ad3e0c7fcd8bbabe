import Events
import Kafka
import ServiceRuntime

/// A record as one line for people.
enum RecordLine {
  static func line(_ record: ReceivedRecord, _ terminal: Terminal) -> String {
    let time = record.timestamp < 0 ? "no time" : rfc3339(record.timestamp)
    let place = "\(record.partition):\(record.offset)"
    return [
      terminal.styled(time, .dim), padded(place, 8), key(record),
      terminal.styled(type(record), .cyan), PayloadSummary.text(record),
    ].joined(separator: "  ")
  }

  /// The same for one who watches: without time, place and version, and with short keys.
  static func line(_ record: ReceivedRecord, topic: Topic, _ terminal: Terminal) -> String {
    var key = key(record)
    if let lineage = LineageID(key) { key = lineage.originalTransactionId }
    var type = type(record)
    if type.hasSuffix(".v1") { type.removeLast(".v1".count) }
    return [
      padded(topic.rawValue, 12), key, terminal.styled(type, .cyan), PayloadSummary.text(record),
    ].joined(separator: "  ")
  }

  static func key(_ record: ReceivedRecord) -> String {
    guard let key = record.key else { return "(no key)" }
    return printable(String(decoding: key, as: UTF8.self))
  }

  /// The type without what all types have in common.
  static func type(_ record: ReceivedRecord) -> String {
    guard var type = record.header("ce_type") else { return "(no type)" }
    if type.hasPrefix("purser.") { type.removeFirst("purser.".count) }
    return printable(type)
  }
}

/// A text without anything that moves the cursor or changes colors: it came from outside.
func printable(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.map { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "\u{FFFD}"
        default: scalar
        }
      }))
}
