/// The tables that every store of a service has; a service's first migration begins with them.
public enum PipelineTables {
  /// SQL that makes the tables.
  ///
  /// - `outbox`: records to be published, in order; a row goes when the broker has its record.
  /// - `input_positions`: the next offset to read of each partition, moved with the state.
  /// - `audit`: what callers wrote over HTTP, in order; see `AuditLog`.
  /// - `waiting_records`: records of a key whose handler failed, in order behind the failed one.
  public static let version1 = """
    CREATE TABLE outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      topic TEXT NOT NULL,
      key BLOB,
      value BLOB,
      headers BLOB NOT NULL,
      timestamp INTEGER NOT NULL
    );
    CREATE TABLE input_positions (
      topic TEXT NOT NULL,
      partition INTEGER NOT NULL,
      next_offset INTEGER NOT NULL,
      PRIMARY KEY (topic, partition)
    ) WITHOUT ROWID;
    CREATE TABLE audit (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,
      caller TEXT NOT NULL,
      action TEXT NOT NULL,
      path TEXT NOT NULL,
      event TEXT,
      subject TEXT,
      customer TEXT,
      request_id TEXT NOT NULL
    );
    CREATE INDEX audit_by_customer ON audit (customer, id) WHERE customer IS NOT NULL;
    CREATE TABLE waiting_records (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      topic TEXT NOT NULL,
      partition INTEGER NOT NULL,
      record_offset INTEGER NOT NULL,
      timestamp INTEGER NOT NULL,
      key BLOB,
      value BLOB,
      headers BLOB NOT NULL,
      reason TEXT NOT NULL
    );
    CREATE INDEX waiting_records_by_key ON waiting_records (topic, key);
    """
}
