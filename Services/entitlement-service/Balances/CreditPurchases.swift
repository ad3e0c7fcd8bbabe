import Catalog
import Events
import Pipeline
import SQLite

/// Credits purchases to balances and takes refunds back.
///
/// What a transaction brings is decided once, by the catalog of the time when it is first seen. After
/// that the ledger follows only what Apple says of it: each entry is the difference between what the
/// transaction should have brought by now and what it brought.
struct CreditPurchases: Sendable {
  let rules: Rules

  struct Settlement {
    var entries: [BookedEntry] = []
    /// Transactions that wait: their product is unknown, or their environment gives nothing.
    var unsettled: [String] = []
  }

  /// Writes the entries that a lineage state asks for.
  ///
  /// - Parameters:
  ///   - customer: Whose balances; not always the one in the state, as after a merge.
  ///   - previous: What the customer was told of the lineage before; nil when nothing.
  func settle(
    _ state: LineageState, for customer: String, previous: PurchaseRow?, _ change: Change
  ) throws -> Settlement {
    if state.holding == .left {
      // A merge moves the whole ledger, when it is told; an erasure forgets it.
      if ["merge", "erasure"].contains(state.cause.kind) { return Settlement() }
      return Settlement(
        entries: try state.transactions.flatMap { transaction in
          try follow(transaction, left: { _ in 0 }, state, customer, kind: "transfer", change)
        })
    }
    let known = try previous.map { $0.isHeld ? try $0.transactionIds() : [] } ?? []
    var settlement = Settlement()
    for transaction in state.transactions {
      let isNews =
        !known.contains(transaction.transactionId)
        || previous?.unsettled.contains(transaction.transactionId) == true
      var isSettled = true
      if isNews {
        isSettled = try credit(transaction, state, customer, change, &settlement.entries)
      }
      settlement.entries += try follow(
        transaction, left: { RefundShare.left(of: $0, transaction) }, state, customer,
        kind: previous?.isHeld == false ? "transfer" : nil, change
      ) { isSettled = false }
      if !isSettled { settlement.unsettled.append(transaction.transactionId) }
    }
    return settlement
  }

  /// Considers again what had to wait: the product is known now, or no one else has it any more.
  func settleWaiting(of customer: String, _ lineage: LineageID, _ change: Change) throws
    -> [BookedEntry]
  {
    guard let state = try Purchases.state(change.transaction, customer, lineage),
      let row = try Purchases.row(change.transaction, customer, lineage)
    else { return [] }
    let settlement = try settle(state, for: customer, previous: row, change)
    try Purchases.setUnsettled(change.transaction, customer, lineage, settlement.unsettled)
    return settlement.entries
  }

  /// The transactions of a lineage that wait, told from a ledger that is whole: what is not booked is
  /// taken as decided, unless its product is still unknown or another customer has what it brings.
  func unsettled(_ state: LineageState, of customer: String, _ change: Change) throws -> [String] {
    let lineage = state.lineage
    return try state.transactions.filter { bought in
      guard let product = rules.product(bought.productId, of: lineage.bundleId),
        rules.grants(lineage, to: customer)
      else { return true }
      let booked = try booked(change.transaction, bought, lineage, customer)
      if booked.contains(where: { RefundShare.left(of: $0.credit, bought) > $0.intended }) {
        return true
      }
      guard booked.isEmpty, bought.inAppOwnershipType != "FAMILY_SHARED",
        product.credits.contains(where: { $0.isFor(boughtAt: bought.purchaseDate) }),
        try !wasCredited(change.transaction, bought, lineage, customer)
      else { return false }
      return try isHeldElsewhere(change.transaction, bought, lineage, customer)
    }.map(\.transactionId)
  }

  /// Brings the ends of what expires with its period to where Apple has moved them.
  func moveEnds(_ state: LineageState, of customer: String, _ change: Change) throws {
    for bought in state.transactions {
      for booked in try booked(change.transaction, bought, state.lineage, customer) {
        try moveEnd(bought, booked, state, customer, change)
      }
    }
  }

