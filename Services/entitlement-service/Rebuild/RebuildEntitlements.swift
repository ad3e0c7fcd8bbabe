import Cryptography
import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime

/// `entitlement-service rebuild`: the store anew, from what the service has published.
///
/// Versions, rights, grants, balances and spends come from `iap.entitlements`; nothing is decided
/// again. Lineage states come from `iap.transactions`, up to where everything that came of them is
/// published; what stands behind is the service's to read, as always.
enum RebuildEntitlements {
  /// Tables that no topic carries.
  static let unpublished = [
    "audit", "refund_settings", "webhook_endpoints", "webhook_events", "webhook_deliveries",
  ]

  static func run(_ settings: Settings, _ wish: RebuildWish, _ log: Log) throws {
    let rebuild = try begin(settings, wish, log: log)
    try fold(rebuild, settings)
    if let file = wish.findings {
      try WhatIf.Question(rules: settings.rules).answer(rebuild, into: file)
    }
    if !wish.isBeside { try rebuild.takeOver(unpublished) }
    // An old copy may know of someone who was erased since.
    try rebuild.changeInParts(from: "") { change, cursor in
      try FinishCustomers.forgetErased(change, after: cursor)
    }
    try rebuild.finish { try RebuildTables.drop($0) }
  }

  /// Opens the new store.
  ///
  /// - Parameter time: As of when it is made; nil for now.
  static func begin(
    _ settings: Settings, _ wish: RebuildWish, at time: Int64? = nil, log: Log
  ) throws -> Rebuild {
    try Rebuild(
      service: "entitlement-service", settings: settings.pipeline,
      migrations: EntitlementStore.migrations, reads: [.transactions, .customers],
      folds: [.entitlements, .entitlementState], wish: wish, until: time, log: log)
  }

  /// Folds everything; the tables of the rebuild are still there.
  ///
  /// - Parameter customer: Whose records alone count, with all who became that customer; nil for all.
  static func fold(_ rebuild: Rebuild, _ settings: Settings, of customer: String? = nil) throws {
    let topics = settings.pipeline.topics
    let parted = try PartedCustomers(rebuild)
    try rebuild.change { try RebuildTables.make($0) }
    var only: Set<[UInt8]>?
    if let customer {
      try rebuild.read([.customers], to: .end, whole: true) { try FoldStories.noteAlias($0) }
      only = try rebuild.look { try RebuildTables.aliases($0.transaction, of: customer) }
    }
    let counts = { [only] (record: ReceivedRecord) in
      only.map { $0.contains(record.key ?? []) } ?? true
    }
    try rebuild.read([.entitlements], to: .end, whole: parted.isAny) { record in
      guard parted.concerns(record) else { return nil }
      if rebuild.shard.owns(record.partition) { advance(rebuild, past: record, topics) }
      return counts(record) ? try FoldStories.collect(record) : nil
    }
    try rebuild.requirePositions()
    try rebuild.read([.entitlementState], to: .end) { record in
      counts(record) ? try FoldStories.noteState(record) : nil
    }
    try rebuild.changeInParts(from: "") { change, cursor in
      try FoldStories.fold(change, after: cursor)
    }
    try rebuild.change { try parted.remove($0) }
    try rebuild.read([.customers], to: .end, whole: parted.isAny) { record in
      guard parted.concerns(record) else { return nil }
      let position = rebuild.positions[record.topicPartition, default: 0]
      return counts(record) ? try dateErasure(record, isRead: record.offset < position) : nil
    }
    try rebuild.read([.transactions], to: .position, whole: parted.isAny) { record in
      parted.concerns(record) && counts(record) ? try FoldPurchases.collect(record) : nil
    }
    try rebuild.changeInParts(from: FoldPurchases.Cursor()) { change, cursor in
      try FoldPurchases.foldMerged(change, after: cursor)
    }
    // States of before the merge brought them back.
    try rebuild.change { try parted.remove($0) }
    let finish = FinishCustomers(rules: settings.rules)
    try rebuild.changeInParts(from: "") { change, cursor in
      try finish.run(change, after: cursor)
    }
  }

  /// An event says which record it came of; all before that one have told what they had to tell.
  ///
  /// That record itself is read again by the service: some of its events may be lost. Who only looks counts
  /// it in, as a right without the purchase that gives it would be a difference that is none. Only what came
  /// of a record of the same partition counts, as events of other partitions may have arrived ahead of these.
  private static func advance(_ rebuild: Rebuild, past record: ReceivedRecord, _ topics: TopicNames)
  {
    guard let input = record.input, input.partition.partition == record.partition,
      input.partition.topic == topics.name(of: .transactions)
        || input.partition.topic == topics.name(of: .customers)
    else { return }
    let known = rebuild.positions[input.partition, default: 0]
    rebuild.positions[input.partition] = max(known, input.offset + (rebuild.isBeside ? 1 : 0))
  }

  /// An erasure counts from its decision, not from when it was obeyed.
  ///
  /// - Parameter isRead: Whether the service had read so far; of what stands behind only the erasure
  ///   counts that it may have obeyed already.
  static func dateErasure(_ record: ReceivedRecord, isRead: Bool) throws -> RecordWork? {
    guard let erased = try record.decode(CustomerErased.self, type: .customerErased) else {
      return nil
    }
    return { change in
      try change.transaction.run(
        """
        UPDATE erased_customers SET erased_at = ?2
        WHERE hash = ?1 AND (?3 OR erased_at >= ?2)
        """, SHA256.hex(erased.customer), erased.decidedAt, isRead)
    }
  }
}
