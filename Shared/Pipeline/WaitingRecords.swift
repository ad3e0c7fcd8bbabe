import Kafka
import SQLite

/// Records of a key whose handler failed: they wait, in order, until the handler takes the first.
///
/// A record without a key has no order with others, so none waits behind it.
enum WaitingRecords {
  /// Whether any record waits at all, which is asked once per batch.
  static func isEmpty(_ transaction: Transaction) throws -> Bool {
    try !transaction.exists("SELECT 1 FROM waiting_records LIMIT 1")
  }

  /// Whether a record of this key waits; with `id`, whether one waits that is older.
  static func isWaiting(
    _ transaction: Transaction, topic: String, key: [UInt8]?, before id: Int64 = Int64.max
  ) throws -> Bool {
    guard let key else { return false }
    return try transaction.exists(
      "SELECT 1 FROM waiting_records WHERE topic = ? AND key = ? AND id < ? LIMIT 1", topic, key, id
    )
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

  static func remove(_ transaction: Transaction, key: [UInt8]) throws {
    try transaction.run("DELETE FROM waiting_records WHERE key = ?", key)
  }

  /// Waiting records after an id, oldest first: at most `limit`, and no more once they have `bytes`.
  static func some(
    _ reader: Reader, after id: Int64, limit: Int, bytes: Int
  ) throws -> [(id: Int64, record: ReceivedRecord)] {
    var found: [(id: Int64, record: ReceivedRecord)] = []
    var sum = 0
    try reader.forEach(
      """
      SELECT id, topic, partition, record_offset, timestamp, key, value, headers
      FROM waiting_records WHERE id > ? ORDER BY id
      """, id,
      until: { row in
        let record = ReceivedRecord(
          topic: row.text(1), partition: Int32(truncatingIfNeeded: row.int(2)), offset: row.int(3),
          timestamp: row.int(4), key: row.optionalBlob(5), value: row.optionalBlob(6),
          headers: HeaderBytes.decode(row.blob(7)) ?? [])
        sum += record.value?.count ?? 0
        found.append((row.int(0), record))
        return found.count < limit && sum < bytes
      })
    return found
  }

  static func count(_ transaction: Transaction) throws -> Int64 {
    try transaction.first("SELECT COUNT(*) FROM waiting_records") { row in row.int(0) } ?? 0
  }
}
