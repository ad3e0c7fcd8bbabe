import Events
import Pipeline
import SQLite

/// What `iap.customers` says is obeyed, whatever the policies are: merge, transfer, erasure.
extension Ledger {
  /// A token became known: facts that waited for it are applied, provisional lineages are claimed.
  func tokenKnown(_ issued: TokenIssued, _ change: Change) throws {
    try Tokens.insert(change.transaction, issued)
    if case .customer(let customer) = try Tokens.owner(change.transaction, of: issued.token) {
      for id in try LineageStore.provisional(change.transaction, token: issued.token) {
        try update(id, LineageCause(kind: "token-known"), change) { $0.owner = customer }
      }
    }
    for lineage in try WaitingFacts.lineages(change.transaction, token: issued.token) {
      try release(lineage, change)
    }
  }

  /// Notes who a customer became; answers who that is, and whether that one was erased since.
  ///
  /// Nil for a circle.
  func know(_ merged: CustomerMerged, _ change: Change) throws -> (into: String, isErased: Bool)? {
    let transaction = change.transaction
    let into = try Customers.current(transaction, merged.into)
    guard !Customer.isSame(into, merged.customer) else { return nil }
    // The one who stays may have been erased after the merge, and that may have been read first: then
    // it was the end of both.
    if let date = try Customers.erasure(transaction, of: into, after: merged.decidedAt) {
      try erase(merged.customer, at: date, change)
      return (into, true)
    }
    try Customers.merge(transaction, merged.customer, into: into)
    try Tokens.move(transaction, of: merged.customer, to: into)
    return (into, false)
  }

  /// Notes an erasure, and cuts the customer's tokens.
  func know(_ erased: CustomerErased, _ change: Change) throws {
    try erase(erased.customer, at: erased.decidedAt, change)
  }

  /// Leaves a hash of a customer, and nothing that names it, but for lineages, which are published.
  private func erase(_ customer: String, at date: Int64, _ change: Change) throws {
    let transaction = change.transaction
    for one in try Customers.erase(transaction, customer, at: date) {
      try Tokens.cut(transaction, of: one, before: date)
      try Transfers.forget(transaction, one)
      try PendingProofs.forget(change, one)
      try change.forgetWaiting(of: one)
    }
    try ConsumptionAnswers.forgetErased(change)
  }

  /// All that a customer has and will get belongs to another from now on.
  func merged(_ merged: CustomerMerged, _ change: Change) throws {
    guard let (into, isErased) = try know(merged, change) else { return }
    for id in try LineageStore.lineages(change.transaction, of: merged.customer) {
      try update(id, LineageCause(kind: isErased ? "erasure" : "merge"), change) { lineage in
        if isErased { lineage.noteErasure(of: merged.customer, at: merged.decidedAt) }
        lineage.replace(merged.customer, with: isErased ? nil : into)
      }
    }
  }

  /// Support moved a lineage; one that is not known yet begins with that owner.
  func transferred(_ moved: LineageTransferred, _ id: LineageID, _ change: Change) throws {
    guard try Transfers.insert(change.transaction, moved),
      let customer = try Transfers.find(change.transaction, id)?.customer
    else { return }
    try update(id, LineageCause(kind: "transfer"), change) { lineage in
      lineage.owner = customer
      // What was signed before is a former owner's old copy, whoever posts it.
      lineage.movedSignedDate = max(moved.decidedAt, lineage.movedSignedDate ?? .min)
    }
  }

  /// A customer is erased: lineages and tokens are cut off.
  func erased(_ erased: CustomerErased, _ change: Change) throws {
    try know(erased, change)
    for id in try LineageStore.lineages(change.transaction, of: erased.customer) {
      try update(id, LineageCause(kind: "erasure"), change) { lineage in
        lineage.noteErasure(of: erased.customer, at: erased.decidedAt)
        lineage.replace(erased.customer, with: nil)
      }
    }
  }

  /// Changes who has a lineage; without effect for one that is not known, or when nobody changes.
  private func update(
    _ id: LineageID, _ cause: LineageCause, _ change: Change, _ body: (inout Lineage) -> Void
  ) throws {
    guard let before = try LineageStore.lineage(change.transaction, id) else { return }
    var lineage = before
    body(&lineage)
    guard !lineage.hasSameHolders(as: before) else { return }
    try publish(&lineage, before: before, cause, change)
  }
}
