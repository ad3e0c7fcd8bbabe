import Testing

@Suite("Decisions") struct DecisionTests {
  private static let pages = Document.all.filter {
    $0.path.hasPrefix("docs/decisions/0")
  }

  @Test func `each has a number of its own, and the list names each`() {
    let numbers = Self.pages.compactMap { Int($0.path.split(separator: "/")[2].prefix(4)) }
    #expect(numbers.count == Self.pages.count && Set(numbers).count == numbers.count)
    #expect(numbers.count > 8)
    let listed = Set(Document("docs/decisions/README.md").links.map(\.text))
    for page in Self.pages {
      #expect(listed.contains(String(page.path.dropFirst("docs/decisions/".count))), "\(page)")
    }
  }

  @Test(arguments: pages)
  func `each is one page with context, decision and consequences`(page: Document) {
    let headings = page.prose.map(\.text).filter { $0.hasPrefix("## ") }
    #expect(headings == ["## Context", "## Decision", "## Consequences"])
    for heading in headings {
      #expect(page.section(heading).contains { !$0.text.isEmpty }, "\(page): \(heading) is empty")
    }
    #expect(page.prose.count + page.fenced.count < 60)
  }
}
