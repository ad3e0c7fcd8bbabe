import Testing

/// Files and functions that documents name, as `File.swift`, `Folder/File.swift:function` or
/// `Shared/Folder/`.
@Suite("Files and functions in documents") struct PlaceTests {
  private static let folders = ["Shared/", "Services/", "Tests/", "deploy/", "docs/", ".ci/"]
  private static let endings = [".swift", ".c", ".h", ".md", ".yaml"]

  struct Place: Equatable {
    let path: String
    let name: String?

    /// Nil for text that names no place: other words, and patterns for many places.
    init?(_ text: String) {
      let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
      guard let path = parts.first, !text.contains(where: { "*<>{}… ()".contains($0) }),
        PlaceTests.folders.contains(where: { path.hasPrefix($0) })
          || PlaceTests.endings.contains(where: { path.hasSuffix($0) && path.count > $0.count })
      else { return nil }
      self.path = path
      name = parts.count > 1 ? parts[1] : nil
    }
  }

  private static let declarations = [
    "func ", "var ", "let ", "case ", "struct ", "class ", "enum ", "protocol ", "typealias ",
    "extension ",
  ]

  /// Whether a file declares something of this name; in C, whether it speaks of it.
  private static func declares(_ name: String, _ path: String) -> Bool {
    let text = Repository.text(path)
    guard path.hasSuffix(".swift") else { return text.contains(name) }
    if name == "init" { return text.contains("init(") }
    return declarations.contains { word in
      text.ranges(of: word + name).contains { range in
        guard range.upperBound < text.endIndex else { return true }
        let next = text[range.upperBound]
        return !next.isLetter && !next.isNumber && next != "_"
      }
    }
  }

  @Test(arguments: Document.all)
  func `every file that is named exists, and declares what is named in it`(document: Document) {
    for span in document.spans {
      guard let place = Place(span.text) else { continue }
      if place.path.hasSuffix("/") {
        #expect(
          Repository.isFolder(place.path), "\(document):\(span.line): no folder \(place.path)")
        continue
      }
      if place.name == nil && Repository.isFolder(place.path) { continue }
      let found = Repository.files(endingWith: place.path)
      #expect(!found.isEmpty, "\(document):\(span.line): no file \(place.path)")
      guard let name = place.name else { continue }
      #expect(
        found.contains { Self.declares(name, $0) },
        "\(document):\(span.line): \(place.path) declares no \(name)")
    }
  }

  @Test func `the walk through the architecture names many functions`() {
    let places = Document.architecture.spans.compactMap { Place($0.text) }
    #expect(places.count { $0.name != nil } > 60)
  }

  @Test func `a place is told from other words`() {
    #expect(Place("Pipeline/Batch.swift:apply")?.name == "apply")
    #expect(Place("Shared/Pipeline/")?.path == "Shared/Pipeline/")
    #expect(Place("purser.json") == nil)
    #expect(Place("Services/*/Settings.swift") == nil)
    #expect(Place("iap.orders") == nil)
  }

  @Test func `what a file does not declare is noticed`() {
    #expect(Self.declares("apply", "Shared/Pipeline/Batch.swift"))
    #expect(!Self.declares("appl", "Shared/Pipeline/Batch.swift"))
    #expect(!Self.declares("positionBeyondEnd", "Shared/Pipeline/Batch.swift"))
  }
}
