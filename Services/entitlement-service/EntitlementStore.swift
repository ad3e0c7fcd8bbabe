import Pipeline
import SQLite

/// The tables of entitlement-service.
enum EntitlementStore {
  static let migrations = [
    Migration(
      version: 1,
      PipelineTables.version1 + customers + balances + refunds + webhooks)
  ]

  /// Customers, what they have, and what was told of them.
  private static let customers = """
    ;
    CREATE TABLE customers (
      customer TEXT PRIMARY KEY,
      version INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      evaluated_at INTEGER NOT NULL,
      due_at INTEGER,
      merged_into TEXT
    ) WITHOUT ROWID;
    CREATE TABLE erased_customers (
      hash TEXT PRIMARY KEY,
      version INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      evaluated_at INTEGER NOT NULL,
      erased_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX customers_by_due ON customers (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX customers_by_merge ON customers (merged_into) WHERE merged_into IS NOT NULL;
    CREATE TABLE purchases (
      customer TEXT NOT NULL,
      lineage TEXT NOT NULL,
      revision INTEGER NOT NULL,
      is_held INTEGER NOT NULL,
      gives_rights INTEGER NOT NULL,
      state BLOB NOT NULL,
      sightings BLOB,
      unsettled BLOB,
      PRIMARY KEY (customer, lineage)
    ) WITHOUT ROWID;
    CREATE INDEX purchases_unsettled ON purchases (lineage, customer) WHERE unsettled IS NOT NULL;
    CREATE TABLE grants (
      customer TEXT NOT NULL,
      id TEXT NOT NULL,
      is_removed INTEGER NOT NULL,
      body BLOB NOT NULL,
      PRIMARY KEY (customer, id)
    ) WITHOUT ROWID;
    CREATE TABLE entitlements (
      customer TEXT NOT NULL,
      environment TEXT NOT NULL,
      name TEXT NOT NULL,
      is_active INTEGER NOT NULL,
      body BLOB NOT NULL,
      PRIMARY KEY (customer, environment, name)
    ) WITHOUT ROWID;
    CREATE INDEX entitlements_by_right ON entitlements (name, environment, customer)
      WHERE is_active = 1;
    CREATE TABLE timeline (
      customer TEXT NOT NULL,
      version INTEGER NOT NULL,
      type TEXT NOT NULL,
      at INTEGER NOT NULL,
      event BLOB NOT NULL,
      PRIMARY KEY (customer, version)
    ) WITHOUT ROWID;
    CREATE TABLE sweeps (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      applied TEXT,
      wanted TEXT,
      cursor TEXT NOT NULL
    );
    """

  /// The ledger of balances.
  private static let balances = """
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
      kind TEXT NOT NULL,
      amount INTEGER NOT NULL,
      intended INTEGER NOT NULL,
      shortfall INTEGER NOT NULL,
      expires_at INTEGER,
      lineage TEXT,
      transaction_id TEXT,
      line_item TEXT,
      spend_id TEXT,
      author TEXT,
      reason TEXT,
      at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX balance_entries_by_time ON balance_entries (customer, at, id);
    CREATE INDEX balance_entries_by_transaction
      ON balance_entries (lineage, transaction_id, customer, unit) WHERE lineage IS NOT NULL;
    CREATE TABLE balance_lots (
      entry_id TEXT PRIMARY KEY,
      customer TEXT NOT NULL,
      environment TEXT NOT NULL,
      unit TEXT NOT NULL,
      remaining INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      lineage TEXT,
      transaction_id TEXT
    ) WITHOUT ROWID;
    CREATE INDEX balance_lots_by_expiry
      ON balance_lots (customer, environment, unit, expires_at);
    CREATE TABLE spends (
      id TEXT PRIMARY KEY,
      customer TEXT NOT NULL,
      body BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX spends_by_customer ON spends (customer);
    CREATE TABLE credited_before (
      lineage TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      PRIMARY KEY (lineage, transaction_id)
    ) WITHOUT ROWID;
    """

  /// What Apple's refund requests are answered from.
  private static let refunds = """
    CREATE TABLE refund_settings (
      customer TEXT PRIMARY KEY,
      body BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE refund_requests (
      customer TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      request TEXT NOT NULL,
      requested_at INTEGER NOT NULL,
      PRIMARY KEY (customer, transaction_id)
    ) WITHOUT ROWID;
    """

  /// Endpoints of teams without Kafka, the events of the last weeks, and what is to be delivered.
  private static let webhooks = """
    CREATE TABLE webhook_endpoints (
      id TEXT PRIMARY KEY,
      body BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE webhook_events (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      event_id TEXT NOT NULL,
      type TEXT NOT NULL,
      customer TEXT NOT NULL,
      environment TEXT,
      bundle_id TEXT,
      at INTEGER NOT NULL,
      body BLOB NOT NULL
    );
    CREATE INDEX webhook_events_by_time ON webhook_events (at);
    CREATE INDEX webhook_events_by_id ON webhook_events (event_id);
    CREATE INDEX webhook_events_by_customer ON webhook_events (customer);
    CREATE TABLE webhook_deliveries (
      endpoint TEXT NOT NULL,
      id INTEGER NOT NULL,
      customer TEXT NOT NULL,
      state TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      queued_at INTEGER NOT NULL,
      next_attempt_at INTEGER NOT NULL,
      last_attempt_at INTEGER,
      last_status INTEGER,
      last_error TEXT,
      PRIMARY KEY (endpoint, id)
    ) WITHOUT ROWID;
    CREATE INDEX webhook_deliveries_by_customer
      ON webhook_deliveries (endpoint, customer, id) WHERE state = 'pending';
    CREATE INDEX webhook_deliveries_by_time
      ON webhook_deliveries (endpoint, next_attempt_at) WHERE state = 'pending';
    """
}
