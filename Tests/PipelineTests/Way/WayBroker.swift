import Kafka
import Pipeline
import TestSupport

@testable import purser

/// What the processes of a test take for Kafka.
enum WayBroker: Sendable {
  /// The broker of development, a process of its own.
  case development(DevBroker)
  /// librdkafka's mock cluster inside the test, whose answers can be chosen.
  case mock(MockCluster)

  /// Starts the broker of development; blocks.
  static func development() throws -> WayBroker { .development(try DevBroker.start()) }

  /// Starts a mock cluster of one broker.
  static func mock() throws -> WayBroker { .mock(try MockCluster()) }

  var bootstrapServers: String {
    switch self {
    case .development(let broker): broker.bootstrapServers
    case .mock(let cluster): cluster.bootstrapServers
    }
  }

  /// What services must be told for this broker: the mock cluster knows no admin requests, and takes what
  /// follows a batch that it refused (see the library FaultInjection).
  var settings: [String: String] {
    switch self {
    case .development: [:]
    case .mock: ["PURSER_TOPIC_CHECK": "partitions", "ONE_BATCH_IN_FLIGHT": "1"]
    }
  }

  /// The mock cluster, for faults that only it can have.
  var cluster: MockCluster {
    get throws {
      guard case .mock(let cluster) = self else {
        throw NotInTime(description: "the fault needs a run on the mock cluster")
      }
      return cluster
    }
  }

  /// Makes the topics of a plan as Purser needs them; blocks.
  func makeTopics(of plan: StackPlan) throws {
    guard case .mock(let cluster) = self else { return try plan.makeTopics() }
    for topic in TopicPlan(names: plan.topics).specifications {
      try cluster.createTopic(topic.name, partitions: topic.partitions)
    }
  }

  /// Makes the broker unreachable: it stands still, or the mock cluster cuts its connections.
  func freeze() {
    switch self {
    case .development(let broker): broker.freeze()
    case .mock(let cluster): try? cluster.setBroker(1, isUp: false)
    }
  }

  /// Lets it go on, with all faults of the mock cluster ended.
  func thaw() {
    switch self {
    case .development(let broker): broker.thaw()
    case .mock(let cluster):
      try? cluster.setBroker(1, isUp: true)
      try? cluster.setRoundTrip(1, .zero)
    }
  }

  func stop() {
    if case .development(let broker) = self { broker.stop() }
  }
}
