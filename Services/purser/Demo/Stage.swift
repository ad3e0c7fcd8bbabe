import Events

/// Where a story is played: the addresses of a stack that runs, its key, and its broker.
struct Stage: Sendable {
  /// Of order-service.
  let orderURL: String
  /// Of entitlement-service.
  let entitlementURL: String
  /// Of the simulator.
  let simulatorURL: String
  /// A key with every scope that the story needs.
  let apiKey: String
  /// `KAFKA_…` variables without the prefix.
  let kafka: [String: String]
  let topics: TopicNames
}

extension StackPlan {
  /// The stage that a stack of ours is.
  var stage: Stage {
    Stage(
      orderURL: orderURL, entitlementURL: entitlementURL, simulatorURL: simulatorURL,
      apiKey: apiKey, kafka: kafkaVariables, topics: topics)
  }
}
