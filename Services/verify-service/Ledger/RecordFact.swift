import Events
import Kafka
import Pipeline
import ServiceRuntime

/// Reads `iap.appstore`: applies each fact to its lineage.
struct RecordFact: RecordHandler {
  private let ledger: Ledger
  private let shard: Shard
  private let metrics: Metrics

  init(ledger: Ledger, shard: Shard = .only, metrics: Metrics) {
    self.shard = shard
    self.ledger = ledger
    self.metrics = metrics
  }

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let fact = try record.decode(AppStoreFact.self, type: .appStoreFact) else { return nil }
    guard shard.owns(record.partition) else {
      // Another shard's: read only for what back-fill must know.
      return { [ledger] change in try ledger.traces?.saw(fact, change) }
    }
    if let type = fact.notificationType {
      metrics.counter(
        "facts_by_notification_type_total", "Recorded notifications by Apple's type.",
        labels: ["type": type, "subtype": fact.subtype ?? ""]
      ).add()
    }
    guard let contents = try FactContents.read(fact) else {
      return { [ledger] change in try ledger.traces?.saw(fact, change) }
    }
    return { [ledger] change in
      try ledger.traces?.saw(fact, change)
      // The same proof read again changes nothing and has its outcome already.
      if let proof = contents.proof,
        try ProofOutcomes.isDecided(change.transaction, proof.id, part: proof.part)
      {
        return
      }
      try ledger.record(contents, change)
    }
  }
}
