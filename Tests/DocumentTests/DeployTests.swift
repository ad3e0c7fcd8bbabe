import Events
import Testing

/// What `deploy/` says of topics and alarms, held against the code and the operator's page.
@Suite("Alarms and topics in deploy/") struct DeployTests {
  /// The lines behind `expr:` of all alerts.
  private static let expressions: [String] = {
    let lines = Repository.text("deploy/prometheus/rules/purser.yml")
      .split(separator: "\n").map(String.init)
    return lines.indices.filter { lines[$0].contains("expr: >-") }.map { lines[$0 + 1] }
  }()

  /// Metrics that stand in alerts or dashboards; functions and labels have no underscore, or are left out.
  private static func metrics(in text: String) -> Set<String> {
    let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
    return Set(words.filter { $0.isSnakeCase && $0 != "histogram_quantile" })
  }

  @Test
  func `every metric worth an alarm has an alert, and every alert is on a metric that exists`() {
    let rows = Document.rows(Document.operations.section("## Metrics worth an alarm"))
    let wanted = Set(rows.map { String($0.cells[0].unquoted.prefix { $0 != "{" }) })
    let alerted = Self.metrics(in: Self.expressions.joined(separator: "\n"))
    #expect(Self.expressions.count > 30)
    #expect(wanted.subtracting(alerted) == [])
    #expect(alerted.subtracting(NameTests.metrics) == [])
  }

  @Test func `the dashboard shows metrics that exist`() {
    let lines = Repository.text("deploy/grafana/dashboards/purser.json").split(separator: "\n")
    let shown = lines.map(String.init).filter { $0.contains("\"expr\":") }.map { line in
      Self.metrics(
        in: line.replacing("$__rate_interval", with: "").replacing("_bucket[", with: "["))
    }
    #expect(shown.count > 15)
    #expect(
      shown.reduce(into: Set<String>()) { $0.formUnion($1) }.subtracting(NameTests.metrics) == [])
  }

  @Test func `the topics for Strimzi are those that purser topics makes`() {
    let file = Repository.text("deploy/kubernetes/base/kafka-topics.yaml")
    let objects = file.split(separator: "---").map { object in
      Dictionary(
        object.split(separator: "\n").compactMap { line -> (String, String)? in
          let parts = line.drop { $0 == " " }.split(separator: ":", maxSplits: 1)
          guard parts.count == 2, !line.hasPrefix("#") else { return nil }
          return (String(parts[0]), String(parts[1].drop { $0 == " " }))
        }, uniquingKeysWith: { $1 })
    }
    let names = TopicNames()
    #expect(objects.count == Topic.allCases.count)
    for topic in Topic.allCases {
      let object = objects.first { $0["name"] == names.name(of: topic) }
      #expect(object?["partitions"] == "\(TopicNames.defaultPartitions)", "\(topic)")
      for (setting, value) in topic.settings {
        #expect(object?[setting] == value, "\(topic): \(setting)")
      }
    }
  }
}
