import Events
import Kafka
import SQLite

/// Writes records that cannot be used to the dead-letter topic: original key, value and headers,
/// and beside them why and where they came from.
enum DeadLetters {
  /// Puts a received record into the outbox as a dead letter.
  static func insert(_ change: Change, _ record: ReceivedRecord, reason: String, detail: String)
    throws
  {
    try insert(
      change, key: record.key, value: record.value, headers: record.headers, reason: reason,
      detail: detail,
      origin: ["topic": record.topic, "partition": "\(record.partition)", "offset": "\(record.offset)"])
  }

  static func insert(
    _ change: Change, key: [UInt8]?, value: [UInt8]?, headers: [Header], reason: String,
    detail: String, origin: [String: String]
  ) throws {
    var all = headers
    func add(_ name: String, _ text: String) {
      all.append(Header(name: "purser-\(name)", value: Array(text.utf8)))
    }
    add("reason", reason)
    add("detail", String(decoding: Array(detail.utf8.prefix(1000)), as: UTF8.self))
    add("service", change.context.source)
    for (name, text) in origin.sorted(by: { $0.key < $1.key }) { add("origin-\(name)", text) }

    // The original was at most as large as a record may be; what we add must not make it larger.
    var value = value
    let bytes = (key?.count ?? 0) + (value?.count ?? 0) + HeaderBytes.encode(all).count
    if bytes + Outbox.overheadBytes > Topic.maximumRecordBytes {
      value = nil
      add("value-left-out", "\(bytes) bytes; read the original at its origin")
    }
    try Outbox.insert(
      change.transaction, topic: change.context.topics.name(of: .deadLetters), key: key,
      value: value, headers: all, timestamp: change.now)
    change.context.wakeRelay(after: change.transaction)
  }
}
