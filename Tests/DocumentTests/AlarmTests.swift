import Testing

@Suite("What the operator does at an alarm") struct AlarmTests {
  /// An entry below "Metrics worth an alarm": what stands under a heading of the third level.
  struct Entry: Sendable, CustomStringConvertible {
    let name: String
    let line: Int
    let text: String

    var description: String { name }
    /// Metrics that stand between backticks before the first point.
    var metrics: [String] {
      let head = text.firstRange(of: "\n- **").map { text[..<$0.lowerBound] } ?? text[...]
      return Repository.quoted(in: String(head), by: "`").filter(\.isSnakeCase)
    }
  }

  static let entries: [Entry] = {
    var entries: [Entry] = []
    for piece in Document.operations.section("## Metrics worth an alarm") {
      if piece.text.hasPrefix("### ") {
        entries.append(
          Entry(name: String(piece.text.dropFirst(4)), line: piece.line, text: ""))
      } else if let last = entries.popLast() {
        entries.append(
          Entry(name: last.name, line: last.line, text: last.text + piece.text + "\n"))
      }
    }
    return entries
  }()

  /// A rule of `deploy/prometheus/rules/`: its name, its lines.
  struct Alert: Sendable, CustomStringConvertible {
    let name: String
    var lines: [String] = []

    var description: String { name }
    /// The line behind `expr:`.
    var expression: String {
      lines.firstIndex { $0.contains("expr: >-") }.map { lines[$0 + 1] } ?? ""
    }
    /// What stands behind a key in its line.
    func value(of key: String) -> String? {
      lines.compactMap { line in
        line.firstRange(of: "\(key): ").map { String(line[$0.upperBound...]) }
      }.first
    }
  }

  static let alerts: [Alert] = {
    var alerts: [Alert] = []
    let files = Repository.files.filter {
      $0.hasPrefix("deploy/prometheus/rules/") && $0.hasSuffix(".yml")
    }
    for line in files.flatMap({ Repository.text($0).split(separator: "\n").map(String.init) }) {
      if let range = line.firstRange(of: "- alert: ") {
        alerts.append(Alert(name: String(line[range.upperBound...])))
      } else if !alerts.isEmpty {
        alerts[alerts.count - 1].lines.append(line)
      }
    }
    return alerts
  }()

  @Test func `every alert has its entry, and every entry its alert`() {
    #expect(Self.alerts.count > 45)
    #expect(Self.entries.map(\.name).sorted() == Self.alerts.map(\.name).sorted())
  }

  @Test(arguments: AlarmTests.alerts)
  func `an alert leads to its entry, and is on metrics that exist and that the entry names`(
    alert: Alert
  ) throws {
    #expect(alert.value(of: "runbook") == "docs/operations.md#\(alert.name.lowercased())")
    #expect(Document.operations.anchors.contains(alert.name.lowercased()))
    let severity = try #require(alert.value(of: "labels")).contains("page") ? "*page*" : "*ticket*"
    let entry = try #require(Self.entries.first { $0.name == alert.name })
    #expect(entry.text.contains(severity), "\(alert): \(severity)")
    let metrics = DeployTests.metrics(in: alert.expression)
    #expect(alert.name == "PurserDown" || !metrics.isEmpty)
    for metric in metrics {
      #expect(NameTests.metrics.contains(metric), "\(alert): no metric \(metric)")
      #expect(entry.metrics.contains(metric), "the entry of \(alert) does not name \(metric)")
    }
  }

  @Test(arguments: AlarmTests.entries)
  func `an entry says what it means, how to look and what to do, about metrics that exist`(
    entry: Entry
  ) {
    #expect(entry.name.hasPrefix("Purser"))
    for point in ["Means", "Look", "Do"] {
      #expect(entry.text.contains("**\(point)**"), "\(entry.name) lacks \(point)")
    }
    #expect(entry.text.contains("*page*") != entry.text.contains("*ticket*"))
    // `up` is Prometheus's own.
    #expect(entry.name == "PurserDown" || !entry.metrics.isEmpty)
    for metric in entry.metrics {
      #expect(NameTests.metrics.contains(metric), "\(entry.name): no metric \(metric)")
    }
  }
}
