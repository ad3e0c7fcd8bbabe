import Catalog
import Events

/// How much a credit is worth after refunds, and what the ledger then writes; pure.
enum RefundShare {
  /// What is left of a credit of a transaction after what its refund takes.
  ///
  /// A prorated refund takes `revocationPercentage` (milliunits of percent) of it, rounded up.
  static func left(of amount: Int64, _ transaction: LineageTransaction) -> Int64 {
    guard transaction.revocationDate != nil else { return amount }
    guard transaction.revocationType == "REFUND_PRORATED",
      let percentage = transaction.revocationPercentage, (0...100_000).contains(percentage)
    else { return 0 }
    let product = amount.multipliedFullWidth(by: percentage)
    let (quotient, remainder) = Int64(100_000).dividingFullWidth(product)
    return amount - quotient - (remainder > 0 ? 1 : 0)
  }

  /// The whole credit of a transaction: amount × quantity.
  static func full(_ transaction: LineageTransaction, _ credit: Credit) -> Int64 {
    let full = credit.amount.multipliedReportingOverflow(by: max(1, transaction.quantity))
    return full.overflow ? Int64.max : full.partialValue
  }

  struct Step: Equatable {
    /// What the balance changes by.
    var amount: Int64
    /// What should have been taken and was not there; negative when an earlier one is forgiven.
    var shortfall: Int64
  }

  /// The entry for a difference: taking stops at zero under `floor`, giving back gives no more than
  /// was taken.
  ///
  /// - Parameters:
  ///   - difference: What the transaction should bring more or less than it did.
  ///   - balance: What the customer has.
  ///   - owed: The shortfall of earlier refunds.
  ///   - taken: What earlier refunds took.
  ///   - expired: How much of the credit ended by itself and cannot be taken again.
  static func step(
    _ difference: Int64, balance: Int64, owed: Int64, taken: Int64, expired: Int64,
    _ policy: Policies.RefundBalance
  ) -> Step {
    if difference > 0 {
      let forgiven = min(difference, max(0, owed))
      return Step(amount: min(difference - forgiven, max(0, taken)), shortfall: -forgiven)
    }
    let due = max(0, -difference - expired)
    guard policy == .floor else { return Step(amount: -due, shortfall: 0) }
    let there = min(due, max(balance, 0))
    return Step(amount: -there, shortfall: due - there)
  }
}
