/// What the simulated store does not do, and what to do instead.
struct Refusal: Error, Sendable, Equatable, CustomStringConvertible {
  /// Stable slugs of the problem documents.
  enum Code: String, Sendable, CaseIterable {
    case unknownProduct = "unknown-product"
    case invalidQuantity = "invalid-quantity"
    case invalidToken = "invalid-token"
    case unknownStorefront = "unknown-storefront"
    case unknownOffer = "unknown-offer"
    case unknownTransaction = "unknown-transaction"
    case unknownSubscription = "unknown-subscription"
    case alreadyOwned = "already-owned"
    case alreadySubscribed = "already-subscribed"
    case alreadyRefunded = "already-refunded"
    case notRefunded = "not-refunded"
    case invalidRefund = "invalid-refund"
    case subscriptionEnded = "subscription-ended"
    case autoRenewUnchanged = "auto-renew-unchanged"
    case autoRenewOff = "auto-renew-off"
    case ledgerFull = "ledger-full"
  }

  let code: Code
  /// The fault and the remedy.
  let detail: String

  init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  var description: String { "\(code.rawValue): \(detail)" }
}
