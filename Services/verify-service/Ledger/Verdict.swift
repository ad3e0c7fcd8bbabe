import Catalog
import Events

/// What becomes of a proof, by what became of its lineage; pure.
struct Verdict: Sendable, Equatable {
  var outcome: Outcome
  var reason: String?
  var detail: String?

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
      detail = "the customer was erased after the proof was posted"
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
        + "of this customer; post the signed transaction (jwsRepresentation) instead"
      return
    }
    outcome = .belongsToAnother
    reason = "belongs-to-another"
    detail = Self.why(fact, lineage, policy)
  }

  private static func why(_ fact: FactContents, _ lineage: Lineage, _ policy: Policies.Transfer)
    -> String
  {
    let purchase = "the purchase belongs to another customer, and "
    if fact.cause.kind == FactSource.receipt.rawValue {
      return purchase + "a receipt moves nothing; post the signed transaction instead"
    }
    guard lineage.isTransferable else {
      return purchase + "what was credited moves only by a merge of customers or by support"
    }
    if let moved = lineage.movedSignedDate, fact.signedDate <= moved {
      return purchase + "this copy was signed before it moved there; post a fresh one"
    }
    return purchase + "the transfer policy (\(policy.rawValue)) keeps it there"
  }
}
