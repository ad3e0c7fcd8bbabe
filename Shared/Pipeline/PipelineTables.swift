/// The tables that every store of a service has; a service's first migration begins with them.
public enum PipelineTables {
  /// SQL that makes the tables.
  ///
  /// - `outbox`: records to be published, in order; a row goes when the broker has its record.
  /// - `input_positions`: the next offset to read of each partition, moved with the state.
  /// - `audit`: what callers wrote over HTTP, in order; see `AuditLog`.
  /// - `shard`: which shard the store is, once; see `ShardOfStore`.
  /// - `elsewhere`: what is asked for here and lies on another shard, since a re-shard; see `Elsewhere`.
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
    CREATE TABLE shard (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      ordinal INTEGER NOT NULL,
      count INTEGER NOT NULL,
      partitions INTEGER NOT NULL
    );
    CREATE TABLE elsewhere (
      what TEXT PRIMARY KEY,
      partition INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX waiting_records_by_key ON waiting_records (topic, key);
    """
}
