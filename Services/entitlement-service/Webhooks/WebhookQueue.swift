import Events
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization

/// Lines events up for the endpoints that want them, in the transaction that tells them.
///
/// Of one customer only the oldest event is `pending` at an endpoint; what comes after it stands
/// `behind`, so that the order is kept however often the first is refused.
final class WebhookQueue: Sendable {
  /// As many deliveries wait for one endpoint at most; what comes then is left out, and can be resent.
  static let limit = 100_000
  /// How long events are kept for resending.
  static let retention: Int64 = 30 * 24 * 3600 * 1000

  private struct State {
    var endpoints: [String: WebhookEndpoint] = [:]
    var waiting: [String: Int] = [:]
  }

  private let state = Mutex(State())
  /// Signalled after each commit that brought something to deliver.
  let bell = Waiters<Int>(limit: 4)
  private let queued: Counter
  private let leftOut: Counter
  private let limit: Int

  init(metrics: Metrics, limit: Int = WebhookQueue.limit) {
    self.limit = limit
    queued = metrics.counter("webhook_queued_total", "Deliveries that were lined up.")
    leftOut = metrics.counter(
      "webhook_left_out_total", "Events that were not lined up, as too many wait for the endpoint.")
    metrics.reading("webhook_waiting", "Deliveries that wait, of all endpoints.") { [weak self] in
      self?.state.withLock { $0.waiting.values.reduce(0, +) } ?? 0
    }
    metrics.reading("webhook_endpoints_disabled", "Endpoints that were switched off as dead.") {
      [weak self] in
      self?.state.withLock { $0.endpoints.values.count { $0.disabledAt != nil } } ?? 0
    }
  }

