import AppStore
import Catalog
import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime

/// `verify-service rebuild`: the ledger's store anew, from what it has published.
///
/// Whose a lineage is, its revisions and the outcomes of proofs come from `iap.transactions`; nobody is
/// linked or moved again. Facts are read only for what states do not say.
enum RebuildLedger {
  /// Tables that no topic carries.
  static let unpublished = [
    "audit", "back_fills", "refund_sweeps", "imports", "import_items", "import_failures",
    "apple_writes", "consumption_answers",
  ]

  static func run(_ settings: Settings, _ wish: RebuildWish, _ log: Log) throws {
    let lanes = Set(
      settings.apps.all.filter { settings.apiKeys[$0.bundleId] != nil }.flatMap { app in
        [AppEnvironment.production, .sandbox].map(\.rawValue)
          .filter { app.environments[$0] != nil }
          .map { AppleLane(bundleId: app.bundleId, environment: $0) }
      })
    let shard = settings.pipeline.shards.shard
    let homes = lanes.filter { shard.owns(key: $0.bundleId) }
    let traces = AppleTraces(
      lanes: lanes, homes: homes,
      reconcileAfter: settings.appleTimes.reconcileAfter, importsHistory: false)
    let ledger = Ledger(
      policies: settings.apps.policies, linkWait: 0, traces: traces, metrics: Metrics())
    var reads: Set<Topic> = [.proofs, .appstore, .customers]
    if !lanes.isEmpty { reads.insert(.entitlements) }
    let rebuild = try Rebuild(
      service: "verify-service", settings: settings.pipeline, migrations: LineageStore.migrations,
      reads: reads, wholeReads: [.customers], folds: [.transactions], wish: wish,
      log: log)
    try rebuild.change { try RebuildTables.make($0) }
    // A lineage's states stand where its customers' partitions are: those of all shards are looked at.
    try rebuild.read([.transactions], to: .end, whole: true) {
      try FoldPublished.collect($0, shard)
    }
    try rebuild.requirePositions()
    let known = KnownBefore(ledger: ledger)
    try rebuild.read([.customers], to: .position, whole: true) { try known.collect($0) }
    let facts = FoldFacts(lanes: homes, shard: shard)
    try rebuild.read([.appstore], to: .position, whole: !homes.isEmpty) { try facts.collect($0) }
    let hasReceipts = try rebuild.look { change in
      try change.transaction.exists("SELECT 1 FROM rebuild_receipts LIMIT 1")
    }
    if hasReceipts {
      try rebuild.read([.appstore], to: .position) { try FoldFacts.collectReceipts($0) }
    }
    try rebuild.read([.proofs], to: .position) { try FoldFacts.collectProofs($0) }
    let finish = FinishLineages(ledger: ledger)
    try rebuild.changeInParts(from: "") { change, cursor in
      try finish.run(change, after: cursor)
    }
    if let file = wish.findings {
      try rebuild.makeFindings()
      try rebuild.read([.appstore], to: .position) { try DeriveLineages.collect($0) }
      try rebuild.changeInParts(from: "") { change, cursor in
        try DeriveLineages.compare(change, after: cursor)
      }
      try rebuild.writeFindings(to: file)
    }
    if !wish.isBeside { try rebuild.takeOver(unpublished) }
    // An old copy may know of someone who was erased since.
    try rebuild.change { try ConsumptionAnswers.forgetErased($0) }
    try rebuild.finish { try RebuildTables.drop($0) }
  }
}

/// Reads `iap.customers` for what is known of customers; the lineages were moved when it was read first.
struct KnownBefore: Sendable {
  let ledger: Ledger

  func collect(_ record: ReceivedRecord) throws -> RecordWork? {
    if let issued = try record.decode(TokenIssued.self, type: .tokenIssued) {
      return { change in try Tokens.insert(change.transaction, issued) }
    }
    if let merged = try record.decode(CustomerMerged.self, type: .customerMerged) {
      return { [ledger] change in _ = try ledger.know(merged, change) }
    }
    if let moved = try record.decode(LineageTransferred.self, type: .lineageTransferred) {
      return { change in
        _ = try Transfers.insert(change.transaction, moved)
        try change.transaction.run(
          """
          INSERT INTO rebuild_transfers (lineage, decided_at) VALUES (?, ?) ON CONFLICT DO NOTHING
          """, moved.lineage, moved.decidedAt)
      }
    }
    if let erased = try record.decode(CustomerErased.self, type: .customerErased) {
      return { [ledger] change in try ledger.know(erased, change) }
    }
    return nil
  }
}
