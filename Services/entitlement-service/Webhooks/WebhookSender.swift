import Events
import HTTPClient
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization

/// Posts what is lined up to the endpoints, a few at a time, and notes what became of it.
final class WebhookSender: Service {
  let name = "webhooks"

  /// How many posts are under way at once, in all and to one endpoint.
  static let parallel = 16
  static let parallelPerEndpoint = 4

  private let store: Store
  private let queue: WebhookQueue
  private let client: HTTPClient
  private let log: Log
  private let stopping = Atomic<Bool>(false)
  private let underWay = Mutex<[String: Set<Int64>]>([:])
  private let ended = Completion<Void>()
  private let delivered: Counter
  private let refused: Counter
  private let givenUp: Counter

  init(
    store: Store, queue: WebhookQueue, allowsPrivate: Bool, log: Log, metrics: Metrics
  ) {
    self.store = store
    self.queue = queue
    self.log = log
    var settings = ClientSettings()
    settings.timeout = .seconds(15)
    settings.bodyBytes = 64 * 1024
    settings.publicAddressesOnly = !allowsPrivate
    client = HTTPClient(
      workers: Self.parallel, settings: settings, name: "webhook", log: log, metrics: metrics)
    delivered = metrics.counter("webhook_delivered_total", "Deliveries that were taken.")
    refused = metrics.counter(
      "webhook_refused_total", "Attempts that were not taken and are made again.")
    givenUp = metrics.counter(
      "webhook_given_up_total", "Deliveries that were given up after three days.")
  }

  /// One delivery that is due.
  private struct Due: Sendable {
    let endpoint: WebhookEndpoint
    let id: Int64
    let customer: String
    let attempts: Int
    let queuedAt: Int64
    let event: WebhookEvent
  }

  func run() async {
    await withDiscardingTaskGroup { group in
      while !isStopping {
        // The place in the line comes before the look, so that nothing is missed between.
        let ticket = queue.bell.enter(0)
        let (due, pause) = await look()
        for one in due {
          group.addTask {
            await self.deliver(one)
            _ = self.underWay.withLock { $0[one.endpoint.id]?.remove(one.id) }
            self.queue.bell.notify(0)
          }
        }
        if due.isEmpty && !isStopping {
          _ = await queue.bell.wait(ticket, atMost: pause)
        } else {
          queue.bell.leave(ticket)
        }
      }
    }
    ended.complete(with: ())
  }

  func stop(by deadline: Deadline) async {
    stopping.store(true, ordering: .releasing)
    queue.bell.stopAll()
    await client.close(by: deadline)
    await ended.value()
  }

  private var isStopping: Bool { stopping.load(ordering: .acquiring) }

  /// What may be sent now, and how long there is nothing else to do.
  private func look() async -> (due: [Due], pause: Duration) {
    do {
      let running = underWay.withLock { $0 }
      let endpoints = queue.endpoints.filter(\.isEnabled)
      let now = store.clock.now()
      var free = Self.parallel - running.values.reduce(0) { $0 + $1.count }
      var due: [Due] = []
      var next = now + 60_000
      for endpoint in endpoints where free > 0 {
        let busy = running[endpoint.id] ?? []
        let room = min(free, Self.parallelPerEndpoint - busy.count)
        guard room > 0 else { continue }
        let found = try await store.readers.read { reader in
          try Self.due(reader, endpoint, limit: room + busy.count)
        }
        for (one, at) in found where !busy.contains(one.id) {
          if at <= now && due.count(where: { $0.endpoint.id == endpoint.id }) < room {
            due.append(one)
            free -= 1
          } else {
            next = min(next, at)
          }
        }
      }
      underWay.withLock { running in
        for one in due { running[one.endpoint.id, default: []].insert(one.id) }
      }
      return (due, .milliseconds(max(10, next - now)))
    } catch {
      if !isStopping {
        log.error("the webhooks cannot read the store", ["error": LogValue(error)])
      }
      return ([], .seconds(1))
    }
  }

  private static func due(_ reader: Reader, _ endpoint: WebhookEndpoint, limit: Int) throws
    -> [(Due, at: Int64)]
  {
    try reader.query(
      """
      SELECT d.id, d.customer, d.attempts, d.queued_at, d.next_attempt_at, e.event_id, e.type,
        e.environment, e.bundle_id, e.at, e.body
      FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.id
      WHERE d.endpoint = ? AND d.state = 'pending' ORDER BY d.next_attempt_at LIMIT ?
      """, endpoint.id, Int64(limit)
    ) { row in
      (
        Due(
          endpoint: endpoint, id: row.int(0), customer: row.text(1), attempts: Int(row.int(2)),
          queuedAt: row.int(3),
          event: WebhookEvent(
            id: row.text(5), type: row.text(6), customer: row.text(1),
            environment: row.optionalText(7), bundleId: row.optionalText(8), at: row.int(9),
            body: row.blob(10))),
        row.int(4)
      )
    }
  }

