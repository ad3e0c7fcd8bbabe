import Kafka
import SQLite

/// The relay's own connection to the outbox: it reads without waiting behind anybody's requests.
final class OutboxReader {
  private let connection: Connection

  /// Opens it; used by one thread.
  init(path: String) throws {
    connection = try Connection(path: path, mode: .readOnly)
  }

  /// The id of the first row that is there, or the id that the next one will get.
  func firstUnsent() throws -> Int64 {
    // One statement, so that both answers come from one state of the store.
    try connection.first(
      """
      SELECT coalesce(
        (SELECT min(id) FROM outbox),
        (SELECT seq + 1 FROM sqlite_sequence WHERE name = 'outbox'), 1)
      """
    ) { row in row.int(0) } ?? 1
  }

  /// The first row after an id, with the time of its COMMIT in UTC milliseconds; nil when there is none.
  func oldest(after id: Int64) throws -> (id: Int64, timestamp: Int64)? {
    try connection.first(
      "SELECT id, timestamp FROM outbox WHERE id > ? ORDER BY id LIMIT 1", id
    ) { row in (row.int(0), row.int(1)) }
  }

  /// The first rows after an id, in order: at most `limit`, and no more once they have `bytes`.
  ///
  /// - Returns: The rows, and whether there were no more.
  func rows(after id: Int64, limit: Int, bytes: Int) throws -> (rows: [Outbox.Row], isAll: Bool) {
    var rows: [Outbox.Row] = []
    var sum = 0
    var isAll = true
    try connection.forEach(
      "SELECT id, topic, key, value, headers, timestamp FROM outbox WHERE id > ? ORDER BY id", id
    ) { row in
      guard rows.count < limit && (sum < bytes || rows.isEmpty) else {
        isAll = false
        return false
      }
      let found = Outbox.Row(
        id: row.int(0), topic: row.text(1), key: row.optionalBlob(2), value: row.optionalBlob(3),
        headers: HeaderBytes.decode(row.blob(4)), timestamp: row.int(5))
      sum += found.bytes
      rows.append(found)
      return true
    }
    return (rows, isAll)
  }
}
