import Events
import Kafka
import Pipeline
import SQLite

/// Takes from facts that were applied before what the published states do not say; and puts back those
/// that were read and never applied, as they waited for their token.
struct FoldFacts: Sendable {
  /// The lanes whose notifications are noted here.
  let lanes: Set<AppleLane>
  let shard: Shard

  /// Takes in a record of `iap.appstore`; what was published is in the store already.
  func collect(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let fact = try record.decode(AppStoreFact.self, type: .appStoreFact) else { return nil }
    return { change in try take(fact, record, change) }
  }

  private func take(_ fact: AppStoreFact, _ record: ReceivedRecord, _ change: Change) throws {
    let transaction = change.transaction
    if let uuid = fact.notificationUUID,
      lanes.contains(AppleLane(bundleId: fact.bundleId, environment: fact.environment))
    {
      try AppleTraces.know(uuid, change.at(record.timestamp))
    }
    guard shard.owns(record.partition) else { return }
    if fact.source == .notification, !fact.bundleId.isEmpty {
      let lane = AppleLane(bundleId: fact.bundleId, environment: fact.environment)
      try NewestNotifications.note(lane, fact.receivedAt, change)
    }
    guard let lineage = fact.lineage else { return }
    if let proof = fact.proof {
      try transaction.run(
        "INSERT INTO rebuild_proved (proof_id) VALUES (?) ON CONFLICT DO NOTHING", proof.id)
    }
    if fact.source == .receipt {
      try transaction.run(
        "INSERT INTO rebuild_receipts (lineage) VALUES (?) ON CONFLICT DO NOTHING", lineage)
    }
    let isWanted =
      try transaction.exists("SELECT 1 FROM rebuild_moves WHERE fact = ?", fact.hash)
    if isWanted, let contents = try FactContents.read(fact) {
      try transaction.run(
        "UPDATE rebuild_moves SET signed_date = ? WHERE fact = ?", contents.signedDate, fact.hash)
    }
    let isApplied =
      try transaction.exists("SELECT 1 FROM lineages WHERE lineage = ?", lineage)
    if isApplied, fact.notificationType == "CONSUMPTION_REQUEST" {
      try transaction.run(
        "INSERT INTO consumption_requests (id, lineage) VALUES (?, ?) ON CONFLICT DO NOTHING",
        fact.notificationUUID ?? fact.hash, lineage)
    }
    let isDecided =
      try fact.proof.map { try ProofOutcomes.isDecided(transaction, $0.id, part: $0.part) } ?? true
    guard !isApplied || !isDecided else { return }
    guard let contents = try? FactContents.read(fact), !contents.transactions.isEmpty else {
      return
    }
    try change.putBack(record, reason: "rebuilt: read, and not applied")
  }

  /// Folds the facts of lineages of receipts once more: of their copies only one is published.
  static func collectReceipts(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let fact = try record.decode(AppStoreFact.self, type: .appStoreFact),
      let name = fact.lineage
    else { return nil }
    return { change in
      let isReceipts =
        try change.transaction.exists("SELECT 1 FROM rebuild_receipts WHERE lineage = ?", name)
      guard isReceipts, let contents = try FactContents.read(fact) else { return }
      try merge(contents, of: name, into: "rebuild_receipts", change)
    }
  }

  /// Merges a fact into the lineage of a table of the rebuild, whose row is there.
  static func merge(
    _ contents: FactContents, of name: String, into table: String, _ change: Change
  ) throws {
    let row = try change.transaction.first(
      "SELECT state, memory FROM \(table) WHERE lineage = ?", name
    ) { ($0.optionalBlob(0), $0.optionalBlob(1)) }
    var lineage =
      try row?.0.map { try LineageStore.lineage(state: $0, memory: row?.1) }
      ?? Lineage(contents.lineage)
    _ = lineage.merge(contents)
    let state = lineage.state(for: "", .held, contents.cause, at: 0)
    try change.transaction.run(
      "UPDATE \(table) SET state = ?, memory = ? WHERE lineage = ?",
      try EventJSON.encode(state), try LineageStore.memory(of: lineage), name)
  }

  /// Puts back proofs that were read, and have neither an outcome nor a fact: they wait for Apple.
  static func collectProofs(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let proof = try record.decode(Proof.self, type: .proofSubmitted) else { return nil }
    return { change in
      let isProved =
        try change.transaction.exists("SELECT 1 FROM rebuild_proved WHERE proof_id = ?", proof.id)
      guard !isProved, try !ProofOutcomes.isBegun(change.transaction, proof.id) else { return }
      try change.putBack(record, reason: "rebuilt: read, and not decided")
    }
  }
}