  /// Writes the first entries of a transaction, unless it brought something before.
  ///
  /// - Returns: Whether that is decided; false while the product is unknown, the environment gives
  ///   nothing, or another customer still has what it brought.
  private func credit(
    _ transaction: LineageTransaction, _ state: LineageState, _ customer: String,
    _ change: Change, _ entries: inout [BookedEntry]
  ) throws -> Bool {
    let lineage = state.lineage
    guard let product = rules.product(transaction.productId, of: lineage.bundleId),
      rules.grants(lineage, to: customer)
    else { return false }
    if Self.isForgotten(transaction, state, change) { return true }
    let credits = product.credits.filter { $0.isFor(boughtAt: transaction.purchaseDate) }
    // Family members have the rights, but nobody paid for a period of theirs.
    guard !credits.isEmpty, transaction.inAppOwnershipType != "FAMILY_SHARED",
      try !wasCredited(change.transaction, transaction, lineage, customer)
    else { return true }
    if try isHeldElsewhere(change.transaction, transaction, lineage, customer) { return false }
    for credit in credits {
      var entry = BalanceEntry(
        id: BalanceBook.id(
          customer, lineage.description, transaction.transactionId, credit.unit, "credit",
          "\(state.revision)"),
        kind: "credit", amount: RefundShare.full(transaction, credit))
      entry.lineage = lineage.description
      entry.transactionId = transaction.transactionId
      entry.expiresAt = Self.end(of: credit, transaction, product)
      entries.append(
        try BalanceBook.post(
          change,
          Account(customer: customer, environment: lineage.environment, unit: credit.unit),
          entry, lineItem: transaction.webOrderLineItemId))
    }
    return true
  }

  private static func end(
    of credit: Credit, _ transaction: LineageTransaction, _ product: Product
  ) -> Int64? {
    switch credit.expiry {
    case nil: nil
    case .after(let period): period.end(after: transaction.purchaseDate)
    case .withPeriod:
      transaction.expiresDate ?? product.length?.end(after: transaction.purchaseDate)
    }
  }

  /// Whether another shard may have credited it to who was erased, and does not tell: it brings nothing then.
  private static func isForgotten(
    _ transaction: LineageTransaction, _ state: LineageState, _ change: Change
  ) -> Bool {
    guard !change.shard.isAlone, let erasedAt = state.erasedAt else { return false }
    return transaction.purchaseDate <= erasedAt
  }

  /// Whether the transaction, or another one of the same period, was credited; also to a customer who
  /// was erased since.
  private func wasCredited(
    _ transaction: Transaction, _ bought: LineageTransaction, _ lineage: LineageID,
    _ customer: String
  ) throws -> Bool {
    if try transaction.exists(
      "SELECT 1 FROM credited_before WHERE lineage = ? AND transaction_id = ?",
      lineage.description, bought.transactionId)
    {
      return true
    }
    return try transaction.exists(
      """
      SELECT 1 FROM balance_entries
      WHERE customer = ? AND lineage = ? AND kind = 'credit'
        AND (transaction_id = ? OR (line_item IS NOT NULL AND line_item = ?)) LIMIT 1
      """, customer, lineage.description, bought.transactionId, bought.webOrderLineItemId)
  }

  /// Whether another customer still has what the transaction brought: it brings it only once.
  private func isHeldElsewhere(
    _ transaction: Transaction, _ bought: LineageTransaction, _ lineage: LineageID,
    _ customer: String
  ) throws -> Bool {
    try transaction.exists(
      """
      SELECT 1 FROM balance_entries
      WHERE lineage = ? AND transaction_id = ? AND customer <> ? AND kind <> 'expiry'
      GROUP BY customer, unit HAVING SUM(intended) > 0 LIMIT 1
      """, lineage.description, bought.transactionId, customer)
  }

  /// What the ledger knows of one transaction and unit.
  private struct Booked {
    let unit: String
    /// The whole credit, once: a purchase that moved was credited to each of two customers who then merged.
    let credit: Int64
    let intended: Int64
    let shortfall: Int64
    let taken: Int64
    let expired: Int64
    let expiresAt: Int64?
  }

  /// Brings the entries of a transaction to what is left of its credits.
  private func follow(
    _ bought: LineageTransaction, left: (Int64) -> Int64, _ state: LineageState,
    _ customer: String, kind: String?, _ change: Change, blocked: () -> Void = {}
  ) throws -> [BookedEntry] {
    let lineage = state.lineage
    let policy = rules.policies(lineage.bundleId, lineage.environment).refundBalance
    return try booked(change.transaction, bought, lineage, customer).compactMap { booked in
      let account = Account(
        customer: customer, environment: lineage.environment, unit: booked.unit)
      try moveEnd(bought, booked, state, customer, change)
      let difference = left(booked.credit) - booked.intended
      guard difference != 0 else { return nil }
      if try kind == "transfer" && difference > 0
        && isHeldElsewhere(change.transaction, bought, lineage, customer)
      {
        blocked()
        return nil
      }
      let step = RefundShare.step(
        difference, balance: try BalanceBook.amount(change.transaction, account),
        owed: booked.shortfall, taken: booked.taken, expired: booked.expired, policy)
      var entry = BalanceEntry(
        id: BalanceBook.id(
          customer, lineage.description, bought.transactionId, booked.unit, "difference",
          "\(state.revision)", state.holding.rawValue),
        kind: kind ?? (difference < 0 ? "refund" : "refund-reversed"), amount: step.amount)
      entry.intended = difference == step.amount ? nil : difference
      entry.shortfall = step.shortfall == 0 ? nil : step.shortfall
      entry.lineage = lineage.description
      entry.transactionId = bought.transactionId
      entry.expiresAt = step.amount > 0 ? booked.expiresAt : nil
      return try BalanceBook.post(change, account, entry)
    }
  }