  /// Reads what an earlier process has left.
  func begin(_ reader: Reader) throws {
    let endpoints = try WebhookEndpoint.all(reader)
    let waiting = try reader.query(
      """
      SELECT endpoint, COUNT(*) FROM webhook_deliveries
      WHERE state IN ('pending', 'behind') GROUP BY endpoint
      """
    ) { (endpoint: $0.text(0), count: Int($0.int(1))) }
    state.withLock { state in
      state.endpoints = Dictionary(
        endpoints.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
      state.waiting = Dictionary(
        waiting.map { ($0.endpoint, $0.count) }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// All endpoints, by id.
  var endpoints: [WebhookEndpoint] {
    state.withLock { $0.endpoints.values.sorted { $0.id < $1.id } }
  }

  /// Lines an event up; it is made only where there is an endpoint.
  func add(_ change: Change, _ makeEvent: @autoclosure () -> WebhookEvent) throws {
    let known = state.withLock { state in
      state.endpoints.values.map { ($0, state.waiting[$0.id, default: 0]) }
    }
    guard !known.isEmpty else { return }
    let event = makeEvent()
    let transaction = change.transaction
    try transaction.run(
      """
      INSERT INTO webhook_events (event_id, type, customer, environment, bundle_id, at, body)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, event.id, event.type, event.customer, event.environment, event.bundleId, event.at,
      event.body)
    let id = transaction.lastInsertedRowID
    for (endpoint, waiting) in known where endpoint.isEnabled && endpoint.wants(event) {
      guard waiting < limit else {
        change.count(leftOut)
        if endpoint.leftOutSince == nil {
          var endpoint = endpoint
          endpoint.leftOutSince = change.now
          try save(change, endpoint)
        }
        continue
      }
      try insert(change, endpoint.id, id, event.customer)
    }
  }

  /// Lines one delivery up behind those of the same customer; one that still waits keeps its place, and
  /// is tried anew at once.
  func insert(_ change: Change, _ endpoint: String, _ id: Int64, _ customer: String) throws {
    let bell = bell
    change.transaction.afterCommit(key: "webhooks") { bell.notify(0) }
    let waiting = try change.transaction.run(
      """
      UPDATE webhook_deliveries SET attempts = 0, queued_at = ?3, next_attempt_at = ?3
      WHERE endpoint = ?1 AND id = ?2 AND state IN ('pending', 'behind')
      """, endpoint, id, change.now)
    guard waiting == 0 else { return }
    try change.transaction.run(
      """
      INSERT INTO webhook_deliveries
        (endpoint, id, customer, state, attempts, queued_at, next_attempt_at)
      VALUES (?1, ?2, ?3,
        CASE WHEN EXISTS (
          SELECT 1 FROM webhook_deliveries WHERE endpoint = ?1 AND customer = ?3 AND id <> ?2
            AND state IN ('pending', 'behind'))
        THEN 'behind' ELSE 'pending' END, 0, ?4, ?4)
      ON CONFLICT (endpoint, id) DO UPDATE SET state = excluded.state, attempts = 0,
        queued_at = excluded.queued_at, next_attempt_at = excluded.next_attempt_at
      """, endpoint, id, customer, change.now)
    change.count(queued)
    change.transaction.afterCommit { self.count(endpoint, by: 1) }
  }

  /// Ends a delivery and lets the customer's next one come.
  func end(
    _ change: Change, _ endpoint: String, _ id: Int64, _ customer: String, state: String
  ) throws {
    let ended = try change.transaction.run(
      """
      UPDATE webhook_deliveries SET state = ?
      WHERE endpoint = ? AND id = ? AND state IN ('pending', 'behind')
      """, state, endpoint, id)
    guard ended > 0 else { return }
    try change.transaction.run(
      """
      UPDATE webhook_deliveries SET state = 'pending', next_attempt_at = ?3
      WHERE endpoint = ?1 AND id = (
        SELECT MIN(id) FROM webhook_deliveries WHERE endpoint = ?1 AND customer = ?2
          AND state IN ('pending', 'behind')) AND state = 'behind'
      """, endpoint, customer, change.now)
    // What of an erased customer still had to be delivered goes with the last delivery.
    if try CustomerRow.exactly(change.transaction, customer).erasedAt != nil {
      try Self.forget(change, customer)
    }
    let bell = bell
    change.transaction.afterCommit { self.count(endpoint, by: -1) }
    change.transaction.afterCommit(key: "webhooks") { bell.notify(0) }
  }

  /// Writes an endpoint; it counts from the COMMIT on.
  func save(_ change: Change, _ endpoint: WebhookEndpoint) throws {
    try endpoint.save(change.transaction)
    let bell = bell
    change.transaction.afterCommit {
      self.state.withLock { $0.endpoints[endpoint.id] = endpoint }
      bell.notify(0)
    }
  }

  /// Removes an endpoint and all that waits for it.
  func remove(_ change: Change, _ id: String) throws {
    try change.transaction.run("DELETE FROM webhook_endpoints WHERE id = ?", id)
    try change.transaction.run("DELETE FROM webhook_deliveries WHERE endpoint = ?", id)
    change.transaction.afterCommit {
      self.state.withLock { state in
        state.endpoints[id] = nil
        state.waiting[id] = nil
      }
    }
  }

  /// Forgets what was delivered of an erased customer; what waits is delivered first, the erasure last,
  /// and goes with its delivery.
  static func forget(_ change: Change, _ customer: String) throws {
    let transaction = change.transaction
    let events = "SELECT id FROM webhook_events WHERE customer = ?1"
    for endpoint in try transaction.query("SELECT id FROM webhook_endpoints", map: { $0.text(0) }) {
      try transaction.run(
        """
        DELETE FROM webhook_deliveries WHERE endpoint = ?2 AND id IN (\(events))
          AND state NOT IN ('pending', 'behind')
        """, customer, endpoint)
    }
    try transaction.run(
      """
      DELETE FROM webhook_events WHERE customer = ? AND id NOT IN (
        SELECT id FROM webhook_deliveries WHERE state IN ('pending', 'behind'))
      """, customer)
  }

  /// Removes all deliveries of events that are not kept any more.
  func dropDeliveries(_ change: Change, through last: Int64) throws {
    let waiting = try change.transaction.query(
      """
      SELECT endpoint, COUNT(*) FROM webhook_deliveries
      WHERE id <= ? AND state IN ('pending', 'behind') GROUP BY endpoint
      """, last
    ) { (endpoint: $0.text(0), count: Int($0.int(1))) }
    try change.transaction.run("DELETE FROM webhook_deliveries WHERE id <= ?", last)
    change.transaction.afterCommit {
      for one in waiting { self.count(one.endpoint, by: -one.count) }
    }
  }

  private func count(_ endpoint: String, by amount: Int) {
    state.withLock { state in
      guard state.endpoints[endpoint] != nil else { return }
      state.waiting[endpoint] = max(0, state.waiting[endpoint, default: 0] + amount)
    }
  }
}

/// Removes events and deliveries after their time.
struct PruneWebhooks: TimerJob {
  let name = "webhook-retention"
  let inputs: Set<Topic> = []
  let queue: WebhookQueue

  func nextDue(_ reader: Reader) throws -> Int64? {
    try reader.first("SELECT at FROM webhook_events ORDER BY at LIMIT 1") {
      $0.int(0) + WebhookQueue.retention
    }
  }

  func fire(_ change: Change, dueBy: Int64, limit: Int) throws -> Int {
    let old = try change.transaction.query(
      "SELECT id FROM webhook_events WHERE at <= ? ORDER BY at LIMIT ?",
      dueBy - WebhookQueue.retention, Int64(limit)
    ) { $0.int(0) }
    for id in old {
      try change.transaction.run("DELETE FROM webhook_events WHERE id = ?", id)
    }
    // Also what still waits for an endpoint that was switched off: its event is gone.
    if let last = old.max() { try queue.dropDeliveries(change, through: last) }
    return old.count
  }
}
