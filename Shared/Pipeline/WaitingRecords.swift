import Kafka
import SQLite

/// Records of a key whose handler failed: they wait, in order, until the handler takes the first.
enum WaitingRecords {
  static func isWaiting(_ transaction: Transaction, topic: String, key: [UInt8]?) throws -> Bool {
    try transaction.first(
      "SELECT 1 FROM waiting_records WHERE topic = ? AND key IS ? LIMIT 1", topic, key
    ) { _ in true } ?? false
  }

  static func insert(_ transaction: Transaction, _ record: ReceivedRecord, reason: String) throws {
    try transaction.run(
      """
      INSERT INTO waiting_records
        (topic, partition, record_offset, timestamp, key, value, headers, reason)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, record.topic, Int64(record.partition), record.offset, record.timestamp, record.key,
      record.value, HeaderBytes.encode(record.headers), reason)
  }

  static func remove(_ transaction: Transaction, id: Int64) throws {
    try transaction.run("DELETE FROM waiting_records WHERE id = ?", id)
  }

  /// All waiting records, oldest first; at most `limit`, after an id.
  static func all(_ reader: Reader, after id: Int64, limit: Int) throws -> [(Int64, ReceivedRecord)]
  {
    try reader.query(
      """
      SELECT id, topic, partition, record_offset, timestamp, key, value, headers
      FROM waiting_records WHERE id > ? ORDER BY id LIMIT ?
      """, id, Int64(limit)
    ) { row in
      (
        row.int(0),
        ReceivedRecord(
          topic: row.text(1), partition: Int32(truncatingIfNeeded: row.int(2)), offset: row.int(3),
          timestamp: row.int(4), key: row.optionalBlob(5), value: row.optionalBlob(6),
          headers: HeaderBytes.decode(row.blob(7)) ?? [])
      )
    }
  }

  static func count(_ reader: Reader) throws -> Int64 {
    try reader.first("SELECT COUNT(*) FROM waiting_records") { row in row.int(0) } ?? 0
  }
}
