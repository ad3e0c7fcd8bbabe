import Events
import Pipeline
import SQLite

/// The tables of entitlement-service.
enum EntitlementStore {
  static let migrations = [
    Migration(
      version: 1,
      PipelineTables.version1 + """
        ;
        CREATE TABLE customers (
          customer TEXT PRIMARY KEY,
          version INTEGER NOT NULL,
          updated_at INTEGER NOT NULL,
          evaluated_at INTEGER NOT NULL,
          due_at INTEGER
        ) WITHOUT ROWID;
        CREATE INDEX customers_by_due ON customers (due_at) WHERE due_at IS NOT NULL;
        CREATE TABLE purchases (
          customer TEXT NOT NULL,
          lineage TEXT NOT NULL,
          revision INTEGER NOT NULL,
          is_held INTEGER NOT NULL,
          gives_rights INTEGER NOT NULL,
          state BLOB NOT NULL,
          PRIMARY KEY (customer, lineage)
        ) WITHOUT ROWID;
        CREATE TABLE entitlements (
          customer TEXT NOT NULL,
          environment TEXT NOT NULL,
          name TEXT NOT NULL,
          is_active INTEGER NOT NULL,
          body BLOB NOT NULL,
          PRIMARY KEY (customer, environment, name)
        ) WITHOUT ROWID;
        CREATE TABLE balances (
          customer TEXT NOT NULL,
          environment TEXT NOT NULL,
          unit TEXT NOT NULL,
          amount INTEGER NOT NULL,
          PRIMARY KEY (customer, environment, unit)
        ) WITHOUT ROWID;
        CREATE TABLE balance_entries (
          id TEXT PRIMARY KEY,
          customer TEXT NOT NULL,
          environment TEXT NOT NULL,
          unit TEXT NOT NULL,
          amount INTEGER NOT NULL,
          shortfall INTEGER NOT NULL,
          kind TEXT NOT NULL,
          lineage TEXT NOT NULL,
          transaction_id TEXT NOT NULL,
          at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX balance_entries_by_transaction
          ON balance_entries (customer, lineage, transaction_id, unit);
        """)
  ]

  /// The version of a customer's newest event; 0 before the first.
  static func version(_ transaction: Transaction, _ customer: String) throws -> Int64 {
    try transaction.first("SELECT version FROM customers WHERE customer = ?", customer) {
      $0.int(0)
    } ?? 0
  }

  static func saveCustomer(
    _ change: Change, _ customer: String, version: Int64, evaluatedAt: Int64, dueAt: Int64?
  ) throws {
    try change.transaction.run(
      """
      INSERT INTO customers (customer, version, updated_at, evaluated_at, due_at)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (customer) DO UPDATE SET version = excluded.version,
        updated_at = excluded.updated_at, evaluated_at = excluded.evaluated_at,
        due_at = excluded.due_at
      """, customer, version, change.now, evaluatedAt, dueAt)
  }

  /// For which time a customer was computed last, and when that result changes by itself.
  static func evaluation(_ transaction: Transaction, _ customer: String) throws -> Evaluation? {
    try transaction.first(
      "SELECT evaluated_at, due_at FROM customers WHERE customer = ?", customer
    ) { row in Evaluation(at: row.int(0), dueAt: row.optionalInt(1)) }
  }

  struct Evaluation {
    let at: Int64
    let dueAt: Int64?
  }

  /// The revision of a lineage that a customer was told of last; nil when of none.
  static func revision(_ transaction: Transaction, _ state: LineageState) throws -> Int64? {
    try transaction.first(
      "SELECT revision FROM purchases WHERE customer = ? AND lineage = ?", state.customer,
      state.lineage.description
    ) { $0.int(0) }
  }

  /// Writes what a customer was told of a lineage.
  ///
  /// - Parameter encoded: The state as it was read.
  static func savePurchase(
    _ transaction: Transaction, _ state: LineageState, encoded: [UInt8], givesRights: Bool
  ) throws {
    try transaction.run(
      """
      INSERT INTO purchases (customer, lineage, revision, is_held, gives_rights, state)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (customer, lineage) DO UPDATE SET revision = excluded.revision,
        is_held = excluded.is_held, gives_rights = excluded.gives_rights, state = excluded.state
      """, state.customer, state.lineage.description, state.revision, state.holding == .held,
      givesRights, encoded)
  }

  /// The lineages that a customer has and that may give rights.
  static func purchases(_ transaction: Transaction, _ customer: String) throws -> [LineageState] {
    try transaction.query(
      """
      SELECT state FROM purchases WHERE customer = ? AND is_held = 1 AND gives_rights = 1
      ORDER BY lineage
      """, customer
    ) { row in try EventJSON.decode(LineageState.self, from: row.blob(0)) }
  }

  static func entitlements(_ transaction: Transaction, _ customer: String) throws -> [Entitlement] {
    try transaction.query(
      "SELECT body FROM entitlements WHERE customer = ? ORDER BY environment, name", customer
    ) { row in try EventJSON.decode(Entitlement.self, from: row.blob(0)) }
  }

  static func saveEntitlement(
    _ transaction: Transaction, _ customer: String, _ entitlement: Entitlement
  ) throws {
    try transaction.run(
      """
      INSERT INTO entitlements (customer, environment, name, is_active, body)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (customer, environment, name) DO UPDATE SET is_active = excluded.is_active,
        body = excluded.body
      """, customer, entitlement.environment, entitlement.name, entitlement.isActive,
      try EventJSON.encode(entitlement))
  }

  static func balances(_ transaction: Transaction, _ customer: String) throws -> [Balance] {
    try transaction.query(
      "SELECT unit, environment, amount FROM balances WHERE customer = ? ORDER BY environment, unit",
      customer
    ) { row in Balance(unit: row.text(0), environment: row.text(1), amount: row.int(2)) }
  }
}
