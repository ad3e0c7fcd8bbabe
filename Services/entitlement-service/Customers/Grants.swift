import Events
import Pipeline
import SQLite

/// The rights that people and own backends gave.
enum Grants {
  /// No customer has more grants that stand than this.
  static let limit: Int64 = 1000

  /// The grants that were not taken back.
  static func standing(_ transaction: Transaction, _ customer: String) throws -> [Grant] {
    try transaction.query(
      "SELECT body FROM grants WHERE customer = ? AND is_removed = 0 ORDER BY id", customer
    ) { row in try EventJSON.decode(Grant.self, from: row.blob(0)) }
  }

  static func grant(_ transaction: Transaction, _ customer: String, _ id: String) throws -> Grant? {
    try transaction.first("SELECT body FROM grants WHERE customer = ? AND id = ?", customer, id) {
      try EventJSON.decode(Grant.self, from: $0.blob(0))
    }
  }

  static func count(_ transaction: Transaction, _ customer: String) throws -> Int64 {
    try transaction.first(
      "SELECT COUNT(*) FROM grants WHERE customer = ? AND is_removed = 0", customer
    ) { $0.int(0) } ?? 0
  }

  static func save(_ transaction: Transaction, _ customer: String, _ grant: Grant) throws {
    try transaction.run(
      """
      INSERT INTO grants (customer, id, is_removed, body) VALUES (?, ?, ?, ?)
      ON CONFLICT (customer, id) DO UPDATE SET is_removed = excluded.is_removed,
        body = excluded.body
      """, customer, grant.id, grant.removedAt != nil, try EventJSON.encode(grant))
  }
}
