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

  /// An endpoint as one shard has it, with what the others say of their deliveries: it is as well as where it
  /// is worst.
  func joined(with others: some Sequence<EndpointAnswer>) -> EndpointAnswer {
    others.reduce(into: self) { all, one in
      all.isEnabled = all.isEnabled && one.isEnabled
      all.failingSince = [all.failingSince, one.failingSince].compactMap { $0 }.min()
      all.disabledAt = [all.disabledAt, one.disabledAt].compactMap { $0 }.min()
      all.leftOutSince = [all.leftOutSince, one.leftOutSince].compactMap { $0 }.min()
      all.lastError = all.lastError ?? one.lastError
      all.disabledReason = all.disabledReason ?? one.disabledReason
    }
  }
}

/// All endpoints.
struct EndpointList: Codable {
  let webhooks: [EndpointAnswer]
}
