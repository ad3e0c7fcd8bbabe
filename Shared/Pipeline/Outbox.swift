import Events
import Kafka
import SQLite

/// A record that no topic takes; final.
public enum OutboxError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Key, value and headers together are larger than `Topic.maximumRecordBytes`.
  case tooLarge(topic: String, bytes: Int)

  /// The fault in words.
  public var description: String {
    switch self {
    case .tooLarge(let topic, let bytes):
      "a record for \(topic) has \(bytes) bytes; at most \(Topic.maximumRecordBytes) are taken"
    }
  }
}

/// The table of records that are to be published.
enum Outbox {
  /// Room that is left for the broker, and for the header of the row's number, beside the record.
  static let overheadBytes = 512

  struct Row: Sendable {
    let id: Int64
    let topic: String
    let key: [UInt8]?
    let value: [UInt8]?
    /// Nil when the bytes in the store were not written by us.
    let headers: [Header]?
    let timestamp: Int64

    /// About how much memory it takes.
    var bytes: Int { 200 + (key?.count ?? 0) + (value?.count ?? 0) }

    /// What is published, with its place in the line of all rows; nil when the headers cannot be
    /// read.
    var record: Record? {
      headers.map { headers in
        Record(
          topic: topic, key: key, value: value,
          headers: headers + [Header(name: StoreHeaders.sequence, text: "\(id)")],
          timestamp: timestamp)
      }
    }
  }

  static func insert(_ change: Change, _ record: Record) throws {
    let bytes = record.wireBytes + overheadBytes
    guard bytes <= Topic.maximumRecordBytes else {
      throw OutboxError.tooLarge(topic: record.topic, bytes: bytes)
    }
    let transaction = change.transaction
    try transaction.run(
      "INSERT INTO outbox (topic, key, value, headers, timestamp) VALUES (?, ?, ?, ?, ?)",
      record.topic, record.key, record.value, HeaderBytes.encode(record.headers), change.now)
    change.context.outbox.inserted(
      Row(
        id: transaction.lastInsertedRowID, topic: record.topic, key: record.key,
        value: record.value, headers: record.headers, timestamp: change.now),
      after: transaction)
  }

  /// Removes rows whose records the broker has.
  static func removeRows(_ transaction: Transaction, through id: Int64) throws {
    try transaction.run("DELETE FROM outbox WHERE id <= ?", id)
  }

  static func removeRow(_ transaction: Transaction, id: Int64) throws {
    try transaction.run("DELETE FROM outbox WHERE id = ?", id)
  }

  private static let newest = "SELECT seq FROM sqlite_sequence WHERE name = 'outbox'"

  /// The id of the newest row that was ever inserted; 0 before the first.
  static func newestID(_ transaction: Transaction) throws -> Int64 {
    try transaction.first(newest) { row in row.int(0) } ?? 0
  }

  /// Makes later rows have ids above one; what a rebuilt store publishes comes after what is there.
  static func continueAfter(_ transaction: Transaction, _ id: Int64) throws {
    guard try newestID(transaction) < id else { return }
    let known = try transaction.run(
      "UPDATE sqlite_sequence SET seq = ? WHERE name = 'outbox'", id)
    guard known == 0 else { return }
    try transaction.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('outbox', ?)", id)
  }

  static func newestID(_ reader: Reader) throws -> Int64 {
    try reader.first(newest) { row in row.int(0) } ?? 0
  }
}
