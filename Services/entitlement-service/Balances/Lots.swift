import Events
import Pipeline
import SQLite

/// What is left of credits that expire.
///
/// What never expires has no lot: it is the balance less the sum of the lots. Spends take from the
/// lot that ends first. The lots of an account are never more than its balance.
enum Lots {
  struct Lot {
    let entryID: String
    var remaining: Int64
    let expiresAt: Int64
    let lineage: String?
    let transactionId: String?
  }

  static func all(_ transaction: Transaction, _ account: Account) throws -> [Lot] {
    try transaction.query(
      """
      SELECT entry_id, remaining, expires_at, lineage, transaction_id FROM balance_lots
      WHERE customer = ? AND environment = ? AND unit = ? ORDER BY expires_at, entry_id
      """, account.customer, account.environment, account.unit
    ) { row in
      Lot(
        entryID: row.text(0), remaining: row.int(1), expiresAt: row.int(2),
        lineage: row.optionalText(3), transactionId: row.optionalText(4))
    }
  }

  /// Follows an entry that was written.
  static func follow(
    _ transaction: Transaction, _ account: Account, _ entry: BalanceEntry, balance: Int64,
    at now: Int64
  ) throws {
    var lots = try all(transaction, account)
    if entry.amount < 0 {
      guard !lots.isEmpty else { return }
      var amount = -entry.amount
      if try wasForGood(entry, account, transaction) {
        // What never ended is given back from what never ends.
        let free = balance + amount - lots.reduce(0) { $0 + $1.remaining }
        amount -= min(amount, max(0, free))
      }
      if amount > 0 { try take(transaction, &lots, amount, first: entry, at: now) }
      // A debt or a floor may have left less than the lots still hold.
      let excess = lots.reduce(0) { $0 + $1.remaining } - max(0, balance)
      if excess > 0 { try take(transaction, &lots, excess, first: nil, at: Int64.min) }
    } else if let expiresAt = entry.expiresAt, entry.amount > 0 {
      // A credit pays a debt first; what pays a debt does not expire.
      let free = balance - lots.reduce(0) { $0 + $1.remaining }
      let remaining = min(entry.amount, free)
      guard remaining > 0 else { return }
      try transaction.run(
        """
        INSERT INTO balance_lots
          (entry_id, customer, environment, unit, remaining, expires_at, lineage, transaction_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """, entry.id, account.customer, account.environment, account.unit, remaining, expiresAt,
        entry.lineage, entry.transactionId)
    }
  }

  /// Whether an entry takes back a credit that would never have ended.
  private static func wasForGood(
    _ entry: BalanceEntry, _ account: Account, _ transaction: Transaction
  ) throws -> Bool {
    guard let lineage = entry.lineage, let id = entry.transactionId else { return false }
    return try transaction.exists(
      """
      SELECT 1 FROM balance_entries
      WHERE lineage = ? AND transaction_id = ? AND customer = ? AND unit = ? AND kind = 'credit'
        AND expires_at IS NULL LIMIT 1
      """, lineage, id, account.customer, account.unit)
  }

  /// Takes an amount from the lots: from the entry's own first, then from what ends first.
  private static func take(
    _ transaction: Transaction, _ lots: inout [Lot], _ amount: Int64, first: BalanceEntry?,
    at now: Int64
  ) throws {
    var left = amount
    func isOwn(_ lot: Lot) -> Bool {
      first?.transactionId != nil && lot.transactionId == first?.transactionId
        && lot.lineage == first?.lineage
    }
    let order = lots.indices.filter { isOwn(lots[$0]) } + lots.indices.filter { !isOwn(lots[$0]) }
    // What has ended is the timer's to take; nobody spends it.
    for index in order where left > 0 && (lots[index].expiresAt > now || isOwn(lots[index])) {
      let taken = min(left, lots[index].remaining)
      guard taken > 0 else { continue }
      left -= taken
      lots[index].remaining -= taken
      if lots[index].remaining == 0 {
        try transaction.run("DELETE FROM balance_lots WHERE entry_id = ?", lots[index].entryID)
      } else {
        try transaction.run(
          "UPDATE balance_lots SET remaining = ? WHERE entry_id = ?", lots[index].remaining,
          lots[index].entryID)
      }
    }
  }

  /// Brings the lots of an account down to its balance, after accounts were put together.
  static func trim(_ transaction: Transaction, _ account: Account, balance: Int64) throws {
    var lots = try all(transaction, account)
    let excess = lots.reduce(0) { $0 + $1.remaining } - max(0, balance)
    if excess > 0 { try take(transaction, &lots, excess, first: nil, at: Int64.min) }
  }

  /// How much of an account has ended though no timer took it yet.
  static func ended(_ transaction: Transaction, _ account: Account, at now: Int64) throws -> Int64 {
    try all(transaction, account).filter { $0.expiresAt <= now }.reduce(0) { $0 + $1.remaining }
  }

  /// When the next lot of a customer ends.
  static func nextEnd(_ transaction: Transaction, _ customer: String) throws -> Int64? {
    try transaction.first(
      "SELECT MIN(expires_at) FROM balance_lots WHERE customer = ?", customer
    ) { $0.optionalInt(0) } ?? nil
  }

  /// The id of the entry that takes what is left of a credit when it ends.
  static func expiryID(of entryID: String) -> String { BalanceBook.id("expiry", entryID) }

  /// Removes the lot that an entry has taken when it ended.
  static func remove(endedBy entry: BalanceEntry, _ account: Account, _ transaction: Transaction)
    throws
  {
    for lot in try all(transaction, account) where expiryID(of: lot.entryID) == entry.id {
      try transaction.run("DELETE FROM balance_lots WHERE entry_id = ?", lot.entryID)
    }
  }

  /// Takes what has ended by a time out of the balances.
  static func expire(_ change: Change, _ customer: String, at time: Int64) throws -> [BookedEntry] {
    let ended = try change.transaction.query(
      """
      SELECT entry_id, remaining, expires_at, lineage, transaction_id, environment, unit
      FROM balance_lots WHERE customer = ? AND expires_at <= ? ORDER BY expires_at, entry_id
      """, customer, time
    ) { row in
      (
        Lot(
          entryID: row.text(0), remaining: row.int(1), expiresAt: row.int(2),
          lineage: row.optionalText(3), transactionId: row.optionalText(4)),
        Account(customer: customer, environment: row.text(5), unit: row.text(6))
      )
    }
    return try ended.map { lot, account in
      try change.transaction.run("DELETE FROM balance_lots WHERE entry_id = ?", lot.entryID)
      var entry = BalanceEntry(
        id: expiryID(of: lot.entryID), kind: "expiry", amount: -lot.remaining)
      entry.lineage = lot.lineage
      entry.transactionId = lot.transactionId
      return try BalanceBook.post(change, account, entry)
    }
  }

  /// Apple moved the end of a period: what expires with it moves too.
  static func move(
    _ transaction: Transaction, _ customer: String, _ lineage: String, _ transactionId: String,
    _ unit: String, to expiresAt: Int64
  ) throws {
    try transaction.run(
      """
      UPDATE balance_lots SET expires_at = ?
      WHERE customer = ? AND lineage = ? AND transaction_id = ? AND unit = ? AND expires_at <> ?
      """, expiresAt, customer, lineage, transactionId, unit, expiresAt)
  }
}