  private func deliver(_ due: Due) async {
    let outcome = await post(due)
    if case .notSent = outcome { return }
    let (queue, log) = (queue, log)
    let (delivered, refused, givenUp) = (delivered, refused, givenUp)
    do {
      try await store.change { change in
        guard var endpoint = try WebhookEndpoint.load(change.transaction, due.endpoint.id) else {
          return
        }
        switch outcome {
        case .taken(let status):
          change.count(delivered)
          try Self.note(change, due, status: status, error: nil, next: change.now)
          try queue.end(change, endpoint.id, due.id, due.customer, state: "delivered")
          guard endpoint.failingSince != nil else { return }
          endpoint.failingSince = nil
          endpoint.lastError = nil
          try queue.save(change, endpoint)
        case .refused(let status, let error, let after):
          change.count(refused)
          let plan = WebhookRetry(
            attempt: due.attempts + 1, queuedAt: due.queuedAt, now: change.now,
            asked: after, luck: Double.random(in: 0..<1))
          try Self.note(change, due, status: status, error: error, next: plan.next ?? change.now)
          if plan.next == nil {
            change.count(givenUp)
            try queue.end(change, endpoint.id, due.id, due.customer, state: "failed")
          }
          endpoint.failingSince = endpoint.failingSince ?? change.now
          endpoint.lastError = error
          let failing = change.now - (endpoint.failingSince ?? change.now)
          // One that was given up, and nothing else taken meanwhile, says the same as three days.
          let isDead =
            failing >= WebhookRetry.patience
            || (plan.next == nil && failing >= WebhookRetry.patience / 2)
          if (isDead || status == 410) && endpoint.isEnabled {
            endpoint.isEnabled = false
            endpoint.disabledAt = change.now
            endpoint.disabledReason =
              status == 410
              ? "the endpoint answered 410 Gone"
              : "nothing was taken for three days; the last fault: \(error)"
            log.error(
              "a webhook endpoint was switched off",
              [
                "endpoint": .string(endpoint.id),
                "reason": .string(endpoint.disabledReason ?? ""),
              ])
          }
          try queue.save(change, endpoint)
        case .notSent: break
        }
      }
    } catch {
      // It is posted again: receivers know events by their id.
      log.warning("what became of a webhook could not be noted", ["error": LogValue(error)])
    }
  }

  private enum Outcome: Sendable {
    case taken(Int)
    case refused(status: Int?, error: String, after: Duration?)
    case notSent
  }

  private func post(_ due: Due) async -> Outcome {
    let timestamp = store.clock.now() / 1000
    let body =
      Array(
        "{\"type\":\"\(due.event.type)\",\"timestamp\":\"\(rfc3339(due.event.at))\",\"data\":".utf8)
      + due.event.body + [UInt8(ascii: "}")]
    let request = HTTPRequest(
      method: "POST", url: due.endpoint.url,
      headers: [
        ("Content-Type", "application/json"), ("User-Agent", "Purser"),
        ("webhook-id", due.event.id), ("webhook-timestamp", "\(timestamp)"),
        (
          "webhook-signature",
          WebhookSignature.header(
            id: due.event.id, timestamp: timestamp, body: body,
            secrets: due.endpoint.secrets(at: store.clock.now()))
        ),
      ], body: body)
    do {
      let response = try await client.send(request)
      if response.isSuccess { return .taken(response.status) }
      return .refused(
        status: response.status, error: "answered \(response.status)", after: response.retryAfter)
    } catch {
      switch error.kind {
      case .closed, .cancelled, .busy: return .notSent
      default: return .refused(status: nil, error: error.description, after: nil)
      }
    }
  }

  private static func note(
    _ change: Change, _ due: Due, status: Int?, error: String?, next: Int64
  ) throws {
    try change.transaction.run(
      """
      UPDATE webhook_deliveries SET attempts = attempts + 1, last_attempt_at = ?,
        last_status = ?, last_error = ?, next_attempt_at = ? WHERE endpoint = ? AND id = ?
      """, change.now, status, error.map { String($0.prefix(300)) }, next, due.endpoint.id, due.id)
  }
}

/// When a refused delivery is tried again; pure.
struct WebhookRetry: Equatable {
  /// How long a delivery is tried, and an endpoint may take nothing: three days.
  static let patience: Int64 = 3 * 24 * 3600 * 1000
  /// The pauses after the first, second, … attempt, in seconds; the last one repeats.
  static let pauses: [Int64] = [5, 30, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000]

  /// When it is tried again, UTC milliseconds; nil when it is given up.
  let next: Int64?

  /// - Parameters:
  ///   - attempt: How many attempts were made.
  ///   - asked: The `Retry-After` of the receiver.
  ///   - luck: 0 to 1, so that not all come at once: a pause is 0.8 to 1.2 of what it should be.
  init(attempt: Int, queuedAt: Int64, now: Int64, asked: Duration?, luck: Double) {
    let pause = Self.pauses[min(max(attempt, 1), Self.pauses.count) - 1] * 1000
    let spread = Int64(Double(pause) * (0.8 + 0.4 * luck))
    let wait = max(spread, min(asked?.wholeMilliseconds ?? 0, Self.patience))
    next = now + wait - queuedAt > Self.patience ? nil : now + wait
  }
}
