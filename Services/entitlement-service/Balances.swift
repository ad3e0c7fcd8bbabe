import Catalog
import Cryptography
import Events
import Pipeline
import SQLite

/// Credits purchases to balances and takes refunds back: entries whose sum is the balance.
///
/// For each transaction of a lineage there is an amount that it should have brought by now; what
/// the entries brought so far is subtracted, and the difference is the next entry.
struct Balances: Sendable {
  let rules: Rules

  /// One entry that a lineage state caused.
  struct Entry: Equatable, Sendable {
    var balance: Balance
    var delta: Int64
    var shortfall: Int64
    var transactionId: String
  }

  /// Writes the entries that a new lineage state asks for.
  func apply(_ state: LineageState, _ change: Change) throws -> [Entry] {
    let lineage = state.lineage
    guard rules.grants(lineage.bundleId, lineage.environment) else { return [] }
    let policy = rules.policies(lineage.bundleId, lineage.environment).refundBalance
    var entries: [Entry] = []
    for transaction in state.transactions {
      let credits = rules.product(transaction.productId, of: lineage.bundleId)?.credits ?? []
      for credit in credits {
        let wanted = state.holding == .held ? Self.wanted(transaction, credit) : 0
        let booked = try Self.booked(change.transaction, state, transaction, credit.unit)
        guard wanted != booked.intended else { continue }
        let balance = try Self.balance(change.transaction, state, credit.unit)
        let step = Self.step(
          wanted - booked.intended, balance: balance, owed: booked.shortfall, policy)
        let kind = Self.kind(state, isFirst: booked.count == 0, delta: wanted - booked.intended)
        try Self.write(change, state, transaction, credit.unit, step, kind)
        entries.append(
          Entry(
            balance: Balance(
              unit: credit.unit, environment: lineage.environment, amount: balance + step.amount),
            delta: step.amount, shortfall: step.shortfall,
            transactionId: transaction.transactionId))
      }
    }
    return entries
  }

  /// What a transaction should have brought: amount × quantity, less what its refund takes.
  ///
  /// A prorated refund takes `revocationPercentage` (milliunits of percent) of it, rounded up.
  static func wanted(_ transaction: LineageTransaction, _ credit: Credit) -> Int64 {
    let full = credit.amount.multipliedReportingOverflow(by: max(1, transaction.quantity))
    let amount = full.overflow ? Int64.max : full.partialValue
    guard transaction.revocationDate != nil else { return amount }
    guard transaction.revocationType == "REFUND_PRORATED",
      let percentage = transaction.revocationPercentage, (0...100_000).contains(percentage)
    else { return 0 }
    let product = amount.multipliedFullWidth(by: percentage)
    let (quotient, remainder) = Int64(100_000).dividingFullWidth(product)
    return amount - quotient - (remainder > 0 ? 1 : 0)
  }

  struct Step: Equatable {
    /// What the balance changes by.
    var amount: Int64
    /// What should have been taken and was not there; negative when an earlier one is forgiven.
    var shortfall: Int64
  }

  /// The entry for a difference: taking stops at zero under `floor`, giving back gives no more than
  /// was taken.
  static func step(
    _ difference: Int64, balance: Int64, owed: Int64, _ policy: Policies.RefundBalance
  ) -> Step {
    if difference > 0 {
      let forgiven = min(difference, owed)
      return Step(amount: difference - forgiven, shortfall: -forgiven)
    }
    guard policy == .floor else { return Step(amount: difference, shortfall: 0) }
    let taken = min(-difference, max(balance, 0))
    return Step(amount: -taken, shortfall: -difference - taken)
  }

  private static func kind(_ state: LineageState, isFirst: Bool, delta: Int64) -> String {
    if state.holding == .left { return "transfer" }
    if isFirst { return "credit" }
    return delta < 0 ? "refund" : "refund-reversed"
  }

  private static func booked(
    _ transaction: Transaction, _ state: LineageState, _ bought: LineageTransaction, _ unit: String
  ) throws -> (count: Int64, intended: Int64, shortfall: Int64) {
    try transaction.first(
      """
      SELECT COUNT(*), COALESCE(SUM(amount - shortfall), 0), COALESCE(SUM(shortfall), 0)
      FROM balance_entries
      WHERE customer = ? AND lineage = ? AND transaction_id = ? AND unit = ?
      """, state.customer, state.lineage.description, bought.transactionId, unit
    ) { row in (row.int(0), row.int(1), row.int(2)) } ?? (0, 0, 0)
  }

  private static func balance(_ transaction: Transaction, _ state: LineageState, _ unit: String)
    throws -> Int64
  {
    try transaction.first(
      "SELECT amount FROM balances WHERE customer = ? AND environment = ? AND unit = ?",
      state.customer, state.lineage.environment, unit
    ) { $0.int(0) } ?? 0
  }

  private static func write(
    _ change: Change, _ state: LineageState, _ bought: LineageTransaction, _ unit: String,
    _ step: Step, _ kind: String
  ) throws {
    let id = UUIDs.version5(
      namespace: EventID.namespace,
      name: [
        "balance-entry", state.customer, state.lineage.description, "\(state.revision)",
        bought.transactionId, unit,
      ].joined(separator: "\n"))
    try change.transaction.run(
      """
      INSERT INTO balance_entries
        (id, customer, environment, unit, amount, shortfall, kind, lineage, transaction_id, at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, id, state.customer, state.lineage.environment, unit, step.amount, step.shortfall, kind,
      state.lineage.description, bought.transactionId, change.now)
    try change.transaction.run(
      """
      INSERT INTO balances (customer, environment, unit, amount) VALUES (?, ?, ?, ?)
      ON CONFLICT (customer, environment, unit) DO UPDATE SET amount = amount + excluded.amount
      """, state.customer, state.lineage.environment, unit, step.amount)
  }
}
