import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite

/// What is kept of a customer as a whole; of an erased one it stands under a hash of the id.
struct CustomerRow: Sendable {
  let customer: String
  /// The version of the newest event; 0 before the first.
  var version: Int64 = 0
  /// When anything was told last, UTC milliseconds.
  var updatedAt: Int64?
  /// For which time the customer was computed last; nil when never.
  var evaluatedAt: Int64?
  /// When that result changes by itself.
  var dueAt: Int64?
  /// The customer who has everything since a merge.
  var mergedInto: String?
  /// When the customer was erased.
  var erasedAt: Int64?

  private static let columns =
    "SELECT version, updated_at, evaluated_at, due_at, merged_into FROM customers WHERE customer = ?"
  private static let erasedColumns =
    "SELECT version, updated_at, evaluated_at, erased_at FROM erased_customers WHERE hash = ?"

  private init(_ customer: String) { self.customer = customer }

  private init(_ customer: String, _ row: borrowing Row) {
    self.customer = customer
    version = row.int(0)
    updatedAt = row.int(1)
    evaluatedAt = row.int(2)
    dueAt = row.optionalInt(3)
    mergedInto = row.optionalText(4)
  }

  private init(erased customer: String, _ row: borrowing Row) {
    self.customer = customer
    version = row.int(0)
    updatedAt = row.int(1)
    evaluatedAt = row.int(2)
    erasedAt = row.int(3)
  }

  /// The row of exactly this customer; an empty one for a customer of whom nothing is known.
  static func exactly(_ rows: some StoreRows, _ customer: String) throws -> CustomerRow {
    try rows.first(columns, customer) { CustomerRow(customer, $0) } ?? unnamed(rows, customer)
  }

  /// The row of a customer who has none by name: of an erased one, or an empty one.
  static func unnamed(_ rows: some StoreRows, _ customer: String) throws -> CustomerRow {
    try rows.first(erasedColumns, SHA256.hex(customer)) { CustomerRow(erased: customer, $0) }
      ?? CustomerRow(customer)
  }

  /// The row of the customer, or of the one who has everything since a merge.
  static func load(_ rows: some StoreRows, _ customer: String) throws -> CustomerRow {
    let row = try exactly(rows, customer)
    return try row.mergedInto.map { try exactly(rows, $0) } ?? row
  }

  /// The same row, for a write by a person or a key.
  ///
  /// - Throws: `Problem` 410 `customer-erased`: what was erased may not come back.
  static func writable(_ transaction: Transaction, _ customer: String) throws -> CustomerRow {
    let row = try load(transaction, customer)
    guard row.erasedAt == nil else { throw Problem.customerErased }
    return row
  }

  /// Writes version, times and the next time that is due.
  func save(_ change: Change, version: Int64, evaluatedAt: Int64, dueAt: Int64?) throws {
    if let erasedAt {
      try change.transaction.run(
        """
        INSERT INTO erased_customers (hash, version, updated_at, evaluated_at, erased_at)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (hash) DO UPDATE SET version = excluded.version,
          updated_at = excluded.updated_at, evaluated_at = excluded.evaluated_at,
          erased_at = excluded.erased_at
        """, SHA256.hex(customer), version, change.now, evaluatedAt, erasedAt)
      try change.transaction.run("DELETE FROM customers WHERE customer = ?", customer)
      return
    }
    try change.transaction.run(
      """
      INSERT INTO customers (customer, version, updated_at, evaluated_at, due_at)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (customer) DO UPDATE SET version = excluded.version,
        updated_at = excluded.updated_at, evaluated_at = excluded.evaluated_at,
        due_at = excluded.due_at
      """, customer, version, change.now, evaluatedAt, dueAt)
  }
}
