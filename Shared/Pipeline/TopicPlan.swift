public import Events
public import Kafka

/// Topics that are there but can never serve as they are; final.
public struct TopicsUnusable: Error, Sendable, Equatable, CustomStringConvertible {
  /// A line for each difference.
  public let differences: [String]

  /// All differences, and what to do.
  public var description: String {
    "the topics are not as Purser needs them: " + differences.joined(separator: "; ")
      + ". Run `purser topics check` with the same PURSER_PARTITIONS to see all of it."
  }
}

/// Topics that are missing; they may come.
public struct TopicsMissing: Error, Sendable, Equatable, CustomStringConvertible {
  /// Their full names.
  public let names: [String]

  /// Which, and what to do.
  public var description: String {
    "there is no topic \(names.joined(separator: ", ")); run `purser topics create`"
  }
}

/// The topics as Purser needs them, and how those of a broker differ.
public struct TopicPlan: Sendable {
  /// Names on the broker.
  public let names: TopicNames
  /// Partitions of each topic.
  public let partitions: Int
  /// Copies of each partition; -1 is the broker's default.
  public let replicationFactor: Int

  /// What of the topics is checked.
  public let checked: Check

  /// What of topics is checked against a broker.
  public enum Check: String, Sendable, CaseIterable {
    /// That they are there, and how many partitions they have.
    case partitions
    /// Their settings too.
    case settings
  }

  /// Makes a plan.
  public init(
    names: TopicNames, partitions: Int = TopicNames.defaultPartitions, replicationFactor: Int = -1,
    checked: Check = .settings
  ) {
    self.checked = checked
    self.names = names
    self.partitions = partitions
    self.replicationFactor = replicationFactor
  }

  /// What `purser topics create` asks the broker for.
  public var specifications: [TopicSpecification] {
    Topic.allCases.map { topic in
      TopicSpecification(
        name: names.name(of: topic), partitions: partitions, replicationFactor: replicationFactor,
        settings: topic.settings)
    }
  }

  /// How one topic's settings differ from what it must have, a line each.
  public func differences(of topic: Topic, settings: [String: String]) -> [String] {
    topic.settings.sorted { $0.key < $1.key }.compactMap { name, wanted in
      guard let found = settings[name], found != wanted else { return nil }
      return "\(names.name(of: topic)) has \(name)=\(found), needs \(wanted)"
    }
  }

  private static let meansUnseen: Set<KafkaErrorCode> = [
    .unsupportedFeature, .topicAuthorizationFailed, .clusterAuthorizationFailed,
  ]

  /// What a service says when the settings of topics could not be seen.
  public static let unseenWarning: StaticString =
    "the topics' settings cannot be seen with this user and are taken as right; run `purser topics check` with one that may describe them"

  /// Asks the broker whether the topics are there and as they must be; blocks.
  ///
  /// - Parameters:
  ///   - topics: Those that a service reads or writes.
  ///   - admin: The connection to ask through.
  ///   - wanted: How many partitions they must have; nil when any number will do.
  ///   - timeout: For each question.
  ///   - unseen: Told once, when the broker does not let this client see the topics' settings; they
  ///     are then taken as right, since the right to describe is often kept from services.
  /// - Returns: The partition count of each.
  /// - Throws: `TopicsUnusable`, `TopicsMissing`, or `KafkaError` when the broker is away.
  public func check(
    _ topics: Set<Topic>, _ admin: Admin, partitions wanted: Int? = nil, timeout: Duration,
    unseen: (KafkaError) -> Void = { _ in }
  ) throws -> [Topic: Int] {
    let found = try admin.topics(timeout: timeout)
    let missing = topics.map { names.name(of: $0) }.filter { found[$0] == nil }.sorted()
    guard missing.isEmpty else { throw TopicsMissing(names: missing) }

    var counts: [Topic: Int] = [:]
    var differences: [String] = []
    var mayDescribe = checked == .settings
    for topic in topics.sorted(by: { $0.rawValue < $1.rawValue }) {
      let name = names.name(of: topic)
      let count = found[name]?.partitions ?? 0
      counts[topic] = count
      if let wanted, count != wanted {
        differences.append(
          "\(name) has \(count) partitions, and PURSER_PARTITIONS says \(wanted) (12 unless it is set)"
        )
      }
      guard mayDescribe else { continue }
      switch Result(catching: { try admin.settings(of: name, timeout: timeout) }) {
      case .success(let settings):
        differences += self.differences(of: topic, settings: settings)
      case .failure(let error as KafkaError) where Self.meansUnseen.contains(error.code):
        mayDescribe = false
        unseen(error)
      case .failure(let error):
        throw error
      }
    }
    if Set(counts.values).count > 1 {
      differences.append(
        "the topics have different numbers of partitions: "
          + counts.map { "\(names.name(of: $0.key)) \($0.value)" }.sorted().joined(separator: ", "))
    }
    guard differences.isEmpty else { throw TopicsUnusable(differences: differences) }
    return counts
  }
}
