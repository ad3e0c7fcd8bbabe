import Cryptography
import Events
import Pipeline
import SQLite

/// Whose balance, of what.
struct Account: Hashable, Sendable {
  let customer: String
  let environment: String
  let unit: String
}

/// An entry that was written, and the balance after it.
struct BookedEntry: Sendable {
  let entry: BalanceEntry
  let balance: Balance
}

/// Writes entries to the ledger of balances; nothing else changes a balance.
enum BalanceBook {
  static func amount(_ transaction: Transaction, _ account: Account) throws -> Int64 {
    try transaction.first(
      "SELECT amount FROM balances WHERE customer = ? AND environment = ? AND unit = ?",
      account.customer, account.environment, account.unit
    ) { $0.int(0) } ?? 0
  }

  static func all(_ transaction: Transaction, _ customer: String) throws -> [Balance] {
    try transaction.query(
      "SELECT unit, environment, amount FROM balances WHERE customer = ? ORDER BY environment, unit",
      customer
    ) { row in Balance(unit: row.text(0), environment: row.text(1), amount: row.int(2)) }
  }

  /// The id of an entry: the same cause gives the same id.
  static func id(_ parts: String...) -> String {
    UUIDs.version5(
      namespace: EventID.namespace, name: "balance-entry\n" + parts.joined(separator: "\n"))
  }

  /// Writes an entry and moves the balance.
  ///
  /// - Parameter lineItem: Apple's `webOrderLineItemId`: the same period may be seen as two
  ///   transactions, of which one brings its credit.
  static func post(
    _ change: Change, _ account: Account, _ entry: BalanceEntry, lineItem: String? = nil,
    author: String? = nil, reason: String? = nil
  ) throws -> BookedEntry {
    let transaction = change.transaction
    try transaction.run(
      """
      INSERT INTO balance_entries
        (id, customer, environment, unit, kind, amount, intended, shortfall, expires_at, lineage,
         transaction_id, line_item, spend_id, author, reason, at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, entry.id, account.customer, account.environment, account.unit, entry.kind, entry.amount,
      entry.intended ?? entry.amount, entry.shortfall ?? 0, entry.expiresAt, entry.lineage,
      entry.transactionId, lineItem, entry.spendId, author, reason, change.now)
    let before = try amount(transaction, account)
    let (after, overflow) = before.addingReportingOverflow(entry.amount)
    guard !overflow else { throw BalanceOverflow(account: account) }
    try transaction.run(
      """
      INSERT INTO balances (customer, environment, unit, amount) VALUES (?, ?, ?, ?)
      ON CONFLICT (customer, environment, unit) DO UPDATE SET amount = excluded.amount
      """, account.customer, account.environment, account.unit, after)
    if entry.kind != "expiry" {
      try Lots.follow(transaction, account, entry, balance: after, at: change.now)
    }
    return BookedEntry(
      entry: entry,
      balance: Balance(unit: account.unit, environment: account.environment, amount: after))
  }
}

/// A balance beyond what 64 bits hold; final.
struct BalanceOverflow: Error, CustomStringConvertible {
  let account: Account
  var description: String {
    "the balance of \(account.unit) would be beyond what 64 bits hold; correct the catalog's amounts"
  }
}
