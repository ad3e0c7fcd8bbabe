/// An endpoint as it is answered: its secret only to who made it.
struct EndpointAnswer: Codable {
  let id: String
  let url: String
  let types: [String]
  let bundleIds: [String]
  let environments: [String]
  let description: String
  private(set) var isEnabled: Bool
  let secret: String?
  let author: String
  let createdAt: Int64
  private(set) var failingSince: Int64?
  private(set) var lastError: String?
  private(set) var disabledAt: Int64?
  private(set) var disabledReason: String?
  private(set) var leftOutSince: Int64?

  init(_ endpoint: WebhookEndpoint, secret: String? = nil) {
    id = endpoint.id
    url = endpoint.url
    types = endpoint.types
    bundleIds = endpoint.bundleIds
    environments = endpoint.environments
    description = endpoint.description
    isEnabled = endpoint.isEnabled
    self.secret = secret
    author = endpoint.author
    createdAt = endpoint.createdAt
    failingSince = endpoint.failingSince
    lastError = endpoint.lastError
    disabledAt = endpoint.disabledAt
    disabledReason = endpoint.disabledReason
    leftOutSince = endpoint.leftOutSince
  }

  /// An endpoint as the first shard has it, with what all say of their deliveries: it is as well as where it
  /// is worst.
  init(ofAllShards all: [EndpointAnswer]) {
    self = all[0]
    isEnabled = all.allSatisfy(\.isEnabled)
    failingSince = all.compactMap(\.failingSince).min()
    lastError = all.compactMap(\.lastError).first
    disabledAt = all.compactMap(\.disabledAt).min()
    disabledReason = all.compactMap(\.disabledReason).first
    leftOutSince = all.compactMap(\.leftOutSince).min()
  }
}

/// All endpoints.
struct EndpointList: Codable {
  let webhooks: [EndpointAnswer]
}
