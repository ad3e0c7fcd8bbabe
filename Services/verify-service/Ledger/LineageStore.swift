import Events
import Pipeline
import SQLite

/// The tables of the ledger.
enum LineageStore {
  static let migrations = [
    Migration(
      version: 1,
      [
        PipelineTables.version1, tables, Tokens.tables, Customers.tables, Transfers.tables,
        WaitingFacts.tables, ProofOutcomes.tables, ConsumptionRequests.tables, PendingProofs.tables,
        AppleTables.version1, NewestNotifications.tables,
      ].map { $0.hasSuffix(";") ? $0 : $0 + ";" }.joined(separator: "\n"))
  ]

  private static let tables = """
    CREATE TABLE lineages (
      lineage TEXT PRIMARY KEY,
      owner TEXT NOT NULL,
      revision INTEGER NOT NULL,
      moved_signed_date INTEGER,
      state BLOB NOT NULL,
      memory BLOB
    ) WITHOUT ROWID;
    CREATE INDEX lineages_by_owner ON lineages (owner);
    CREATE TABLE lineage_sharers (
      customer TEXT NOT NULL,
      lineage TEXT NOT NULL,
      PRIMARY KEY (customer, lineage)
    ) WITHOUT ROWID;
    CREATE TABLE provisional_tokens (
      token TEXT NOT NULL,
      lineage TEXT NOT NULL,
      PRIMARY KEY (token, lineage)
    ) WITHOUT ROWID;
    CREATE INDEX provisional_tokens_by_lineage ON provisional_tokens (lineage);
    """

  /// What the ledger knows beyond the published state; absent for most lineages.
  private struct Memory: Codable {
    var sharers: [String] = []
    var covered: [Copies<LineageTransaction>] = []
    var coveredRenewal: Copies<LineageRenewal>?

    var isEmpty: Bool { sharers.isEmpty && covered.isEmpty && coveredRenewal == nil }
  }

  static func lineage(_ transaction: Transaction, _ id: LineageID) throws -> Lineage? {
    let row = try transaction.first(
      "SELECT moved_signed_date, state, memory FROM lineages WHERE lineage = ?",
      id.description
    ) { row in (row.optionalInt(0), row.blob(1), row.optionalBlob(2)) }
    guard let row else { return nil }
    var lineage = try lineage(state: row.1, memory: row.2)
    lineage.movedSignedDate = row.0
    return lineage
  }

  /// A lineage as it stands in a row.
  static func lineage(state: [UInt8], memory: [UInt8]?) throws -> Lineage {
    let memory = try memory.map { try EventJSON.decode(Memory.self, from: $0) } ?? Memory()
    var lineage = Lineage(
      try EventJSON.decode(LineageState.self, from: state), covered: memory.covered,
      coveredRenewal: memory.coveredRenewal)
    lineage.sharers = memory.sharers
    return lineage
  }

  /// What is known of a lineage beyond its state; nil for most.
  static func memory(of lineage: Lineage) throws -> [UInt8]? {
    let memory = Memory(
      sharers: lineage.sharers,
      covered: lineage.covered.sorted { $0.key < $1.key }.map(\.value),
      coveredRenewal: lineage.coveredRenewal)
    return memory.isEmpty ? nil : try EventJSON.encode(memory)
  }

  /// Writes a lineage with the state that is published to its owner.
  ///
  /// - Parameter encoded: The state as JSON, which is published too.
  static func save(
    _ transaction: Transaction, _ lineage: Lineage, owner: String, before: Lineage,
    encoded: [UInt8]
  ) throws {
    let name = lineage.id.description
    try transaction.run(
      """
      INSERT INTO lineages (lineage, owner, revision, moved_signed_date, state, memory)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (lineage) DO UPDATE SET owner = excluded.owner, revision = excluded.revision,
        moved_signed_date = excluded.moved_signed_date, state = excluded.state,
        memory = excluded.memory
      """, name, owner, lineage.revision, lineage.movedSignedDate, encoded,
      try memory(of: lineage))
    for customer in before.sharers where !lineage.sharers.contains(same: customer) {
      try transaction.run(
        "DELETE FROM lineage_sharers WHERE customer = ? AND lineage = ?", customer, name)
    }
    for customer in lineage.sharers where !before.sharers.contains(same: customer) {
      try transaction.run(
        "INSERT OR IGNORE INTO lineage_sharers (customer, lineage) VALUES (?, ?)", customer, name)
    }
    if Customer.isProvisional(owner) {
      for token in lineage.tokens {
        try transaction.run(
          "INSERT OR IGNORE INTO provisional_tokens (token, lineage) VALUES (?, ?)", token, name)
      }
    } else if before.owner.map(Customer.isProvisional) ?? false {
      try transaction.run("DELETE FROM provisional_tokens WHERE lineage = ?", name)
    }
  }

  /// The provisional lineages that bear a token.
  static func provisional(_ transaction: Transaction, token: String) throws -> [LineageID] {
    try transaction.query(
      "SELECT lineage FROM provisional_tokens WHERE token = ? ORDER BY lineage", token
    ) { row in LineageID(row.text(0)) }.compactMap { $0 }
  }

  /// The lineages that a customer owns or shares.
  static func lineages(_ transaction: Transaction, of customer: String) throws -> [LineageID] {
    try transaction.query(
      """
      SELECT lineage FROM lineages WHERE owner = ?1
      UNION SELECT lineage FROM lineage_sharers WHERE customer = ?1 ORDER BY lineage
      """, customer
    ) { row in LineageID(row.text(0)) }.compactMap { $0 }
  }
}

extension [String] {
  /// Whether it holds a customer, compared by bytes.
  func contains(same customer: String) -> Bool {
    contains { Customer.isSame($0, customer) }
  }
}

/// Requests of Apple for consumption information, each told on once however often it comes.
enum ConsumptionRequests {
  static let tables = """
    CREATE TABLE consumption_requests (
      id TEXT PRIMARY KEY,
      lineage TEXT NOT NULL
    ) WITHOUT ROWID;
    """

  /// Records a request; false when it is known, or the fact is none.
  static func insert(_ transaction: Transaction, _ fact: FactContents) throws -> Bool {
    guard fact.isConsumptionRequest, let id = fact.notificationUUID ?? fact.cause.fact else {
      return false
    }
    return try transaction.run(
      "INSERT OR IGNORE INTO consumption_requests (id, lineage) VALUES (?, ?)", id,
      fact.lineage.description) > 0
  }
}
