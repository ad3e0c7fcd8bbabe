import Events
import Pipeline
import SQLite

/// The tables of the ledger.
enum LineageStore {
  static let migrations = [
    Migration(
      version: 1,
      PipelineTables.version1 + """
        ;
        CREATE TABLE lineages (
          lineage TEXT PRIMARY KEY,
          owner TEXT NOT NULL,
          revision INTEGER NOT NULL,
          moved_signed_date INTEGER,
          token TEXT,
          is_provisional INTEGER NOT NULL,
          state BLOB NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX provisional_lineages_by_token ON lineages (token) WHERE is_provisional = 1;
        CREATE TABLE tokens (
          token TEXT PRIMARY KEY,
          customer TEXT NOT NULL,
          issued_at INTEGER NOT NULL
        ) WITHOUT ROWID;
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
        CREATE TABLE proof_outcomes (
          proof_id TEXT PRIMARY KEY,
          outcome BLOB NOT NULL
        ) WITHOUT ROWID;
        """)
  ]

  static func lineage(_ transaction: Transaction, _ id: LineageID) throws -> Lineage? {
    let row = try transaction.first(
      "SELECT owner, revision, moved_signed_date, state FROM lineages WHERE lineage = ?",
      id.description
    ) { row in (row.text(0), row.int(1), row.optionalInt(2), row.blob(3)) }
    guard let row else { return nil }
    let state = try EventJSON.decode(LineageState.self, from: row.3)
    var lineage = Lineage(id)
    lineage.owner = row.0
    lineage.revision = row.1
    lineage.movedSignedDate = row.2
    lineage.transactions = state.transactions
    lineage.renewal = state.renewal
    lineage.status = state.status
    lineage.statusDate = state.statusDate
    return lineage
  }

  /// Writes a lineage with its owner and the state that is published to the owner.
  ///
  /// - Parameter encoded: The state as JSON, which is published too.
  static func save(
    _ transaction: Transaction, _ lineage: Lineage, _ state: LineageState, encoded: [UInt8]
  ) throws {
    try transaction.run(
      """
      INSERT INTO lineages
        (lineage, owner, revision, moved_signed_date, token, is_provisional, state)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (lineage) DO UPDATE SET owner = excluded.owner, revision = excluded.revision,
        moved_signed_date = excluded.moved_signed_date, token = excluded.token,
        is_provisional = excluded.is_provisional, state = excluded.state
      """, lineage.id.description, state.customer, lineage.revision, lineage.movedSignedDate,
      lineage.token, Customer.isProvisional(state.customer), encoded)
  }

  static func provisionalLineages(_ transaction: Transaction, token: String) throws -> [LineageID] {
    try transaction.query(
      "SELECT lineage FROM lineages WHERE token = ? AND is_provisional = 1 ORDER BY lineage", token
    ) { row in LineageID(row.text(0)) }.compactMap { $0 }
  }
}

/// Whose tokens are.
enum Tokens {
  static func customer(_ transaction: Transaction, of token: String) throws -> String? {
    try transaction.first("SELECT customer FROM tokens WHERE token = ?", token) { $0.text(0) }
  }

  /// Records a token; the first customer keeps it, as a token is given out once.
  static func insert(_ transaction: Transaction, _ issued: TokenIssued) throws {
    try transaction.run(
      """
      INSERT INTO tokens (token, customer, issued_at) VALUES (?, ?, ?)
      ON CONFLICT (token) DO NOTHING
      """, issued.token, issued.customer, issued.issuedAt)
  }
}
