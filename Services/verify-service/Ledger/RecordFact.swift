import Events
import Kafka
import Pipeline
import ServiceRuntime

/// Reads `iap.appstore`: applies each fact to its lineage.
struct RecordFact: RecordHandler {
  private let ledger: Ledger
  private let shard: Shard
  private let newest: NewestNotifications
  private let metrics: Metrics

  init(
    ledger: Ledger, shard: Shard = .only, newest: NewestNotifications, metrics: Metrics
  ) {
    self.shard = shard
    self.ledger = ledger
    self.newest = newest
    self.metrics = metrics
  }

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let fact = try record.decode(AppStoreFact.self, type: .appStoreFact) else { return nil }
    guard shard.owns(record.partition) else {
      // Another shard's: read only for what back-fill must know.
      return { [ledger] change in try ledger.traces?.saw(fact, change) }
    }
    // Signed text of Apple's: its vocabulary bounds the series.
    let counter = metrics.counter(
      "facts_total", "Facts read from the log by where they came from and Apple's type.",
      labels: [
        "source": fact.source.rawValue, "type": fact.notificationType ?? "none",
        "subtype": fact.subtype ?? "none",
      ])
    guard let contents = try FactContents.read(fact) else {
      return { [ledger, newest] change in
        change.count(counter)
        try newest.saw(fact, change)
        try ledger.traces?.saw(fact, change)
      }
    }
    return { [ledger, newest] change in
      change.count(counter)
      try newest.saw(fact, change)
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
