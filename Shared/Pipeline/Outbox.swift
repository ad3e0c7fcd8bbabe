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
  /// Room that librdkafka and the broker need around key, value and headers.
  static let overheadBytes = 1024

  struct Row {
    let id: Int64
    let record: Record
  }

  static func insert(
    _ transaction: Transaction, topic: String, key: [UInt8]?, value: [UInt8]?, headers: [Header],
    timestamp: Int64
  ) throws {
    let headerBytes = HeaderBytes.encode(headers)
    let bytes = (key?.count ?? 0) + (value?.count ?? 0) + headerBytes.count + overheadBytes
    guard bytes <= Topic.maximumRecordBytes else {
      throw OutboxError.tooLarge(topic: topic, bytes: bytes)
    }
    try transaction.run(
      "INSERT INTO outbox (topic, key, value, headers, timestamp) VALUES (?, ?, ?, ?, ?)",
      topic, key, value, headerBytes, timestamp)
  }

  /// The first rows after an id, in order; at most `limit`.
  static func rows(_ reader: Reader, after id: Int64, limit: Int) throws -> [Row] {
    try reader.query(
      """
      SELECT id, topic, key, value, headers, timestamp FROM outbox
      WHERE id > ? ORDER BY id LIMIT ?
      """, id, Int64(limit)
    ) { row in
      Row(
        id: row.int(0),
        record: Record(
          topic: row.text(1), key: row.optionalBlob(2), value: row.optionalBlob(3),
          headers: HeaderBytes.decode(row.blob(4)) ?? [], timestamp: row.int(5)))
    }
  }

  /// Removes rows whose records the broker has.
  static func removeRows(_ transaction: Transaction, through id: Int64) throws {
    try transaction.run("DELETE FROM outbox WHERE id <= ?", id)
  }

  static func removeRow(_ transaction: Transaction, id: Int64) throws {
    try transaction.run("DELETE FROM outbox WHERE id = ?", id)
  }

  /// The id of the newest row that was ever inserted; 0 before the first.
  static func newestID(_ transaction: Transaction) throws -> Int64 {
    try transaction.first("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'") { row in
      row.int(0)
    } ?? 0
  }

  static func newestID(_ reader: Reader) throws -> Int64 {
    try reader.first("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'") { row in row.int(0) }
      ?? 0
  }

  static func oldestID(_ reader: Reader) throws -> Int64? {
    try reader.first("SELECT id FROM outbox ORDER BY id LIMIT 1") { row in row.int(0) }
  }

  static func count(_ reader: Reader) throws -> Int64 {
    try reader.first("SELECT COUNT(*) FROM outbox") { row in row.int(0) } ?? 0
  }
}
