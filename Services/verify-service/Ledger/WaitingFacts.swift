import Events
import Pipeline
import SQLite

/// Facts that wait for their token to become known; later facts of the lineage wait behind them.
enum WaitingFacts {
  static let tables = """
    CREATE TABLE waiting_facts (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      lineage TEXT NOT NULL,
      token TEXT NOT NULL,
      fact BLOB NOT NULL,
      due_at INTEGER NOT NULL
    );
    CREATE INDEX waiting_facts_by_lineage ON waiting_facts (lineage);
    CREATE INDEX waiting_facts_by_token ON waiting_facts (token);
    CREATE INDEX waiting_facts_by_due ON waiting_facts (due_at);
    """

  static func isWaiting(_ transaction: Transaction, _ lineage: LineageID) throws -> Bool {
    try transaction.exists(
      "SELECT 1 FROM waiting_facts WHERE lineage = ? LIMIT 1", lineage.description)
  }

  static func insert(_ change: Change, _ fact: FactContents, dueAt: Int64) throws {
    try change.transaction.run(
      "INSERT INTO waiting_facts (lineage, token, fact, due_at) VALUES (?, ?, ?, ?)",
      fact.lineage.description, fact.token ?? "", try EventJSON.encode(fact), dueAt)
    change.timersAreDue(at: dueAt)
  }

  static func facts(_ transaction: Transaction, _ lineage: LineageID) throws
    -> [(id: Int64, dueAt: Int64, fact: FactContents)]
  {
    try transaction.query(
      "SELECT id, due_at, fact FROM waiting_facts WHERE lineage = ? ORDER BY id",
      lineage.description
    ) { row in
      (row.int(0), row.int(1), try EventJSON.decode(FactContents.self, from: row.blob(2)))
    }
  }

  static func lineages(_ transaction: Transaction, token: String) throws -> [LineageID] {
    try transaction.query(
      "SELECT DISTINCT lineage FROM waiting_facts WHERE token = ? ORDER BY lineage", token
    ) { row in LineageID(row.text(0)) }.compactMap { $0 }
  }

  static func remove(_ transaction: Transaction, id: Int64) throws {
    try transaction.run("DELETE FROM waiting_facts WHERE id = ?", id)
  }
}

/// Lets facts wait no longer: their token did not become known in time.
struct StopWaiting: TimerJob {
  let name = "stop-waiting"
  let inputs: Set<Topic> = [.customers]
  let ledger: Ledger

  func nextDue(_ reader: Reader) throws -> Int64? {
    try reader.first("SELECT due_at FROM waiting_facts ORDER BY due_at LIMIT 1") { $0.int(0) }
  }

  func fire(_ change: Change, dueBy: Int64, limit: Int) throws -> Int {
    let lineages = try change.transaction.query(
      """
      SELECT DISTINCT lineage FROM (
        SELECT lineage FROM waiting_facts WHERE due_at <= ? ORDER BY due_at LIMIT ?)
      """, dueBy, Int64(limit)
    ) { row in LineageID(row.text(0)) }.compactMap { $0 }
    for lineage in lineages { try ledger.release(lineage, change, dueBy: dueBy) }
    return lineages.count
  }
}
