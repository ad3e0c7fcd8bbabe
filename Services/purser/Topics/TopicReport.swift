import Events
import Kafka
import Pipeline

/// One way in which a topic is not as Purser needs it.
struct TopicDifference: Sendable, Equatable {
  /// The full name.
  let topic: String
  /// What is different.
  let what: String
  /// What an operator may do.
  let remedy: String
}

/// Topics are not as they must be; a failed check.
struct TopicDifferences: Error, CustomStringConvertible {
  let all: [TopicDifference]
  let advice: String?

  init(_ all: [TopicDifference], advice: String?) {
    self.all = all
    self.advice = advice
  }

  /// Topics that differ in the same way share their lines.
  var description: String {
    var groups: [(what: String, remedy: String, topics: [String])] = []
    for one in all {
      if let place = groups.firstIndex(where: { $0.what == one.what && $0.remedy == one.remedy }) {
        groups[place].topics.append(one.topic)
      } else {
        groups.append((one.what, one.remedy, [one.topic]))
      }
    }
    let count = all.count == 1 ? "1 difference" : "\(all.count) differences"
    let lines = groups.map { group in
      "  \(group.topics.joined(separator: ", ")): \(group.what)\n      mend it: \(group.remedy)"
    }
    return (["\(count)\(advice.map { ", \($0)" } ?? "")"] + lines).joined(separator: "\n")
  }
}

/// The topics of a broker beside the plan.
struct TopicReport {
  /// One topic of the plan as the broker has it.
  struct Row {
    let specification: TopicSpecification
    /// Nil when it is missing.
    let found: TopicDescription?
    let settings: [String: String]
  }

  let rows: [Row]
  let differences: [TopicDifference]

  /// What is to be made.
  let missing: [TopicSpecification]

  /// Asks the broker; blocks.
  ///
  /// - Parameter anyPartitions: The number of partitions is not given: only equality matters.
  init(_ plan: TopicPlan, _ admin: Admin, anyPartitions: Bool = false) throws {
    let timeout = TopicsCommand.patience
    let found = try admin.topics(timeout: timeout)
    var rows: [Row] = []
    for specification in plan.specifications {
      let description = found[specification.name]
      let settings =
        description == nil ? [:] : try admin.settings(of: specification.name, timeout: timeout)
      rows.append(Row(specification: specification, found: description, settings: settings))
    }
    self.rows = rows
    let counts = rows.compactMap(\.found?.partitions)
    let wanted = anyPartitions ? counts.max() ?? plan.partitions : plan.partitions
    differences = rows.flatMap { Self.differences($0, partitions: wanted) }
    missing = rows.filter { $0.found == nil }.map { row in
      var specification = row.specification
      specification.partitions = wanted
      return specification
    }
  }

  private static func differences(_ row: Row, partitions wanted: Int) -> [TopicDifference] {
    guard let found = row.found else { return [] }
    let name = row.specification.name
    var differences: [TopicDifference] = []
    if found.partitions != wanted {
      differences.append(
        TopicDifference(
          topic: name, what: "has \(found.partitions) partitions, needs \(wanted)",
          remedy: "the number decides where a customer's events are and stays once there are "
            + "records; give --partitions \(found.partitions) if all topics have it, else use "
            + "another --prefix"))
    }
    let copies = row.specification.replicationFactor
    if copies > 0 && found.replicationFactor != copies {
      differences.append(
        TopicDifference(
          topic: name, what: "has \(found.replicationFactor) copies, needs \(copies)",
          remedy: "kafka-reassign-partitions.sh, or give --replication \(found.replicationFactor)"))
    }
    for (setting, value) in row.specification.settings.sorted(by: { $0.key < $1.key }) {
      guard let has = row.settings[setting], has != value else { continue }
      differences.append(
        TopicDifference(
          topic: name, what: "has \(setting)=\(has), needs \(value)",
          remedy: "kafka-configs.sh --bootstrap-server … --alter --entity-type topics "
            + "--entity-name \(name) --add-config \(setting)=\(value)"))
    }
    return differences
  }

  /// A row for each topic, with a mark where it differs.
  var table: String {
    let head = ["topic", "partitions", "copies", "cleanup", "retention.ms", "record bytes", ""]
    let cells = rows.map { row -> [String] in
      guard let found = row.found else {
        return [row.specification.name, "-", "-", "-", "-", "-", "missing"]
      }
      let differs = differences.contains { $0.topic == found.name }
      return [
        found.name, "\(found.partitions)", "\(found.replicationFactor)",
        row.settings["cleanup.policy"] ?? "?", row.settings["retention.ms"] ?? "?",
        row.settings["max.message.bytes"] ?? "?", differs ? "differs" : "ok",
      ]
    }
    return columns([head] + cells)
  }
}

/// Rows as lines with aligned columns.
func columns(_ rows: [[String]]) -> String {
  let count = rows.map(\.count).max() ?? 0
  let widths = (0..<count).map { column in
    rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
  }
  return rows.map { row in
    var line = zip(row, widths).map { padded($0, $1) }.joined(separator: "  ")
    while line.last == " " { line.removeLast() }
    return line
  }.joined(separator: "\n")
}
