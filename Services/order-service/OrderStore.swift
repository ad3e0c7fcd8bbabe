import Events
import HTTPServer
import Pipeline
import SQLite

/// The tables of order-service.
enum OrderStore {
  static let migrations = [
    Migration(
      version: 1,
      PipelineTables.version1 + ";" + SubscriptionHistory.table + """
        CREATE TABLE orders (
          id TEXT PRIMARY KEY,
          customer TEXT NOT NULL,
          state TEXT NOT NULL,
          expires_at INTEGER NOT NULL,
          transaction_id TEXT,
          body BLOB NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX orders_by_expiry ON orders (expires_at)
          WHERE state IN ('created', 'submitted', 'rejected', 'pending');
        CREATE INDEX orders_by_transaction ON orders (transaction_id)
          WHERE transaction_id IS NOT NULL;
        CREATE TABLE proofs (
          id TEXT PRIMARY KEY,
          order_id TEXT NOT NULL,
          submitted_at INTEGER NOT NULL,
          outcome BLOB
        ) WITHOUT ROWID;
        CREATE INDEX proofs_by_order ON proofs (order_id);
        CREATE TABLE idempotency_keys (
          principal TEXT NOT NULL,
          key TEXT NOT NULL,
          request_hash TEXT NOT NULL,
          order_id TEXT NOT NULL,
          used_at INTEGER NOT NULL,
          PRIMARY KEY (principal, key)
        ) WITHOUT ROWID;
        CREATE INDEX idempotency_keys_by_time ON idempotency_keys (used_at);
        """)
  ]

  static func order(_ transaction: Transaction, _ id: String) throws -> Order? {
    try transaction.first("SELECT body FROM orders WHERE id = ?", id) { row in
      try EventJSON.decode(Order.self, from: row.blob(0))
    }
  }

  static func order(_ reader: Reader, _ id: String) throws -> Order? {
    try reader.first("SELECT body FROM orders WHERE id = ?", id) { row in
      try EventJSON.decode(Order.self, from: row.blob(0))
    }
  }

  /// Whether a transaction has completed another order already.
  static func hasCompletedAnother(
    _ transaction: Transaction, _ transactionId: String, than id: String
  ) throws -> Bool {
    try transaction.first(
      "SELECT 1 FROM orders WHERE transaction_id = ? AND id <> ? LIMIT 1", transactionId, id
    ) { _ in true } ?? false
  }

  /// Writes an order and publishes it: a move and its event are one.
  static func save(_ change: Change, _ order: Order, traceparent: String? = nil) throws {
    let body = try EventJSON.encode(order)
    try change.transaction.run(
      """
      INSERT INTO orders (id, customer, state, expires_at, transaction_id, body)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET state = excluded.state, expires_at = excluded.expires_at,
        transaction_id = excluded.transaction_id, body = excluded.body
      """, order.id, order.customer, order.state.rawValue, order.expiresAt, order.transactionId,
      body)
    try change.publish(
      .orders, key: order.customer, type: .orderChanged, subject: order.id,
      revision: order.revision, encoded: body, traceparent: traceparent)
    change.rescheduleTimers()
  }
}

extension Order {
  /// Moves the order: the next revision, a state, a time and a cause.
  mutating func move(to state: OrderState, cause: String, at now: Int64) {
    self.state = state
    self.cause = cause
    updatedAt = now
    revision += 1
  }
}

/// The proofs that were posted, and what became of them.
enum ProofStore {
  /// No order takes more proofs than this.
  static let limitPerOrder: Int64 = 50

  struct Row: Sendable {
    let orderId: String
    let outcome: ProofOutcome?
  }

  static func proof(_ transaction: Transaction, _ id: String) throws -> Row? {
    try transaction.first("SELECT order_id, outcome FROM proofs WHERE id = ?", id) { row in
      try Row(row)
    }
  }

  static func proof(_ reader: Reader, _ id: String) throws -> Row? {
    try reader.first("SELECT order_id, outcome FROM proofs WHERE id = ?", id) { row in
      try Row(row)
    }
  }

  static func count(_ transaction: Transaction, order: String) throws -> Int64 {
    try transaction.first("SELECT COUNT(*) FROM proofs WHERE order_id = ?", order) { $0.int(0) }
      ?? 0
  }

  static func insert(_ transaction: Transaction, _ proof: Proof) throws {
    try transaction.run(
      "INSERT INTO proofs (id, order_id, submitted_at) VALUES (?, ?, ?)", proof.id,
      proof.orderId, proof.submittedAt)
  }

  static func setOutcome(_ transaction: Transaction, _ outcome: ProofOutcome) throws {
    try transaction.run(
      "UPDATE proofs SET outcome = ? WHERE id = ? AND outcome IS NULL",
      try EventJSON.encode(outcome), outcome.proofId)
  }
}

extension ProofStore.Row {
  init(_ row: borrowing Row) throws {
    orderId = row.text(0)
    outcome = try row.optionalBlob(1).map { try EventJSON.decode(ProofOutcome.self, from: $0) }
  }
}

/// Keys by which a repeated request is told from a new one.
enum IdempotencyKeys {
  /// How long a key is remembered: longer than any client retries.
  static let lifetime: Int64 = 7 * 24 * 3600 * 1000

  struct Use: Sendable {
    let requestHash: String
    let orderId: String
  }

  static func use(_ transaction: Transaction, principal: String, key: String) throws -> Use? {
    try transaction.first(
      "SELECT request_hash, order_id FROM idempotency_keys WHERE principal = ? AND key = ?",
      principal, key
    ) { row in Use(requestHash: row.text(0), orderId: row.text(1)) }
  }

  static func insert(
    _ transaction: Transaction, principal: String, key: String, _ use: Use, at now: Int64
  ) throws {
    try transaction.run(
      """
      INSERT INTO idempotency_keys (principal, key, request_hash, order_id, used_at)
      VALUES (?, ?, ?, ?, ?)
      """, principal, key, use.requestHash, use.orderId, now)
  }

  static func removeOld(_ transaction: Transaction, at now: Int64, limit: Int) throws {
    try transaction.run(
      """
      DELETE FROM idempotency_keys WHERE (principal, key) IN (
        SELECT principal, key FROM idempotency_keys WHERE used_at < ? LIMIT ?)
      """, now - lifetime, Int64(limit))
  }
}
