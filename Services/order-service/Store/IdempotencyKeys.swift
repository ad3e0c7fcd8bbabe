import SQLite

/// Keys by which a repeated request is told from a new one.
enum IdempotencyKeys {
  /// How long a key is remembered: longer than any client retries.
  static let lifetime: Int64 = 7 * 24 * 3600 * 1000

  struct Use: Sendable {
    let requestHash: String
    /// The id of what the request made.
    let madeId: String
  }

  static func use(_ rows: some StoreRows, principal: String, key: String) throws -> Use? {
    try rows.first(
      "SELECT request_hash, made_id FROM idempotency_keys WHERE principal = ? AND key = ?",
      principal, key
    ) { row in Use(requestHash: row.text(0), madeId: row.text(1)) }
  }

  static func insert(
    _ transaction: Transaction, principal: String, key: String, _ use: Use, at now: Int64
  ) throws {
    try transaction.run(
      """
      INSERT INTO idempotency_keys (principal, key, request_hash, made_id, used_at)
      VALUES (?, ?, ?, ?, ?)
      """, principal, key, use.requestHash, use.madeId, now)
  }

  static func removeOld(_ transaction: Transaction, at now: Int64, limit: Int) throws {
    try transaction.run(
      """
      DELETE FROM idempotency_keys WHERE (principal, key) IN (
        SELECT principal, key FROM idempotency_keys WHERE used_at < ? LIMIT ?)
      """, now - lifetime, Int64(limit))
  }
}
