import Events
import Pipeline
import SQLite
import ServiceRuntime

/// `order-service rebuild`: the store anew, from what the service has published.
enum RebuildOrders {
  /// Tables that no topic carries.
  static let unpublished = ["audit", "idempotency_keys", "restores"]

  static func run(_ settings: Settings, _ options: [String: String], _ log: Log) throws {
    let rebuild = try Rebuild(
      service: "order-service", settings: settings.pipeline, migrations: OrderTables.migrations,
      reads: [.transactions], folds: [.orders, .customers, .proofs],
      backup: options["--backup"], log: log)
    try rebuild.change { change in
      // Of those who were erased the store keeps no id, only while it is made.
      try change.transaction.run(
        "CREATE TABLE rebuild_erased (customer TEXT PRIMARY KEY) WITHOUT ROWID")
    }
    try rebuild.read([.orders], to: .end) { try FoldOrders.order($0) }
    try rebuild.requirePositions()
    try rebuild.read([.customers], to: .end) { try FoldOrders.customer($0) }
    try rebuild.read([.proofs], to: .end) { try FoldOrders.proof($0) }
    try rebuild.read([.transactions], to: .position) { try FoldOrders.outcome($0) }
    try rebuild.change { try FoldOrders.finish($0) }
    try rebuild.takeOver(unpublished)
    try rebuild.finish()
  }
}
