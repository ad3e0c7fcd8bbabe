import Catalog
import Events

/// Decides whose a lineage is.
///
/// Pure: everything that the answer hangs on is a parameter.
struct LinkCustomer: Sendable, Equatable {
  /// The lineage before the fact.
  var lineage: Lineage
  var fact: FactContents
  /// Whether the fact's transaction was not known before.
  var isNewTransaction: Bool
  /// Whose the transaction's token is; nil when there is none or it is not known.
  var tokenCustomer: String?
  /// Whether the fact may still wait for its token to become known.
  var mayWait: Bool
  var policy: Policies.Transfer
  var now: Int64

  /// The answer.
  enum Decision: Sendable, Equatable {
    /// The owner stays, or the first owner is named.
    case owner(String)
    /// The lineage moves from its owner to another customer.
    case move(to: String)
    /// The token is not known yet: ask again when it is, or when the time has run out.
    case wait
  }

  /// First match for a lineage without owner: known token, the proof's customer, a provisional one.
  func decide() -> Decision {
    guard let owner = lineage.owner else {
      if let tokenCustomer { return .owner(tokenCustomer) }
      if fact.token != nil && mayWait { return .wait }
      return .owner(fact.proof?.customer ?? Customer.provisional(for: lineage.id))
    }
    if Customer.isProvisional(owner) {
      // A provisional owner may always be claimed.
      guard let claimant = tokenCustomer ?? fact.proof?.customer else { return .owner(owner) }
      return .move(to: claimant)
    }
    guard let claimant = claimant(against: owner) else { return .owner(owner) }
    return mayMove ? .move(to: claimant) : .owner(owner)
  }

  /// Another customer who asks for an owned lineage: by a proof, or by a new purchase that bears
  /// that customer's token; never by a renewal.
  private func claimant(against owner: String) -> String? {
    if let customer = fact.proof?.customer, !Customer.isSame(customer, owner) { return customer }
    if isNewTransaction, fact.transaction?.transactionReason == "PURCHASE",
      let tokenCustomer, !Customer.isSame(tokenCustomer, owner)
    {
      return tokenCustomer
    }
    return nil
  }

  private var mayMove: Bool {
    guard let transaction = fact.transaction, lineage.isTransferable else { return false }
    // A former owner's old copy moves nothing back.
    if let moved = lineage.movedSignedDate, transaction.signedDate <= moved { return false }
    switch policy {
    case .transfer: return true
    case .transferIfInactive: return lineage.isInactive(at: now)
    case .keep, .share: return false
    }
  }
}
