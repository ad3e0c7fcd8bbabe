import Catalog
import FoundationEssentials
import TestSupport
import Testing

/// Files that the tests read, found from this file's own place.
enum TestFiles {
  static let packageRoot: String = {
    // Tests/CatalogTests/TestFiles.swift is three steps below the root.
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/")
  }()

  static func storeKit(_ name: String) -> String {
    "\(packageRoot)/../shared/testdata/storekit/\(name).storekit"
  }

  static func demo(_ name: String) -> String { "\(packageRoot)/deploy/demo/\(name)" }

  static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: path)))
  }

  /// Runs `body` with a folder of its own that is removed afterwards.
  static func withFolder(_ body: (String) throws -> Void) throws {
    let path = TestFolder.path("catalog")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  static func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
  }
}

/// A catalog from the text of a `catalog.json`, with the `.storekit` text that it may name.
func catalog(_ json: String, storeKit: String = "") throws(CatalogError) -> Catalog {
  try Catalog(json: Array(json.utf8), file: "catalog.json") { (_) throws(CatalogError) in
    Array(storeKit.utf8)
  }
}

/// The same, where another thing is called `catalog`.
func makeCatalog(_ json: String, storeKit: String = "") throws(CatalogError) -> Catalog {
  try catalog(json, storeKit: storeKit)
}

/// The faults of a source; an issue is recorded if it has none.
func faults(
  in json: String, storeKit: String = "", sourceLocation: SourceLocation = #_sourceLocation
) -> [Fault] {
  do {
    _ = try catalog(json, storeKit: storeKit)
  } catch .faults(let faults) {
    return faults
  } catch {
    Issue.record("not a list of faults: \(error)", sourceLocation: sourceLocation)
    return []
  }
  Issue.record("read without a fault", sourceLocation: sourceLocation)
  return []
}

/// The faults of a `.storekit` file; an issue is recorded if it has none.
func storeKitFaults(
  in text: String, sourceLocation: SourceLocation = #_sourceLocation
) -> [Fault] {
  faults(in: #"{"storekit": "S.storekit"}"#, storeKit: text, sourceLocation: sourceLocation)
}
