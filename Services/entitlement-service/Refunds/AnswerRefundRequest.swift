import Catalog
import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Answers Apple's `CONSUMPTION_REQUEST` with what is known of the purchase; verify-service sends it.
struct AnswerRefundRequest: Sendable {
  /// Apple waits this long for an answer; a request for the same transaction within it is a
  /// repetition.
  static let window: Int64 = 12 * 3600 * 1000

  private let reported: Counter
  private let repeated: Counter
  private let withoutConsent: Counter

  init(metrics: Metrics) {
    reported = metrics.counter(
      "refund_requests_total", "Apple's questions about a purchase whose refund was asked for.")
    repeated = metrics.counter(
      "refund_requests_repeated_total", "The same question, asked again within its window.")
    withoutConsent = metrics.counter(
      "refund_requests_without_consent_total",
      "Questions that are not answered, as the customer did not consent.")
  }

  /// The report for a state that such a request brought; nil for all other states, and for a
  /// repetition.
  func report(
    _ state: LineageState, for customer: String, _ rules: Rules, _ change: Change
  ) throws -> ConsumptionReported? {
    guard state.holding == .held, state.cause.notificationType == "CONSUMPTION_REQUEST",
      let request = state.cause.fact,
      let bought = state.transactions.last(where: {
        state.cause.transactionId == nil || $0.transactionId == state.cause.transactionId
      })
    else { return nil }
    let known = try change.transaction.first(
      """
      SELECT request, requested_at FROM refund_requests
      WHERE customer = ? AND transaction_id = ?
      """, customer, bought.transactionId
    ) { row in (request: row.text(0), at: row.int(1)) }
    if let known, known.request == request || state.decidedAt < known.at + Self.window {
      change.count(repeated)
      return nil
    }
    try Self.note(
      change.transaction, customer, bought.transactionId, request: request, at: state.decidedAt)

    let lineage = state.lineage
    let policies = rules.policies(lineage.bundleId, lineage.environment)
    let settings = try RefundSettings.load(change.transaction, customer)
    let preference =
      settings.refundPreference.flatMap(Policies.RefundPreference.init(rawValue:))
      ?? policies.refundPreference
    var report = ConsumptionReported(
      customer: customer, version: 0, lineage: lineage.description,
      transactionId: bought.transactionId, environment: lineage.environment,
      bundleId: lineage.bundleId, request: request,
      customerConsented: settings.customerConsented,
      deliveryStatus: settings.deliveryStatus ?? "DELIVERED",
      sampleContentProvided: settings.sampleContentProvided ?? policies.sampleContent,
      requestedAt: state.decidedAt)
    report.consumptionPercentage = try share(bought, state, customer, rules, change)
    // Apple wants to know what was used where a part is to be granted.
    report.refundPreference =
      preference == .prorate && (report.consumptionPercentage ?? 0) == 0
      ? nil : preference.appStoreWord
    change.count(reported)
    if !settings.customerConsented { change.count(withoutConsent) }
    return report
  }

  /// Notes the newest question about a transaction.
  static func note(
    _ transaction: Transaction, _ customer: String, _ transactionId: String, request: String,
    at time: Int64
  ) throws {
    try transaction.run(
      """
      INSERT INTO refund_requests (customer, transaction_id, request, requested_at)
      VALUES (?, ?, ?, ?)
      ON CONFLICT (customer, transaction_id) DO UPDATE SET request = excluded.request,
        requested_at = excluded.requested_at
      """, customer, transactionId, request, time)
  }

  /// The share of a purchase that was used, in milliunits of percent; nil where it says nothing.
  private func share(
    _ bought: LineageTransaction, _ state: LineageState, _ customer: String, _ rules: Rules,
    _ change: Change
  ) throws -> Int64? {
    let product = rules.product(bought.productId, of: state.lineage.bundleId)
    switch ProductKind(appStoreType: bought.type) {
    case .consumable?:
      return try SpentShare.of(
        bought.transactionId, state.lineage, customer, change.transaction)
    case .nonRenewing?:
      return product?.length.map { length in
        SpentShare.ofTime(
          from: bought.purchaseDate, to: length.end(after: bought.purchaseDate),
          at: state.decidedAt)
      }
    // Of a subscription Apple knows the time itself and takes no share.
    default: return nil
    }
  }
}

/// How much of a purchase was used.
enum SpentShare {
  /// The whole, in milliunits of percent.
  static let whole: Int64 = 100_000

  /// The share of a time that has passed.
  static func ofTime(from start: Int64, to end: Int64, at now: Int64) -> Int64 {
    guard end > start else { return whole }
    let used = min(max(now - start, 0), end - start)
    return share(used, of: end - start)
  }

  /// The share of a transaction's credit that was spent: what was bought first is spent first.
  static func of(
    _ transactionId: String, _ lineage: LineageID, _ customer: String, _ transaction: Transaction
  ) throws -> Int64? {
    let credits = try transaction.query(
      """
      SELECT unit, amount, at, id FROM balance_entries
      WHERE lineage = ? AND transaction_id = ? AND customer = ? AND kind = 'credit'
      """, lineage.description, transactionId, customer
    ) { row in (unit: row.text(0), amount: row.int(1), at: row.int(2), id: row.text(3)) }
    let shares = try credits.map { credit in
      let later =
        try transaction.first(
          """
          SELECT COALESCE(SUM(amount), 0) FROM balance_entries
          WHERE customer = ?1 AND environment = ?2 AND unit = ?3 AND amount > 0
            AND (at > ?4 OR (at = ?4 AND id > ?5))
          """, customer, lineage.environment, credit.unit, credit.at, credit.id
        ) { $0.int(0) } ?? 0
      let balance = try BalanceBook.amount(
        transaction,
        Account(customer: customer, environment: lineage.environment, unit: credit.unit))
      return spent(credit.amount, later: later, balance: balance)
    }
    return shares.max()
  }

  /// The spent share of a credit when what came later is spent after it.
  static func spent(_ amount: Int64, later: Int64, balance: Int64) -> Int64 {
    let left = min(max(balance.subtractingReportingOverflow(later).partialValue, 0), amount)
    return share(amount - left, of: amount)
  }

  private static func share(_ part: Int64, of amount: Int64) -> Int64 {
    guard amount > 0 else { return whole }
    return amount.dividingFullWidth(part.multipliedFullWidth(by: whole)).quotient
  }
}
