import Events
import Testing

/// What the architecture page must not forget.
@Suite("The architecture page is complete") struct ArchitectureTests {
  private static let spans = Set(Document.architecture.spans.map(\.text))

  @Test func `it lists every thread that the code starts`() {
    let rows = Document.rows(Document.architecture.section("## Threads")).map { $0.cells[0].unquoted }
    // Names are built of a constant beginning and a number, or given by the part itself.
    let literal = Repository.literals(after: "DedicatedThread(name: ")
      .map { $0.split(separator: "\\", omittingEmptySubsequences: false).first.map(String.init) ?? "" }
      .filter { !$0.isEmpty }
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
    let listed = Set(
      Document.rows(Document.architecture.section("## Stores and tables"))
        .map { $0.cells[0].unquoted })
    #expect(listed == made)
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
    let map = Document.rows(Document.architecture.section("## File map")).map { $0.cells[0].unquoted }
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
      ["shared(\"", "service(\n      \"", "service(\""].flatMap { marker in
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
          ?? manifest.firstRange(of: "service(\n      \"\(name)\"")
          ?? manifest.firstRange(of: "service(\"\(name)\""))
      let call = manifest[range.upperBound...].prefix { $0 != ")" }
      let wanted = Set(Repository.quoted(in: String(call)).filter { !$0.hasPrefix("C") || $0 == "Catalog" || $0 == "Cryptography" })
      let said = Set(
        row.cells[2].split(separator: "`").map(String.init)
          .filter { $0.first?.isLetter == true && $0.first?.isUppercase == true && !$0.contains(" ") })
      #expect(said == wanted, "imports of \(name)")
    }
  }
}

extension Repository {
  /// Everything in quotes.
  static func quoted(in text: String) -> [String] {
    text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
  }
}
