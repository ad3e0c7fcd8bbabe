/// The tables of the jobs that ask Apple: their progress, and what they have still to do.
enum AppleTables {
  static let version1 = """
    CREATE TABLE back_fills (
      bundle_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      done_until INTEGER NOT NULL,
      window_start INTEGER,
      window_end INTEGER,
      pagination_token TEXT,
      fetched INTEGER NOT NULL DEFAULT 0,
      recovered INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (bundle_id, environment)
    ) WITHOUT ROWID;
    CREATE TABLE known_notifications (
      uuid TEXT PRIMARY KEY,
      seen_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX known_notifications_by_time ON known_notifications (seen_at);
    CREATE TABLE reconciliations (
      lineage TEXT PRIMARY KEY,
      bundle_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      due_at INTEGER NOT NULL,
      tries INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
    CREATE INDEX reconciliations_by_due ON reconciliations (bundle_id, environment, due_at);
    CREATE TABLE refund_sweeps (
      bundle_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      cursor TEXT,
      finished_at INTEGER,
      asked INTEGER NOT NULL DEFAULT 0,
      recovered INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (bundle_id, environment)
    ) WITHOUT ROWID;
    CREATE TABLE imports (
      id TEXT PRIMARY KEY,
      bundle_id TEXT NOT NULL,
      environment TEXT,
      received INTEGER NOT NULL DEFAULT 0,
      done INTEGER NOT NULL DEFAULT 0,
      failed INTEGER NOT NULL DEFAULT 0,
      recorded INTEGER NOT NULL DEFAULT 0,
      is_complete INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE import_items (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      import_id TEXT,
      line INTEGER,
      kind TEXT NOT NULL,
      bundle_id TEXT NOT NULL,
      environment TEXT,
      value TEXT NOT NULL,
      tries INTEGER NOT NULL DEFAULT 0,
      next_at INTEGER NOT NULL
    );
    CREATE INDEX import_items_by_time ON import_items (next_at);
    CREATE INDEX import_items_by_import ON import_items (import_id);
    CREATE UNIQUE INDEX import_items_of_customers ON import_items (bundle_id, environment, value)
      WHERE kind = 'customer';
    CREATE INDEX import_items_of_ids ON import_items (bundle_id, value) WHERE kind = 'id';
    CREATE TABLE import_failures (
      import_id TEXT NOT NULL,
      line INTEGER NOT NULL,
      reason TEXT NOT NULL,
      PRIMARY KEY (import_id, line)
    ) WITHOUT ROWID;
    CREATE TABLE apple_writes (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      bundle_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      what TEXT NOT NULL,
      subject TEXT NOT NULL,
      at INTEGER NOT NULL
    );
    CREATE TABLE consumption_answers (
      request TEXT PRIMARY KEY,
      event BLOB NOT NULL,
      state TEXT NOT NULL,
      tries INTEGER NOT NULL DEFAULT 0,
      next_at INTEGER NOT NULL,
      detail TEXT
    ) WITHOUT ROWID;
    CREATE INDEX consumption_answers_to_send ON consumption_answers (next_at)
      WHERE state = 'waiting';
    """
}
