import Catalog
import FoundationEssentials
import TestSupport
import Testing

@testable import purser

@Suite("Catalogs of purser")
struct CatalogCommandTests {
  private let folder: String

  init() throws {
    folder = TestFolder.path("catalog")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private static let demo =
    #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(3).joined(separator: "/") + "/deploy/demo"

  private func clean() throws { try FileManager.default.removeItem(atPath: folder) }

  @Test func `a good catalog is told in words, a bad one with exit code 1`() throws {
    #expect(Tool.run(["catalog", "check", "\(Self.demo)/catalog.json"]) == 0)
    #expect(Tool.run(["catalog", "check", "\(Self.demo)/Store.storekit"]) == 0)
    #expect(Tool.run(["catalog", "check", "\(folder)/none.json"]) == 1)
    try Data("{\"products\": {\"a\": {}}}".utf8).write(to: URL(filePath: "\(folder)/bad.json"))
    #expect(Tool.run(["catalog", "check", "\(folder)/bad.json"]) == 1)
    let catalog = try Catalog.load(path: "\(Self.demo)/catalog.json")
    #expect(
      CatalogCommand.summary(catalog).hasPrefix("\(catalog.orderedProducts.count) products ("))
    try clean()
  }

  @Test func `what is exported reads back the same, and nothing is written over`() throws {
    let source = "\(Self.demo)/catalog.json"
    let command = ["catalog", "export", source, "--to", "\(folder)/out"]
    #expect(Tool.run(command) == 0)
    let read = try Catalog.load(path: "\(folder)/out/catalog.json")
    let original = try Catalog.load(path: source)
    #expect(read.products == original.products && read.offerings == original.offerings)
    #expect(Tool.run(command) == 1)
    #expect(Tool.run(["catalog", "export", source]) == 64)
    try clean()
  }

  @Test func `an imported file gives what it gave without a catalog`() throws {
    let source = "\(Self.demo)/Store.storekit"
    try FileManager.default.copyItem(atPath: source, toPath: "\(folder)/Store.storekit")
    let command = [
      "catalog", "import", "\(folder)/Store.storekit", "--to", "\(folder)/catalog.json",
    ]
    #expect(Tool.run(command) == 0)
    #expect(
      try Catalog.load(path: "\(folder)/catalog.json").products
        == Catalog.load(path: source).products)
    #expect(Tool.run(command) == 1, "the file is there")
    try clean()
  }

  @Test func `what cannot be imported or written is said in words`() throws {
    #expect(Tool.run(["catalog", "import", "\(Self.demo)/catalog.json"]) == 64)
    let source = "\(Self.demo)/Store.storekit"
    #expect(
      Tool.run(["catalog", "import", source, "--to", "\(folder)/none/catalog.json"]) == 1)
    // A file stands where the folder is to be.
    try Data().write(to: URL(filePath: "\(folder)/file"))
    #expect(
      Tool.run(["catalog", "export", "\(Self.demo)/catalog.json", "--to", "\(folder)/file"]) == 1)
    let error = FileNotWritten(path: "/a/b", problem: "is no folder and cannot be made")
    #expect(!error.description.contains("Cocoa") && error.description.contains("make its folder"))
    try clean()
  }
}
