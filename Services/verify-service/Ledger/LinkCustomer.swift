import Catalog
import Events

/// Decides whose a lineage is.
///
/// Pure: everything that the answer hangs on is a parameter.
struct LinkCustomer: Sendable, Equatable {
  /// Whose a token is.
  enum TokenOwner: Sendable, Equatable {
    /// The fact bears none, or its customer was erased.
    case none
    /// Nobody has told us, or not yet.
    case unknown
    case customer(String)
  }

  /// The answer.
  enum Decision: Sendable, Equatable {
    /// Whose it is: its owner stays, or the first owner is named, or a provisional one gives way.
    case owner(String)
    /// It goes to another customer by the transfer policy.
    case move(to: String)
    /// It stays whose it is, and another customer has it too.
    case share(owner: String, with: String)
    /// The token is not known yet: ask again when it is, or when the time has run out.
    case wait
  }

  /// The owner before the fact; nil when the lineage is new.
  var owner: String?
  /// The lineage before the fact; with it, when it is new.
  var lineage: Lineage
  var fact: FactContents
  /// Whether the fact brings a newest purchase that was not known and is no renewal.
  var isNewPurchase: Bool
  var token: TokenOwner
  /// Who posted the proof, after merges.
  var prover: String?
  /// Whether the fact may still wait for its token to become known.
  var mayWait: Bool
  var policy: Policies.Transfer
  var now: Int64

  /// First match for a lineage without owner: known token, the proof's customer, a provisional one.
  func decide() -> Decision {
    if mayWait && token == .unknown && hangsOnToken { return .wait }
    if let owner, !Customer.isProvisional(owner) { return claimed(from: owner) }
    if case .customer(let customer) = token { return claimed(from: customer) }
    return .owner(binder ?? Customer.provisional(for: lineage.id))
  }

  /// Whom the fact binds without a token.
  ///
  /// An id alone binds nobody: anyone can write it down.
  private var binder: String? {
    fact.proof?.kind == .transactionId || fact.proof?.kind == .transactionReceipt ? nil : prover
  }

  private var hangsOnToken: Bool {
    guard let owner else { return true }
    if Customer.isProvisional(owner) { return fact.proof != nil }
    return isNewPurchase
  }

  /// An owned lineage keeps its owner, unless another customer may claim it: by a signed transaction
  /// that was posted, or by a new purchase that bears that customer's token; never by a renewal.
  private func claimed(from owner: String) -> Decision {
    guard let claimant = claimant(against: owner), isFresh, lineage.isTransferable else {
      return .owner(owner)
    }
    switch policy {
    case .transfer: return .move(to: claimant)
    case .transferIfInactive:
      return lineage.isInactive(at: now) ? .move(to: claimant) : .owner(owner)
    case .keep: return .owner(owner)
    case .share: return .share(owner: owner, with: claimant)
    }
  }

  private func claimant(against owner: String) -> String? {
    let isSigned = fact.cause.kind == FactSource.proof.rawValue
    if isSigned, let customer = binder, !Customer.isSame(customer, owner) { return customer }
    if isNewPurchase, case .customer(let customer) = token, !Customer.isSame(customer, owner) {
      return customer
    }
    return nil
  }

  /// A former owner's old copy moves nothing back.
  private var isFresh: Bool {
    guard let moved = lineage.movedSignedDate else { return true }
    return fact.transaction.map { $0.signedDate > moved } ?? false
  }
}
