import Cryptography
import Events
import Pipeline
import SQLite

/// Where events are posted to, for a team without Kafka.
struct WebhookEndpoint: Codable, Equatable, Sendable {
  /// A secret by which posts are signed, and until when.
  struct Key: Codable, Equatable, Sendable {
    /// `whsec_` and base64, as in Standard Webhooks.
    let secret: String
    /// When it ends, UTC milliseconds; nil for the one in use.
    var expiresAt: Int64?
    /// The idempotency key of the request that made it.
    let madeBy: String
  }

  let id: String
  var url: String
  /// Only events of these types; empty for all.
  var types: [String]
  /// Only events that are about these apps, or about none; empty for all.
  var bundleIds: [String]
  /// Only events of these environments, or of none; empty for all.
  var environments: [String]
  /// What it is for, for people.
  var description: String
  /// Whether posts are sent.
  var isEnabled: Bool
  /// The newest first.
  var keys: [Key]
  /// Who made it.
  let author: String
  /// When, UTC milliseconds.
  let createdAt: Int64
  /// Since when nothing was taken, UTC milliseconds; nil while it takes posts.
  var failingSince: Int64?
  /// What happened at the newest failure.
  var lastError: String?
  /// When it was switched off by itself, UTC milliseconds.
  var disabledAt: Int64?
  /// Why.
  var disabledReason: String?
  /// Since when events were left out as too many waited, UTC milliseconds.
  var leftOutSince: Int64?

  /// Whether an event is for this endpoint.
  func wants(_ event: WebhookEvent) -> Bool {
    (types.isEmpty || types.contains(event.type))
      && (bundleIds.isEmpty || event.bundleId.map(bundleIds.contains) ?? true)
      && (environments.isEmpty || event.environment.map(environments.contains) ?? true)
  }

  /// The secrets by which posts are signed at a time.
  func secrets(at now: Int64) -> [String] {
    keys.filter { $0.expiresAt.map { now < $0 } ?? true }.map(\.secret)
  }

  /// A new secret of 32 random bytes.
  static func newSecret() -> String {
    WebhookSignature.prefix + Base64.encode(randomBytes(32))
  }

  static func all(_ reader: Reader) throws -> [WebhookEndpoint] {
    try reader.query("SELECT body FROM webhook_endpoints ORDER BY id") {
      try EventJSON.decode(WebhookEndpoint.self, from: $0.blob(0))
    }
  }

  static func load(_ transaction: Transaction, _ id: String) throws -> WebhookEndpoint? {
    try transaction.first("SELECT body FROM webhook_endpoints WHERE id = ?", id) {
      try EventJSON.decode(WebhookEndpoint.self, from: $0.blob(0))
    }
  }

  func save(_ transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO webhook_endpoints (id, body) VALUES (?, ?)
      ON CONFLICT (id) DO UPDATE SET body = excluded.body
      """, id, try EventJSON.encode(self))
  }
}

/// An event as the webhooks know it.
struct WebhookEvent: Sendable {
  /// The event's `ce_id`: the same event keeps its id, however often it is posted.
  let id: String
  let type: String
  let customer: String
  /// Apple's environment; nil for an event of none.
  let environment: String?
  /// The app; nil for an event of no app, such as a grant.
  let bundleId: String?
  /// When it was told, UTC milliseconds.
  let at: Int64
  /// The event as JSON.
  let body: [UInt8]
}

/// Signatures of Standard Webhooks: HMAC-SHA256 over id, time and body.
enum WebhookSignature {
  static let prefix = "whsec_"

  /// The value of `webhook-signature`: one signature for each secret.
  static func header(id: String, timestamp: Int64, body: [UInt8], secrets: [String]) -> String {
    let text = Array("\(id).\(timestamp).".utf8) + body
    return secrets.compactMap { secret -> String? in
      guard let bytes = Base64.decode(String(secret.dropFirst(prefix.count))) else { return nil }
      return "v1," + Base64.encode(HMACSHA256.code(for: text, secret: bytes))
    }.joined(separator: " ")
  }
}
