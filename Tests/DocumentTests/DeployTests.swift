import Events
import Testing

/// What `deploy/` says of topics and metrics, held against the code; alarms are in `AlarmTests.swift`.
@Suite("Dashboards and topics in deploy/") struct DeployTests {
  /// Metrics that stand in alerts or dashboards; functions and labels have no underscore, or are left out.
  static func metrics(in text: String) -> Set<String> {
    let words = text.replacing("_bucket", with: "").split {
      !($0.isLetter || $0.isNumber || $0 == "_")
    }.map(String.init)
    return Set(words.filter { $0.isSnakeCase && $0 != "histogram_quantile" })
  }

  @Test func `the dashboard shows metrics that exist`() {
    let lines = Repository.text("deploy/grafana/dashboards/purser.json").split(separator: "\n")
    let shown = lines.map(String.init).filter { $0.contains("\"expr\":") }.map { line in
      Self.metrics(in: line.replacing("$__rate_interval", with: ""))
    }
    #expect(shown.count > 15)
    #expect(
      shown.reduce(into: Set<String>()) { $0.formUnion($1) }.subtracting(NameTests.metrics) == [])
  }

  /// At its start a service reads the end of a topic of its own.
  @Test(arguments: ["order-service", "verify-service", "entitlement-service"])
  func `who may read what a service has published is the service itself`(service: String) throws {
    let code = Repository.codeTexts.filter { $0.path.hasPrefix("Services/\(service)/") }
    let own = try #require(
      code.lazy.compactMap { file in
        file.text.firstRange(of: "own: .").map { range in
          "iap." + String(file.text[range.upperBound...].prefix { $0.isLetter })
        }
      }.first)
    let row = try #require(
      Document.operations.section("## Start").first { $0.text.hasPrefix("| \(service) |") })
    #expect(row.text.split(separator: "|")[1].contains("`\(own)`"))
    let user = service == "verify-service" ? "verify-ledger" : service
    let users = Repository.text("deploy/kubernetes/base/kafka-users.yaml")
    let start = try #require(users.firstRange(of: "name: purser-\(user)\n"))
    let rights = users[start.upperBound...].split(separator: "\n").map(String.init)
    let line = try #require(rights.firstIndex { $0.contains("name: \(own) }") })
    #expect(rights[line + 1].contains("[Read, "), "\(user): \(rights[line + 1])")
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
