/// A document in Markdown, taken apart.
struct Document: Sendable, CustomStringConvertible {
  /// A piece of it with its line, counted from 1.
  struct Piece: Sendable {
    let line: Int
    let text: String
  }

  /// From the root of the repository.
  let path: String
  /// Lines outside of fenced blocks.
  private(set) var prose: [Piece] = []
  /// Lines inside of fenced blocks.
  private(set) var fenced: [Piece] = []
  /// Lines with a backtick that finds no partner in its line.
  private(set) var unpaired: [Int] = []

  var description: String { path }

  init(_ path: String) {
    self.path = path
    var isFenced = false
    let lines = Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let piece = Piece(line: index + 1, text: String(line))
      if line.drop(while: { $0 == " " }).hasPrefix("```") {
        isFenced.toggle()
      } else if isFenced {
        fenced.append(piece)
      } else {
        prose.append(piece)
        if line.count(where: { $0 == "`" }) % 2 != 0 { unpaired.append(piece.line) }
      }
    }
  }

  /// Lines inside of fenced blocks, those that a backslash continues as one.
  var commands: [Piece] {
    fenced.reduce(into: []) { lines, piece in
      guard let last = lines.last, last.text.hasSuffix("\\") else {
        lines.append(piece)
        return
      }
      lines[lines.count - 1] = Piece(line: last.line, text: last.text.dropLast() + piece.text)
    }
  }

  /// What stands between backticks.
  var spans: [Piece] {
    prose.flatMap { piece in
      piece.text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { !$0.offset.isMultiple(of: 2) }
        .map { Piece(line: piece.line, text: String($0.element)) }
    }
  }

  /// Targets of links, without those to other sites.
  var links: [Piece] {
    prose.flatMap { piece in
      piece.text.split(separator: "](", omittingEmptySubsequences: false).dropFirst()
        .map { Piece(line: piece.line, text: String($0.prefix { $0 != ")" })) }
        .filter { !$0.text.contains("://") && !$0.text.hasPrefix("mailto:") }
    }
  }

  /// The headings as they stand in links: lower case, hyphens for spaces.
  var anchors: Set<String> {
    Set(
      prose.filter { $0.text.hasPrefix("#") }.map { piece in
        let title = piece.text.drop { $0 == "#" || $0 == " " }.lowercased()
        return String(
          title.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
            .map { $0 == " " ? "-" : $0 })
      })
  }

  /// The lines below a heading, up to the next one of its level or above.
  func section(_ heading: String) -> [Piece] {
    let level = heading.prefix { $0 == "#" }.count
    guard let start = prose.firstIndex(where: { $0.text == heading }) else { return [] }
    return Array(
      prose[(start + 1)...].prefix { piece in
        let hashes = piece.text.prefix { $0 == "#" }.count
        return hashes == 0 || hashes > level
      })
  }

  /// The cells of the tables in some lines, without their heads.
  static func rows(_ pieces: [Piece]) -> [(line: Int, cells: [String])] {
    pieces.filter { $0.text.hasPrefix("|") && !$0.text.hasPrefix("|-") }.map { piece in
      let cells = piece.text.split(separator: "|").map { cell in
        String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      }
      return (piece.line, cells)
    }.filter { $0.cells.first?.hasPrefix("`") == true }
  }

  /// Every document: those at the root that speak of the present, and all below `docs/` and `deploy/`.
  static let all: [Document] = {
    let paths = Repository.files.filter { path in
      path.hasSuffix(".md")
        && (path.hasPrefix("docs/") || path.hasPrefix("deploy/")
          || ["README.md", "CONTRIBUTING.md"].contains(path))
    }
    return paths.map(Document.init)
  }()

  static let architecture = Document("docs/architecture.md")
  static let operations = Document("docs/operations.md")
}

extension String {
  /// Without one pair of backticks around it.
  var unquoted: String {
    hasPrefix("`") && hasSuffix("`") && count > 1 ? String(dropFirst().dropLast()) : self
  }

  /// Whether it is lower-case words joined by underscores.
  var isSnakeCase: Bool {
    contains("_") && first?.isLetter == true
      && utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_")
          || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }
}
