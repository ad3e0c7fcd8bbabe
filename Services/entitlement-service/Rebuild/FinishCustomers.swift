import Events
import Pipeline
import SQLite

/// The last part of a rebuild: what follows from the folded tables alone.
///
/// Which transactions still wait for the catalog, what Apple calls the periods behind credits, and when
/// each customer changes by itself. Nothing of it is told; only a state that was lost on its way to
/// `iap.entitlement-state` is published.
struct FinishCustomers: Sendable {
  let rules: Rules

  /// How many customers one job takes.
  private static let batch = 200

  /// Finishes the next customers; gives where the next job begins, nil at the end.
  func run(_ change: Change, after cursor: String) throws -> String? {
    let customers = try RebuildTables.customers(
      change.transaction, after: cursor, limit: Self.batch)
    for customer in customers { try finish(customer, change) }
    return customers.last
  }

  /// Takes erased customers out of what was taken over from an old copy of the store.
  static func forgetErased(_ change: Change, after cursor: String) throws -> String? {
    let transaction = change.transaction
    let customers = try RebuildTables.customers(transaction, after: cursor, limit: batch)
    for customer in customers
    where try CustomerRow.exactly(transaction, customer).erasedAt != nil {
      try transaction.run("DELETE FROM refund_settings WHERE customer = ?", customer)
      try WebhookQueue.forget(change, customer)
      try change.forgetInAudit(customer)
    }
    return customers.last
  }

  private func finish(_ customer: String, _ change: Change) throws {
    let transaction = change.transaction
    let row = try CustomerRow.exactly(transaction, customer)
    let noted = try transaction.first(
      """
      SELECT evaluated_at, state_version FROM rebuild_customers WHERE customer = ?1
      """, customer
    ) { (evaluatedAt: $0.int(0), stateVersion: $0.optionalInt(1)) }
    guard let noted else { return }
    var dueAt: Int64?
    if row.mergedInto == nil {
      try settle(customer, change)
      let result = Entitlements.compute(
        Holdings(
          customer: customer, lineages: try Purchases.held(transaction, customer),
          grants: try Grants.standing(transaction, customer)), rules, at: noted.evaluatedAt)
      dueAt = [result.nextChange, try Lots.nextEnd(transaction, customer)].compactMap { $0 }.min()
    }
    try row.save(
      change.at(row.updatedAt ?? noted.evaluatedAt), version: row.version,
      evaluatedAt: noted.evaluatedAt, dueAt: dueAt)
    // The last state of who became a customer of this shard is the other shard's to tell.
    if noted.stateVersion ?? 0 < row.version, change.shard.owns(key: customer) {
      try tellState(row, at: row.updatedAt ?? noted.evaluatedAt, change)
    }
  }

  private func settle(_ customer: String, _ change: Change) throws {
    let credits = CreditPurchases(rules: rules)
    for state in try Purchases.states(change.transaction, customer) {
      try credits.moveEnds(state, of: customer, change)
      let unsettled = try credits.unsettled(state, of: customer, change)
      if !unsettled.isEmpty {
        try Purchases.setUnsettled(change.transaction, customer, state.lineage, unsettled)
      }
      for bought in state.transactions {
        guard let item = bought.webOrderLineItemId else { continue }
        try change.transaction.run(
          """
          UPDATE balance_entries SET line_item = ?
          WHERE customer = ? AND lineage = ? AND transaction_id = ? AND kind = 'credit'
            AND lineage IS NOT NULL
          """, item, customer, state.lineage.description, bought.transactionId)
      }
    }
  }

  /// Publishes the state of a customer as the newest event left it.
  private func tellState(_ row: CustomerRow, at time: Int64, _ change: Change) throws {
    let rights = try EntitlementRows.all(change.transaction, row.customer).filter(\.isActive)
    let balances = try BalanceBook.all(change.transaction, row.customer)
    let isForgotten = row.erasedAt != nil && rights.isEmpty && balances.isEmpty
    try change.publish(
      .entitlementState, key: row.customer, type: .customerState, subject: row.customer,
      revision: row.version,
      isForgotten
        ? nil
        : CustomerState(
          customer: row.customer, version: row.version, entitlements: rights, balances: balances,
          updatedAt: time))
  }
}
