import Catalog
import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/webhooks`: endpoints, their secrets, and what became of the deliveries.
struct WebhookRoutes: Sendable {
  let store: Store
  let queue: WebhookQueue
  let allowsPrivate: Bool
  let apps: Apps

  /// No more endpoints than this.
  static let limit = 100
  /// Where a delivery may stand.
  static let deliveryStates = ["pending", "behind", "delivered", "failed"]
  /// How long the old secret signs beside the new one.
  static let overlap: Int64 = 24 * 3600 * 1000

  /// What is to be sent again: one event, or all of a time.
  struct Resend: Decodable, Sendable {
    let eventId: String?
    let from: Int64?
    let until: Int64?
  }

  func add(to router: inout Router) {
    router.on(
      .get, "/v1/webhooks", scope: .admin, home: .everywhere(WebhookSpread.endpoints)
    ) { _ in
      .json(EndpointList(webhooks: queue.endpoints.map { EndpointAnswer($0) }))
    }
    router.on(
      .post, "/v1/webhooks", scope: .admin, home: .everywhere(WebhookSpread.creation)
    ) { request in try await create(request) }
    router.on(
      .get, "/v1/webhooks/{webhook}", scope: .admin, home: .everywhere(WebhookSpread.endpoint)
    ) { request in
      guard let endpoint = queue.endpoints.first(where: { $0.id == request.parameter("webhook") })
      else { throw Self.unknown(request.parameter("webhook")) }
      return .json(EndpointAnswer(endpoint))
    }
    router.on(
      .put, "/v1/webhooks/{webhook}", scope: .admin, home: .everywhere(Spread())
    ) { request in
      try await update(request)
    }
    router.on(
      .delete, "/v1/webhooks/{webhook}", scope: .admin, home: .everywhere(Spread())
    ) { request in
      let (id, queue) = (request.parameter("webhook"), queue)
      try await store.change { change in try queue.remove(change, id) }
      return .empty()
    }
    router.on(
      .post, "/v1/webhooks/{webhook}/secret", scope: .admin,
      home: .everywhere(WebhookSpread.rotation)
    ) { request in
      try await rotate(request)
    }
    router.on(
      .get, "/v1/webhooks/{webhook}/deliveries", scope: .admin,
      home: .gathered(WebhookSpread.deliveries)
    ) { request in
      try await deliveries(request)
    }
    router.on(
      .post, "/v1/webhooks/{webhook}/resend", scope: .admin,
      home: .everywhere(WebhookSpread.resending)
    ) { request in
      try await resend(request)
    }
  }

  private func create(_ request: Request) async throws -> Response {
    let input = try checked(request)
    let key = try request.requiredIdempotencyKey()
    let author = try request.author(nil)
    let id = UUIDs.version5(namespace: EventID.namespace, name: "webhook\n\(author)\n\(key)")
    let queue = queue
    let (endpoint, isNew) = try await store.change { change in
      if let known = try WebhookEndpoint.load(change.transaction, id) {
        guard known.url == input.url else { throw Problem.idempotencyKeyReused }
        return (known, false)
      }
      guard queue.endpoints.count < Self.limit else {
        throw Problem(
          status: 422, type: "too-many-webhooks", title: "Too many webhooks",
          detail: "There are \(Self.limit) endpoints; remove one first.")
      }
      var endpoint = WebhookEndpoint(
        id: id, url: input.url, types: [], bundleIds: [], environments: [], description: "",
        isEnabled: true,
        keys: [.init(secret: input.secret ?? WebhookEndpoint.newSecret(), madeBy: key)],
        author: author, createdAt: change.now)
      endpoint.apply(input)
      try queue.save(change, endpoint)
      return (endpoint, true)
    }
    return .json(
      EndpointAnswer(endpoint, secret: endpoint.keys.first?.secret), status: isNew ? 201 : 200)
  }

  /// Replaces address and filters; an endpoint that is enabled again goes on with what waits.
  private func update(_ request: Request) async throws -> Response {
    let input = try checked(request)
    let (id, queue) = (request.parameter("webhook"), queue)
    return .json(
      EndpointAnswer(
        try await store.change { change in
          guard var endpoint = try WebhookEndpoint.load(change.transaction, id) else {
            throw Self.unknown(id)
          }
          let wasEnabled = endpoint.isEnabled
          endpoint.apply(input)
          if endpoint.isEnabled && !wasEnabled {
            endpoint.disabledAt = nil
            endpoint.disabledReason = nil
            endpoint.failingSince = nil
            try change.transaction.run(
              """
              UPDATE webhook_deliveries SET next_attempt_at = ?, queued_at = ?, attempts = 0
              WHERE endpoint = ? AND state = 'pending'
              """, change.now, change.now, id)
          }
          try queue.save(change, endpoint)
          return endpoint
        }))
  }

  /// A new secret signs from now on; the old one signs beside it for a day.
  private func rotate(_ request: Request) async throws -> Response {
    let key = try request.requiredIdempotencyKey()
    let wish: WebhookSecret = request.body.isEmpty ? .init(secret: nil) : try request.json()
    if let secret = wish.secret { try WebhookInput.check(secret: secret) }
    let (id, queue) = (request.parameter("webhook"), queue)
    let endpoint = try await store.change { change in
      guard var endpoint = try WebhookEndpoint.load(change.transaction, id) else {
        throw Self.unknown(id)
      }
      guard endpoint.keys.first?.madeBy != key else { return endpoint }
      let old = endpoint.keys.first.map { key in
        WebhookEndpoint.Key(
          secret: key.secret, expiresAt: change.now + Self.overlap, madeBy: key.madeBy)
      }
      endpoint.keys =
        [.init(secret: wish.secret ?? WebhookEndpoint.newSecret(), madeBy: key)]
        + (old.map { [$0] } ?? [])
      try queue.save(change, endpoint)
      return endpoint
    }
    return .json(EndpointAnswer(endpoint, secret: endpoint.keys.first?.secret))
  }

  private func deliveries(_ request: Request) async throws -> Response {
    let (id, limit) = (request.parameter("webhook"), try request.pageLimit())
    let (before, state) = (try request.numberCursor() ?? Int64.max, request.queryValue("state"))
    if let state, !Self.deliveryStates.contains(state) {
      throw Problem.invalidParameter(
        "state", "give one of \(Self.deliveryStates.joined(separator: ", ")).")
    }
    guard queue.endpoints.contains(where: { $0.id == id }) else { throw Self.unknown(id) }
    return try await store.readers.read { reader in
      let rows = try reader.query(
        """
        SELECT d.id, e.event_id, e.type, d.customer, d.state, d.attempts, d.queued_at,
          d.next_attempt_at, d.last_attempt_at, d.last_status, d.last_error
        FROM webhook_deliveries d LEFT JOIN webhook_events e ON e.id = d.id
        WHERE d.endpoint = ?1 AND d.id < ?2 AND (?3 IS NULL OR d.state = ?3)
        ORDER BY d.id DESC LIMIT ?4
        """, id, before, state, Int64(limit + 1)
      ) { row in
        DeliveryAnswer(
          number: row.int(0), eventId: row.optionalText(1), type: row.optionalText(2),
          customer: row.text(3), state: row.text(4), attempts: row.int(5), queuedAt: row.int(6),
          nextAttemptAt: ["pending", "behind"].contains(row.text(4)) ? row.int(7) : nil,
          lastAttemptAt: row.optionalInt(8), lastStatus: row.optionalInt(9),
          lastError: row.optionalText(10))
      }
      return try Page(
        rows, limit: limit, element: { try EventJSON.encode($0) }, cursor: { "\($0.number)" }
      ).response("deliveries", [])
    }
  }

  private func resend(_ request: Request) async throws -> Response {
    let wish = try request.json(Resend.self)
    guard (wish.eventId == nil) != (wish.from == nil) else {
      throw Problem(
        status: 422, type: "invalid-resend", title: "Invalid resend",
        detail: "Give either eventId, or from and, if need be, until, in UTC milliseconds.")
    }
    let (id, queue) = (request.parameter("webhook"), queue)
    let result = try await store.change { change -> ResendAnswer in
      guard let endpoint = try WebhookEndpoint.load(change.transaction, id) else {
        throw Self.unknown(id)
      }
      let events = try Self.events(change.transaction, wish)
      var queued = 0
      for event in events.prefix(ResendAnswer.limit) where endpoint.wants(event.event) {
        try queue.insert(change, id, event.id, event.event.customer)
        queued += 1
      }
      return ResendAnswer(
        queued: queued,
        next: events.count > ResendAnswer.limit ? events[ResendAnswer.limit].event.at : nil)
    }
    return .json(result, status: 202)
  }

  /// The events of a wish, without their bodies; one more than is sent at once.
  private static func events(_ transaction: Transaction, _ wish: Resend) throws
    -> [(id: Int64, event: WebhookEvent)]
  {
    try transaction.query(
      """
      SELECT id, event_id, type, customer, environment, bundle_id, at FROM webhook_events
      WHERE (?1 IS NULL OR event_id = ?1) AND at >= ?2 AND at < ?3 ORDER BY at, id LIMIT ?4
      """, wish.eventId, wish.from ?? 0, wish.until ?? Int64.max, Int64(ResendAnswer.limit + 1)
    ) { row in
      (
        row.int(0),
        WebhookEvent(
          id: row.text(1), type: row.text(2), customer: row.text(3),
          environment: row.optionalText(4), bundleId: row.optionalText(5), at: row.int(6), body: [])
      )
    }
  }

  private func checked(_ request: Request) throws -> WebhookInput {
    let input = try request.json(WebhookInput.self)
    try input.check(allowsPrivate: allowsPrivate, apps: apps)
    return input
  }

  private static func unknown(_ id: String) -> Problem {
    Problem(
      status: 404, type: "unknown-webhook", title: "Unknown webhook",
      detail: "There is no webhook '\(id.prefix(80))'.")
  }
}

extension WebhookEndpoint {
  mutating func apply(_ input: WebhookInput) {
    url = input.url
    types = input.types ?? []
    bundleIds = input.bundleIds ?? []
    environments = input.environments ?? []
    description = input.description ?? ""
    isEnabled = input.isEnabled ?? true
  }
}

/// A line of the delivery log.
private struct DeliveryAnswer: Encodable, Sendable {
  let number: Int64
  let eventId: String?
  let type: String?
  let customer: String
  let state: String
  let attempts: Int64
  let queuedAt: Int64
  let nextAttemptAt: Int64?
  let lastAttemptAt: Int64?
  let lastStatus: Int64?
  let lastError: String?
}

/// How many deliveries were lined up again, and where the next request goes on.
struct ResendAnswer: Codable, Sendable {
  /// No request lines up more than this.
  static let limit = 1000

  let queued: Int
  /// The `from` of the next request; nil when all is lined up.
  let next: Int64?
}
