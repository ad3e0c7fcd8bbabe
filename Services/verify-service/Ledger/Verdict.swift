import Catalog
import Events

/// What becomes of a proof, by what became of its lineage; pure.
struct Verdict: Sendable, Equatable {
  var outcome: Outcome
  var reason: String?
  var detail: String?

  static let customerErased = "The customer was erased after the proof was posted."

  /// - Parameters:
  ///   - fact: The fact that the proof brought.
  ///   - lineage: With the fact.
  ///   - prover: Who posted it, after merges.
  ///   - isNews: Whether the proof told something, or gave the customer something.
  ///   - isProverErased: Whether the customer was erased after the proof was posted.
  ///   - policy: How claims of other customers are met.
  init(
    _ fact: FactContents, _ lineage: Lineage, prover: String, isNews: Bool,
    isProverErased: Bool = false, policy: Policies.Transfer
  ) {
    guard !isProverErased else {
      outcome = .rejected
      reason = "customer-erased"
      detail = Self.customerErased
      return
    }
    let owner = lineage.owner ?? ""
    if Customer.isSame(owner, prover) || lineage.sharers.contains(same: prover) {
      outcome = isNews ? .accepted : .alreadyRecorded
      return
    }
    let kind = fact.proof?.kind
    if kind == .transactionId || kind == .transactionReceipt {
      outcome = .rejected
      reason = "not-bound"
      detail =
        "Apple knows the transaction, but an id proves no owner, and the transaction bears no token "
        + "of this customer: post the signed transaction (jwsRepresentation) instead."
      return
    }
    outcome = .belongsToAnother
    reason = "belongs-to-another"
    detail = Self.why(fact, lineage, policy)
  }

  /// Why the purchase stays where it is, and what would help; whole sentences for a person.
  private static func why(_ fact: FactContents, _ lineage: Lineage, _ policy: Policies.Transfer)
    -> String
  {
    guard lineage.isTransferable else {
      return
        "A consumable or non-renewing purchase that was credited moves by no proof, only by a merge of "
        + "the customers or by support."
    }
    // First: no other proof would help.
    if policy == .keep {
      return "The policy 'keep' leaves a purchase with the customer who has it, whatever is posted."
    }
    if fact.cause.kind == FactSource.receipt.rawValue {
      return "A receipt moves no purchase that has an owner: post the signed transaction instead."
    }
    if let moved = lineage.movedSignedDate, fact.signedDate <= moved {
      return
        "This copy was signed before the purchase moved there: let StoreKit give a fresh one "
        + "(AppStore.sync()) and post that."
    }
    return policy == .transferIfInactive
      ? "The policy 'transfer-if-inactive' moves a purchase only when it gives its owner nothing at present."
      : "The policy '\(policy.rawValue)' keeps it there for this kind of proof."
  }
}
