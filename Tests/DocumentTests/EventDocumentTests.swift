import Events
import Testing

@Suite("The pages for subscribers") struct EventDocumentTests {
  private static let page = Document("docs/events/README.md")
  private static let reference = Document("docs/events/reference.md")
  private static let published = Set(Repository.literals(after: "EventType(rawValue: "))
    .union(Repository.literals(after: "EventType(\n    rawValue: "))

  @Test func `every type of event is explained, with a schema beside it`() {
    #expect(Self.published.count > 15)
    let spans = Set(Self.reference.spans.map(\.text))
    for type in Self.published {
      #expect(spans.contains(type))
      #expect(Repository.exists("docs/events/schemas/\(type).json"))
    }
  }

  @Test func `every field has its meaning`() {
    let rows = Document.rows(Self.reference.prose)
    #expect(rows.count > 200)
    for row in rows { #expect(row.cells.last?.isEmpty == false, "\(Self.reference):\(row.line)") }
  }

  @Test(arguments: [page, reference])
  func `no type is named that is not published`(document: Document) {
    let named = document.spans.map(\.text).filter {
      $0.hasPrefix("purser.") && $0.hasSuffix(".v1")
    }
    #expect(!named.isEmpty && Set(named).isSubset(of: Self.published))
  }
}
