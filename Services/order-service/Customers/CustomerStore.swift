import Cryptography
import Events
import HTTPServer
import SQLite

/// Who is who: merged customers, and erased ones, of whom only a hash is kept.
enum CustomerStore {
  /// The customer that an id stands for: where it was merged to, or itself.
  ///
  /// One step suffices: a merge leads older ones to its own target.
  static func root(_ rows: some StoreRows, _ id: String) throws -> String {
    try merge(rows, id)?.into ?? id
  }

  /// The merge that ended an id.
  static func merge(_ rows: some StoreRows, _ id: String) throws -> CustomerMerged? {
    try rows.first("SELECT body FROM merges WHERE customer = ?", id) { row in
      try EventJSON.decode(CustomerMerged.self, from: row.blob(0))
    }
  }

  /// The merges that lead to a customer, at most as many as are given at once.
  static func merges(into id: String, _ rows: some StoreRows, limit: Int64 = .max) throws
    -> [CustomerMerged]
  {
    try rows.query(
      "SELECT body FROM merges WHERE merged_into = ? ORDER BY customer LIMIT ?", id, limit
    ) { row in try EventJSON.decode(CustomerMerged.self, from: row.blob(0)) }
  }

  static func save(_ transaction: Transaction, _ merge: CustomerMerged) throws {
    try transaction.run(
      """
      INSERT INTO merges (customer, merged_into, body) VALUES (?, ?, ?)
      ON CONFLICT (customer) DO UPDATE SET merged_into = excluded.merged_into, body = excluded.body
      """, merge.customer, merge.into, try EventJSON.encode(merge))
  }

  /// An erasure, as far as it is remembered: not whose.
  struct Erasure: Sendable {
    let id: String
    let erasedAt: Int64
  }

  static func erasure(_ rows: some StoreRows, _ customer: String) throws -> Erasure? {
    try rows.first(
      "SELECT erasure_id, erased_at FROM erased_customers WHERE hash = ?", SHA256.hex(customer)
    ) { row in Erasure(id: row.text(0), erasedAt: row.int(1)) }
  }

  /// The customer that an id stands for, who must not have been erased.
  ///
  /// - Throws: `Problem` 410 `customer-erased`.
  static func present(_ rows: some StoreRows, _ id: String) throws -> String {
    let customer = try root(rows, id)
    guard try erasure(rows, customer) == nil else { throw Problem.customerErased }
    return customer
  }
}
