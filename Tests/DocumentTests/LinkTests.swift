import Testing

@Suite("Links and places in documents") struct LinkTests {
  @Test func `there are documents to check`() {
    #expect(Document.all.count > 15)
    #expect(Document.all.flatMap(\.links).count > 20)
    #expect(Document.all.flatMap(\.spans).count > 300)
  }

  @Test(arguments: Document.all)
  func `every relative link leads to a file, and to a heading where it names one`(
    document: Document
  ) {
    let folder = document.path.split(separator: "/").dropLast()
    for link in document.links {
      let parts = link.text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      let target = parts[0].isEmpty ? document.path : Self.resolved(String(parts[0]), from: folder)
      #expect(Repository.exists(target), "\(document):\(link.line) leads to \(target)")
      guard parts.count == 2, target.hasSuffix(".md") else { continue }
      #expect(
        Document(target).anchors.contains(String(parts[1])),
        "\(document):\(link.line): \(target) has no heading #\(parts[1])")
    }
  }

  private static func resolved(_ link: String, from folder: ArraySlice<Substring>) -> String {
    var parts = folder
    for part in link.split(separator: "/") where part != "." {
      if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }

  @Test func `every document below docs is linked from another one`() {
    var linked: Set<String> = []
    for document in Document.all {
      let folder = document.path.split(separator: "/").dropLast()
      for link in document.links {
        let path = String(link.text.prefix { $0 != "#" })
        let target = Self.resolved(path, from: folder)
        if target != document.path { linked.insert(target) }
      }
    }
    let wanted = Repository.files.filter { path in
      path.hasPrefix("docs/") && (path.hasSuffix(".md") || path.hasSuffix(".yaml"))
    }
    #expect(wanted.filter { !linked.contains($0) } == [], "link them from docs/README.md")
  }

  @Test(arguments: Document.all.filter { $0.path != "CONTRIBUTING.md" })
  func `backticks come in pairs within a line, so that the other tests see every code span`(
    document: Document
  ) {
    #expect(document.unpaired == [])
  }
}
