import Events
import Kafka
import Pipeline
import ServiceRuntime

/// The topics, as `purser topics check` sees them.
struct TopicCheck {
  let settings: Settings
  /// How many partitions they must have; nil where nobody says.
  let partitions: Int?

  /// Blocks until the broker answers, or its time is over.
  func findings() -> [Finding] {
    guard settings.hasBroker else {
      return [
        .warning(
          "topics", "", "were not looked at: no broker is named", "set KAFKA_BOOTSTRAP_SERVERS")
      ]
    }
    let broker = settings.kafka["BOOTSTRAP_SERVERS"] ?? ""
    do {
      let admin = try Admin(
        try settings.clientConfiguration(), name: "purser-doctor", log: .silent,
        metrics: Metrics())
      defer { admin.closeAndWait() }
      let plan = TopicPlan(
        names: TopicNames(prefix: settings.topicPrefix),
        partitions: partitions ?? TopicNames.defaultPartitions,
        replicationFactor: -1)
      let report = try TopicReport(plan, admin, anyPartitions: partitions == nil)
      var findings: [Finding] = report.differences.map {
        .fault("topics", $0.topic, $0.what, $0.remedy)
      }
      findings += report.missing.map {
        .fault("topics", $0.name, "is missing", "purser topics create")
      }
      guard findings.isEmpty else { return findings }
      return [.good("topics", broker, "all \(report.rows.count) are as they must be")]
    } catch {
      return [
        .fault(
          "topics", broker, "\(error)",
          "check that the broker runs, and the KAFKA_… settings of address and access")
      ]
    }
  }
}
