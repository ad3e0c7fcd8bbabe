import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime

/// `order-service rebuild`: the store anew, from what the service has published.
enum RebuildOrders {
  /// Tables that no topic carries.
  static let unpublished = ["audit", "idempotency_keys", "restores"]

  static func run(_ settings: Settings, _ wish: RebuildWish, _ log: Log) throws {
    let rebuild = try Rebuild(
      service: "order-service", settings: settings.pipeline, migrations: OrderTables.migrations,
      reads: [.transactions], folds: [.orders, .customers, .proofs],
      wish: wish, log: log)
    try rebuild.change { change in
      // Of those who were erased the store keeps no id, only while it is made.
      try change.transaction.run(
        "CREATE TABLE rebuild_erased (customer TEXT PRIMARY KEY) WITHOUT ROWID")
    }
    let parted = try PartedCustomers(rebuild)
    func read(
      _ topic: Topic, to limit: Rebuild.Limit, _ prepare: (ReceivedRecord) throws -> RecordWork?
    ) throws {
      try rebuild.read([topic], to: limit, whole: parted.isAny) { record in
        try parted.concerns(record) ? prepare(record) : nil
      }
    }
    try read(.orders, to: .end) { try FoldOrders.order($0) }
    try rebuild.requirePositions()
    try read(.customers, to: .end) { record in
      try parted.shard.owns(record.partition)
        ? FoldOrders.customer(record) : FoldOrders.alias(record)
    }
    try read(.proofs, to: .end) { try FoldOrders.proof($0) }
    try read(.transactions, to: .position) { try FoldOrders.outcome($0) }
    try rebuild.change { change in
      if !parted.shard.isAlone { try FoldOrders.part(change) }
    }
    if !wish.isBeside { try rebuild.takeOver(unpublished) }
    // Last, as an old copy may know of someone who was erased since.
    try rebuild.change { try FoldOrders.finish($0) }
    try rebuild.finish()
  }
}
