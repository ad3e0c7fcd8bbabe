import Cryptography
public import SQLite

/// What is asked for here, by where its id leads, and lies on another shard: the customer and the orders
/// of a merge whose two sides a re-shard has parted.
///
/// Only a re-shard and a rebuild write it. It holds ids of orders and hashes of customers, so an erasure
/// has nothing to forget here.
public enum Elsewhere {
  /// How a customer stands in it.
  public static func name(ofCustomer customer: String) -> String { SHA256.hex(customer) }

  /// Notes where an id leads.
  public static func insert(_ transaction: Transaction, _ what: String, partition: Int32) throws {
    try transaction.run(
      "INSERT OR REPLACE INTO elsewhere (what, partition) VALUES (?, ?)", what, Int64(partition))
  }

  /// The partition by which an id is found; nil for most.
  public static func partition(_ reader: Reader, _ what: String) throws -> Int32? {
    try reader.first("SELECT partition FROM elsewhere WHERE what = ?", what) { row in
      Int32(truncatingIfNeeded: row.int(0))
    }
  }

  /// Whether there is anything in it.
  public static func isNeeded(_ reader: Reader) throws -> Bool {
    try reader.exists("SELECT 1 FROM elsewhere LIMIT 1")
  }
}
