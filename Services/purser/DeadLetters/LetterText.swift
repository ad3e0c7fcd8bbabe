import Events
import FoundationEssentials
import Kafka
import ServiceRuntime

/// Letters as people and programs read them.
enum LetterText {
  /// A line of the list.
  static func line(_ letter: DeadLetter, _ terminal: Terminal) -> String {
    let state = letter.decision.map(\.kind.rawValue) ?? "open"
    return [
      terminal.styled(rfc3339(letter.record.timestamp), .dim), padded("\(letter.place)", 8),
      padded(state, 9), terminal.styled(printable(letter.reason), .yellow), origin(letter),
      printable(String(letter.service.split(separator: "/").last ?? "")),
      RecordLine.key(letter.record), RecordLine.type(letter.record),
    ].joined(separator: "  ")
  }

  /// All about one letter.
  static func page(_ letter: DeadLetter, _ terminal: Terminal) -> String {
    var lines = [
      "letter     \(letter.place) of \(rfc3339(letter.record.timestamp))",
      "reason     \(printable(letter.reason)): \(printable(letter.detail))",
      "what to do \(advice(letter.reason))",
      "origin     \(origin(letter)), given up by \(printable(letter.service))",
      "key        \(RecordLine.key(letter.record))",
    ]
    if letter.retries > 0 { lines.append("put back   \(letter.retries) times before") }
    if !letter.leftOut.isEmpty {
      lines.append("left out   \(letter.leftOut.joined(separator: ", ")): read at the origin")
    }
    if let decision = letter.decision {
      lines.append(
        "decided    \(decision.kind.rawValue) at \(rfc3339(decision.decidedAt)): "
          + printable(decision.because))
    }
    lines += letter.original.headers.map { "header     \(printable("\($0.name): \($0.text)"))" }
    guard let value = letter.record.value else {
      return (lines + ["value      none"]).joined(separator: "\n")
    }
    lines.append("value      \(value.count) bytes")
    if let text = String(validating: value, as: UTF8.self) {
      lines.append(
        text.split(separator: "\n", omittingEmptySubsequences: false)
          .map { printable(String($0)) }.joined(separator: "\n"))
    } else {
      lines += hex(value)
    }
    return lines.joined(separator: "\n")
  }

  /// The same as one line of JSON.
  static func json(_ letter: DeadLetter) -> String {
    let original = letter.original
    let record = ReceivedRecord(
      topic: original.topic, partition: letter.originPartition ?? -1,
      offset: letter.originOffset ?? -1, timestamp: letter.record.timestamp, key: original.key,
      value: original.value, headers: original.headers)
    var members = [
      ("letter", RecordJSON.quoted("\(letter.place)")),
      ("state", RecordJSON.quoted(letter.decision.map(\.kind.rawValue) ?? "open")),
      ("reason", RecordJSON.quoted(letter.reason)), ("detail", RecordJSON.quoted(letter.detail)),
      ("service", RecordJSON.quoted(letter.service)), ("retries", "\(letter.retries)"),
      ("leftOut", "[\(letter.leftOut.map(RecordJSON.quoted).joined(separator: ","))]"),
    ]
    if let decision = letter.decision {
      members.append(("because", RecordJSON.quoted(decision.because)))
      members.append(("decidedAt", "\(decision.decidedAt)"))
    }
    members.append(("record", RecordJSON.line(record)))
    return RecordJSON.object(members)
  }

  /// How many letters there are of each reason, the most first.
  static func sums(_ letters: [DeadLetter]) -> String {
    Dictionary(grouping: letters, by: \.reason).map { ($0.value.count, $0.key) }
      .sorted { ($1.0, $0.1) < ($0.0, $1.1) }
      .map { "\($0.0) \(printable($0.1))" }.joined(separator: ", ")
  }

  private static func origin(_ letter: DeadLetter) -> String {
    let topic = printable(letter.originTopic ?? "unknown topic")
    guard let partition = letter.originPartition, let offset = letter.originOffset else {
      return "\(topic), never written"
    }
    return "\(topic) \(partition):\(offset)"
  }

  /// What a letter's reason asks for.
  static func advice(_ reason: String) -> String {
    switch reason {
    case "no-type", "no-value", "malformed-value":
      "find who wrote it, as no service of ours does; then discard it"
    case "handler-failed":
      "update and restart the service: the record waits in its store too and is tried then"
    case "refused-by-kafka":
      "mend the topic ('purser topics check'), then retry"
    default:
      "keep it until a build can read it, then retry all of this reason"
    }
  }

  /// Sixteen bytes to a line, with their places.
  private static func hex(_ bytes: [UInt8]) -> [String] {
    stride(from: 0, to: bytes.count, by: 16).map { start in
      let row = bytes[start..<min(start + 16, bytes.count)].map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      let place = String(start, radix: 16)
      return String(repeating: "0", count: max(0, 6 - place.count)) + place + "  "
        + row.joined(separator: " ")
    }
  }
}
