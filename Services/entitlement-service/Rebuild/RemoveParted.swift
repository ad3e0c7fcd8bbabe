import Pipeline
import SQLite

extension PartedCustomers {
  /// Takes out the customers of other shards, who were folded with those who became them, and notes
  /// where they are.
  func remove(_ change: Change) throws {
    guard !shard.isAlone else { return }
    let transaction = change.transaction
    // Also of those who were erased since, whose rows say no longer whom they became.
    let merged = try transaction.query("SELECT customer, into_customer FROM rebuild_merges") {
      (customer: $0.text(0), into: $0.text(1))
    }
    for merge in merged where !shard.owns(key: merge.into) {
      try Elsewhere.insert(
        transaction, Elsewhere.name(ofCustomer: merge.customer),
        partition: shard.partition(of: merge.into))
      for table in [
        "purchases", "grants", "entitlements", "timeline", "balances", "balance_entries",
        "balance_lots", "spends", "customers", "rebuild_customers",
      ] {
        try transaction.run("DELETE FROM \(table) WHERE customer = ?", merge.into)
      }
    }
    // What ended under the old name was told there.
    for merge in merged where shard.owns(key: merge.into) && !shard.owns(key: merge.customer) {
      try transaction.run("DELETE FROM entitlements WHERE customer = ?", merge.customer)
    }
  }
}
