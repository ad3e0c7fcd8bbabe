import Events
import Testing

/// What the architecture page must not forget.
@Suite("The architecture page is complete") struct ArchitectureTests {
  /// The first column of the table below a heading.
  private static func names(below heading: String) -> [String] {
    Document.rows(Document.architecture.section(heading)).map { $0.cells[0].unquoted }
  }

  @Test func `it lists every thread that the code starts`() {
    let rows = Self.names(below: "## Threads")
    // Names are built of a constant beginning and a number, or given by the part itself.
    let literal = Repository.literals(after: "DedicatedThread(name: ")
      .map { name in String(name.prefix { $0 != "\\" }) }.filter { !$0.isEmpty }
    #expect(literal.count > 6)
    let own = ["kafka-in", "relay", "timers", "http-client-"]
    for name in Set(literal).union(own) {
      #expect(
        rows.contains { $0 == name || $0.hasPrefix(name) }, "the table of threads lacks \(name)")
    }
  }

  @Test func `it lists every table that a store has, and no other`() {
    let made = Set(
      Repository.codeTexts.flatMap { file in
        file.text.ranges(of: "CREATE TABLE ").map { range in
          String(file.text[range.upperBound...].prefix { $0.isLetter || $0 == "_" })
        }
      })
    #expect(made.count > 10)
    #expect(Set(Self.names(below: "## Stores and tables")) == made)
  }

  @Test(arguments: Topic.allCases)
  func `it lists every topic with the cleanup that the code asks for`(topic: Topic) throws {
    let rows = Document.rows(Document.architecture.section("## Topics and keys"))
    let name = TopicNames().name(of: topic)
    let row = try #require(rows.first { $0.cells[0].unquoted == name }, "no row for \(name)")
    let cleanup =
      switch topic.cleanup {
      case .keep: "keep"
      case .after(let milliseconds): "\(milliseconds / 86_400_000) days"
      case .compact: "compact"
      }
    #expect(row.cells.contains(cleanup), "\(name): \(row.cells)")
  }

  @Test func `the file map has a row for every folder of code`() {
    let folders = Set(
      Repository.code.map { path in path.split(separator: "/").dropLast().joined(separator: "/") }
    ).filter { !$0.hasPrefix("Shared/CLibraries") }
    let map = Self.names(below: "## File map")
    #expect(folders.count > 20)
    for folder in folders.sorted() {
      #expect(map.contains("\(folder)/"), "the file map lacks \(folder)/")
    }
    for row in map { #expect(Repository.exists(row), "the file map names \(row)") }
  }

  @Test func `the table of modules has every module, with the imports of the manifest`() throws {
    let rows = Document.rows(Document.architecture.section("## Modules"))
    let manifest = Repository.text("Package.swift")
    let names = Set(
      ["shared(\"", "shared(\n      \"", "service(\n      \"", "service(\""].flatMap { marker in
        manifest.ranges(of: marker).map { range in
          String(manifest[range.upperBound...].prefix { $0 != "\"" })
        }
      })
    #expect(names.count > 14)
    #expect(Set(rows.map { $0.cells[0].unquoted }) == names)
    for row in rows {
      let name = row.cells[0].unquoted
      let range = try #require(
        manifest.firstRange(of: "shared(\"\(name)\"")
          ?? manifest.firstRange(of: "shared(\n      \"\(name)\"")
          ?? manifest.firstRange(of: "service(\n      \"\(name)\"")
          ?? manifest.firstRange(of: "service(\"\(name)\""))
      let call = manifest[range.upperBound...].prefix { $0 != ")" }
      let wanted = Set(Repository.quoted(in: String(call))).intersection(names)
      let said = Set(Repository.quoted(in: row.cells[2], by: "`"))
      #expect(said == wanted, "imports of \(name)")
    }
  }
}

extension Repository {
  /// Everything in quotes.
  static func quoted(in text: String, by quote: Character = "\"") -> [String] {
    text.split(separator: quote, omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
  }
}
