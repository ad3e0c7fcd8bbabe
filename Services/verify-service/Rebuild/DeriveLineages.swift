import Events
import Kafka
import Pipeline
import SQLite

/// Merges the facts of every lineage again, and tells where the state that was published is another.
///
/// Whose a lineage is was decided once and is taken as it was.
enum DeriveLineages {
  /// A lineage whose state would be another.
  private struct Finding: Encodable {
    let customer: String
    let environment: String
    let type = EventType.lineageChanged.rawValue
    let at: Int64
    let lineage: String
    let toldState: LineageState
    let derivedState: LineageState
  }

  /// Takes in a record of `iap.appstore`, if its lineage was published.
  static func collect(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let fact = try record.decode(AppStoreFact.self, type: .appStoreFact),
      let name = fact.lineage
    else { return nil }
    return { change in
      let isThere =
        try change.transaction.exists("SELECT 1 FROM lineages WHERE lineage = ?", name)
      guard isThere, let contents = try? FactContents.read(fact) else { return }
      try change.transaction.run(
        "INSERT INTO rebuild_derived (lineage) VALUES (?) ON CONFLICT DO NOTHING", name)
      try FoldFacts.merge(contents, of: name, into: "rebuild_derived", change)
    }
  }

  /// Compares the next lineages; gives where the next job begins, nil at the end.
  static func compare(_ change: Change, after cursor: String) throws -> String? {
    let rows = try change.transaction.query(
      """
      SELECT lineage, lineages.state, derived.state FROM lineages
        JOIN rebuild_derived AS derived USING (lineage)
      WHERE lineage > ? ORDER BY lineage LIMIT 200
      """, cursor
    ) { (name: $0.text(0), told: $0.blob(1), derived: $0.optionalBlob(2)) }
    for (name, encoded, other) in rows {
      guard let other else { continue }
      let told = try EventJSON.decode(LineageState.self, from: encoded)
      let facts = try EventJSON.decode(LineageState.self, from: other)
      var derived = told
      derived.transactions = facts.transactions
      derived.renewal = facts.renewal
      derived.status = facts.status
      derived.statusDate = facts.statusDate
      derived.xcodeCertificate = facts.xcodeCertificate
      guard derived != told else { continue }
      try Rebuild.find(
        Finding(
          customer: told.customer, environment: told.lineage.environment, at: told.decidedAt,
          lineage: name, toldState: told, derivedState: derived), change)
    }
    return rows.last?.name
  }
}