  /// An extension moves the end of what expires with the period.
  private func moveEnd(
    _ bought: LineageTransaction, _ booked: Booked, _ state: LineageState, _ customer: String,
    _ change: Change
  ) throws {
    guard booked.expiresAt != nil, let expires = bought.expiresDate,
      rules.product(bought.productId, of: state.lineage.bundleId)?.credits
        .contains(where: { $0.unit == booked.unit && $0.expiry == .withPeriod }) == true
    else { return }
    try Lots.move(
      change.transaction, customer, state.lineage.description, bought.transactionId, booked.unit,
      to: expires)
  }

  /// What a transaction brought to a balance, and what it would bring by these rules.
  struct Comparison: Encodable, Equatable, Sendable {
    let lineage: String
    let transactionId: String
    let productId: String
    let unit: String
    /// After refunds, as decided by the rules of its time.
    let brought: Int64
    /// After refunds, by these rules.
    let wouldBring: Int64
  }

  /// What the transactions of a lineage would bring otherwise by these rules; whose they are, and what was
  /// spent or ended, is taken as it was decided.
  func comparisons(_ state: LineageState, of customer: String, _ change: Change) throws
    -> [Comparison]
  {
    let lineage = state.lineage
    return try state.transactions.flatMap { bought -> [Comparison] in
      let booked = try booked(change.transaction, bought, lineage, customer)
      let brought = Dictionary(uniqueKeysWithValues: booked.map { ($0.unit, $0.intended) })
      var would: [String: Int64] = [:]
      if try !booked.isEmpty || isFree(bought, state, customer, change) {
        for credit in credits(bought, lineage, customer) {
          would[credit.unit] = RefundShare.left(of: RefundShare.full(bought, credit), bought)
        }
      }
      return Set(brought.keys).union(would.keys).sorted().compactMap { unit in
        let (was, then) = (brought[unit] ?? 0, would[unit] ?? 0)
        guard was != then else { return nil }
        return Comparison(
          lineage: lineage.description, transactionId: bought.transactionId,
          productId: bought.productId, unit: unit, brought: was, wouldBring: then)
      }
    }
  }

  /// What the catalog gives for a purchase, if its environment gives anything.
  private func credits(_ bought: LineageTransaction, _ lineage: LineageID, _ customer: String)
    -> [Credit]
  {
    guard let product = rules.product(bought.productId, of: lineage.bundleId),
      rules.grants(lineage, to: customer), bought.inAppOwnershipType != "FAMILY_SHARED"
    else { return [] }
    return product.credits.filter { $0.isFor(boughtAt: bought.purchaseDate) }
  }

  /// Whether nobody was credited for a transaction.
  private func isFree(
    _ bought: LineageTransaction, _ state: LineageState, _ customer: String, _ change: Change
  ) throws -> Bool {
    try !Self.isForgotten(bought, state, change)
      && !wasCredited(change.transaction, bought, state.lineage, customer)
      && !isHeldElsewhere(change.transaction, bought, state.lineage, customer)
  }

  private func booked(
    _ transaction: Transaction, _ bought: LineageTransaction, _ lineage: LineageID,
    _ customer: String
  ) throws -> [Booked] {
    try transaction.query(
      """
      SELECT unit,
        MAX(CASE WHEN kind = 'credit' THEN intended ELSE 0 END),
        SUM(CASE WHEN kind = 'expiry' THEN 0 ELSE intended END),
        SUM(shortfall),
        -SUM(CASE WHEN kind IN ('credit', 'expiry') THEN 0 ELSE amount END),
        -SUM(CASE WHEN kind = 'expiry' THEN amount ELSE 0 END),
        MAX(CASE WHEN kind = 'credit' THEN expires_at END)
      FROM balance_entries
      WHERE customer = ? AND lineage = ? AND transaction_id = ? AND lineage IS NOT NULL
      GROUP BY unit ORDER BY unit
      """, customer, lineage.description, bought.transactionId
    ) { row in
      Booked(
        unit: row.text(0), credit: row.int(1), intended: row.int(2), shortfall: row.int(3),
        taken: row.int(4), expired: row.int(5), expiresAt: row.optionalInt(6))
    }
  }
}
