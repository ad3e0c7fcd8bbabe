import Cryptography
import Events
import FoundationEssentials
import HTTPServer
import JSON

/// A secret that the caller has already, for an endpoint that is to sign with it from now on.
struct WebhookSecret: Codable, Sendable {
  let secret: String?
}

/// How webhooks are kept alike on all shards: each sends the events of its own customers.
enum WebhookSpread {
  /// A new endpoint has the secret that the first shard made.
  static let creation = Spread(body: { request, first in
    var input: WebhookInput = try request.json()
    input.secret = try secret(first)
    return Array(try JSONEncoder().encode(input))
  })

  /// So has one whose secret is changed.
  static let rotation = Spread(body: { _, first in
    Array(try JSONEncoder().encode(WebhookSecret(secret: try secret(first))))
  })

  /// What all shards lined up; the next request begins where the first of them stopped.
  static let resending = Spread.joined(status: 202) { (all: [ResendAnswer]) in
    ResendAnswer(queued: all.reduce(0) { $0 + $1.queued }, next: all.compactMap(\.next).min())
  }

  /// Each shard knows how its own deliveries fare.
  static let endpoint = Spread.joined { EndpointAnswer(ofAllShards: $0) }

  /// The same of the list.
  ///
  /// An endpoint that only some have is being added or removed.
  static let endpoints = Spread.joined { (all: [EndpointList]) in
    let known = Dictionary(grouping: all.flatMap(\.webhooks), by: \.id)
    return EndpointList(
      webhooks: all[0].webhooks.map { EndpointAnswer(ofAllShards: known[$0.id] ?? [$0]) })
  }

  /// The log of deliveries, the newest first.
  static let deliveries = Gathering("deliveries", isDescending: true) {
    fields throws(JSONFieldFault) in
    let number = try fields.number("number")
    return Gathering.Place(
      rank: Gathering.Rank(try fields.number("queuedAt")),
      cursor: Base64URL.encode(Array("\(number)".utf8)))
  }

  private static func secret(_ answer: Response) throws -> String? {
    try JSONDecoder().decode(WebhookSecret.self, from: Data(answer.body)).secret
  }
}
