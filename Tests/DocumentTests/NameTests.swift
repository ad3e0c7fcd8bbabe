import Events
import Testing

@Suite("Names of metrics, tables and fields in documents") struct NameTests {
  static let metrics: Set<String> = Set(
    ["counter(", "gauge(", "histogram(", "reading(", "readings("]
      .flatMap { Repository.literals(after: $0).filter(\.isSnakeCase) })

  @Test func `the metrics of the code are found`() {
    #expect(Self.metrics.count > 50)
    #expect(Self.metrics.isSuperset(of: ["outbox_undelivered", "http_refused_total"]))
  }

  @Test(arguments: Document.all)
  func `every metric that is named exists in the code`(document: Document) {
    for span in document.spans {
      let name = String(span.text.prefix { $0 != "{" && $0 != "[" })
      guard name.isSnakeCase, name.hasSuffix("_total") || name.hasSuffix("_seconds") else {
        continue
      }
      #expect(Self.metrics.contains(name), "\(document):\(span.line): no metric \(name)")
    }
  }

  @Test(arguments: Document.all)
  func `every other name of that form stands somewhere in the code`(document: Document) {
    for span in document.spans where span.text.isSnakeCase && !Self.metrics.contains(span.text) {
      #expect(
        Repository.everySource.contains(span.text),
        "\(document):\(span.line): nothing in the code is called \(span.text)")
    }
  }
}
