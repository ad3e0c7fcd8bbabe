import Events
import Pipeline
import SQLite

/// The tables of order-service.
enum OrderTables {
  static let migrations = [
    Migration(
      version: 1,
      ([PipelineTables.version1, orders, proofs, customers, SubscriptionHistory.table]).joined(
        separator: ";\n"))
  ]

  /// States in which an order still waits for its purchase, as SQL; the indexes below name them too.
  static let open = "('created', 'submitted', 'rejected', 'pending')"
  /// States that end when the time of an order runs out.
  static let expiringStates: Set<OrderState> = [.created, .rejected, .pending]
  /// The same as SQL.
  static let expiring = "('created', 'rejected', 'pending')"

  private static let orders = """
    CREATE TABLE orders (
      id TEXT PRIMARY KEY,
      customer TEXT NOT NULL,
      product_id TEXT NOT NULL,
      state TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      transaction_id TEXT,
      mismatch INTEGER NOT NULL DEFAULT 0,
      body BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX orders_by_customer ON orders (customer, created_at, id);
    CREATE INDEX orders_by_state ON orders (state, created_at, id);
    CREATE INDEX orders_by_time ON orders (created_at, id);
    CREATE INDEX orders_by_expiry ON orders (expires_at)
      WHERE state IN ('created', 'rejected', 'pending');
    CREATE INDEX orders_by_transaction ON orders (transaction_id, mismatch)
      WHERE transaction_id IS NOT NULL;
    CREATE TABLE order_moves (
      order_id TEXT NOT NULL,
      revision INTEGER NOT NULL,
      state TEXT NOT NULL,
      cause TEXT NOT NULL,
      moved_at INTEGER NOT NULL,
      transaction_id TEXT,
      rejection TEXT,
      mismatched INTEGER NOT NULL,
      PRIMARY KEY (order_id, revision)
    ) WITHOUT ROWID;
    CREATE TABLE idempotency_keys (
      principal TEXT NOT NULL,
      key TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      made_id TEXT NOT NULL,
      used_at INTEGER NOT NULL,
      PRIMARY KEY (principal, key)
    ) WITHOUT ROWID;
    CREATE INDEX idempotency_keys_by_time ON idempotency_keys (used_at)
    """

  private static let proofs = """
    CREATE TABLE proofs (
      id TEXT PRIMARY KEY,
      order_id TEXT,
      customer TEXT,
      submitted_at INTEGER NOT NULL,
      outcome BLOB
    ) WITHOUT ROWID;
    CREATE INDEX proofs_by_order ON proofs (order_id) WHERE order_id IS NOT NULL;
    CREATE INDEX proofs_by_customer ON proofs (customer) WHERE customer IS NOT NULL;
    CREATE TABLE proof_parts (
      proof_id TEXT NOT NULL,
      part INTEGER NOT NULL,
      outcome BLOB NOT NULL,
      PRIMARY KEY (proof_id, part)
    ) WITHOUT ROWID;
    CREATE TABLE restores (
      id TEXT PRIMARY KEY,
      customer TEXT NOT NULL,
      body BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX restores_by_customer ON restores (customer)
    """

  private static let customers = """
    CREATE TABLE account_tokens (
      token TEXT PRIMARY KEY,
      customer TEXT NOT NULL,
      bundle_id TEXT NOT NULL,
      issued_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX account_tokens_by_customer ON account_tokens (customer, bundle_id, issued_at);
    CREATE TABLE merges (
      customer TEXT PRIMARY KEY,
      merged_into TEXT NOT NULL,
      is_moving INTEGER NOT NULL DEFAULT 0,
      body BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX merges_by_target ON merges (merged_into);
    CREATE INDEX merges_moving ON merges (is_moving) WHERE is_moving = 1;
    CREATE TABLE transfers (
      id TEXT PRIMARY KEY,
      body BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE erased_customers (
      hash TEXT PRIMARY KEY,
      erasure_id TEXT NOT NULL,
      erased_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """
}
