import Events
import Pipeline
import SQLite

/// One right or balance that would be another.
struct WhatIfFinding: Encodable, Sendable {
  let customer: String
  let environment: String
  /// Of which type the event would be that told of it.
  let type: String
  /// For which time it was computed, UTC milliseconds.
  let at: Int64
  /// The name of a right; absent of balances.
  var right: String?
  /// As the right was told last; absent if it was not active.
  var told: Entitlement?
  /// As these rules give the right; absent if they do not.
  var derived: Entitlement?
  /// The unit of a balance; absent of rights.
  var unit: String?
  /// The balance as it was told last.
  var amountTold: Int64?
  /// The balance if the purchases had brought what these rules give.
  ///
  /// Below zero, some of the spends would not have been covered.
  var amountDerived: Int64?
  /// The purchases that would have brought more or less; the first of them.
  var because: [CreditPurchases.Comparison]?

  /// A right that differs.
  init(_ customer: String, _ difference: Difference, at time: Int64) {
    self.customer = customer
    environment = difference.after.environment
    type = difference.type.rawValue
    at = time
    right = difference.after.name
    told = difference.before
    derived = difference.after.isActive ? difference.after : nil
  }

  /// A balance that differs.
  init(
    _ customer: String, _ told: Balance, derived: Int64, _ because: [CreditPurchases.Comparison],
    at time: Int64
  ) {
    self.customer = customer
    environment = told.environment
    type = EventType.balanceChanged.rawValue
    at = time
    unit = told.unit
    amountTold = told.amount
    amountDerived = derived
    self.because = because
  }
}

/// What balances would be by other rules.
struct WhatIfBalances: Sendable {
  let rules: Rules

  /// No finding names more purchases than this.
  private static let most = 20

  func findings(of customer: String, at time: Int64, _ change: Change) throws -> [WhatIfFinding] {
    let credits = CreditPurchases(rules: rules)
    var differences: [Account: [CreditPurchases.Comparison]] = [:]
    for state in try Purchases.states(change.transaction, customer) {
      for comparison in try credits.comparisons(state, of: customer, change) {
        let account = Account(
          customer: customer, environment: state.lineage.environment, unit: comparison.unit)
        differences[account, default: []].append(comparison)
      }
    }
    return try differences.sorted {
      ($0.key.environment, $0.key.unit) < ($1.key.environment, $1.key.unit)
    }
    .map { account, because in
      let told = try BalanceBook.amount(change.transaction, account)
      let step = because.reduce(0) { $0 + $1.wouldBring - $1.brought }
      return WhatIfFinding(
        customer,
        Balance(unit: account.unit, environment: account.environment, amount: told),
        derived: told + step, Array(because.prefix(Self.most)), at: time)
    }
  }
}
