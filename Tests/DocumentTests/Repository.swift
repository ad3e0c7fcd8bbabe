import FoundationEssentials
import TestSupport

/// The files of the repository, as the documents name them.
enum Repository {
  static let root = TestData.packageRoot

  /// Every file of the folders that people write, by its path from the root.
  static let files: [String] = {
    let folders = [".ci", "Services", "Shared", "Tests", "deploy", "docs"]
    let below = folders.flatMap { folder in
      ((try? FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")) ?? [])
        .map { "\(folder)/\($0)" }
    }
    let top = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return (below + top).filter { !isFolder($0) }.sorted()
  }()

  /// Swift and C of services, shared modules and tests.
  static let sources = files.filter { path in
    [".swift", ".c", ".h"].contains { path.hasSuffix($0) }
  }

  /// Swift of what runs in production and of the tools: no tests.
  static let code = sources.filter { $0.hasPrefix("Services/") || $0.hasPrefix("Shared/") }

  static func isFolder(_ path: String) -> Bool {
    var isFolder = false
    let exists = FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder)
    return exists && isFolder
  }

  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(root)/\(path)")
  }

  static func text(_ path: String) -> String {
    guard let data = FileManager.default.contents(atPath: "\(root)/\(path)") else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  /// The files whose path ends with the given one, at a folder's boundary.
  static func files(endingWith path: String) -> [String] {
    files.filter { $0 == path || $0.hasSuffix("/\(path)") }
  }

  /// The text of every file of `code`, which several tests search.
  static let codeTexts: [(path: String, text: String)] = code.map { ($0, text($0)) }
  /// All of it, with the tests' own.
  static let everySource = sources.map(text).joined(separator: "\n")

  /// What stands in quotes right behind a marker, such as the name in `counter("name"`.
  static func literals(after marker: String, in text: String) -> [String] {
    text.ranges(of: marker).compactMap { range in
      let rest = text[range.upperBound...].drop { $0.isWhitespace }
      guard rest.first == "\"" else { return nil }
      return String(rest.dropFirst().prefix { $0 != "\"" })
    }
  }

  /// The same over all of the code.
  static func literals(after marker: String) -> Set<String> {
    Set(codeTexts.flatMap { literals(after: marker, in: $0.text) })
  }
}
