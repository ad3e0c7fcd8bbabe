import Access
import Cryptography
import FoundationEssentials
import HTTPServer
import TestSupport
import Testing

@testable import purser

@Suite("Keys of purser")
struct KeysTests {
  private let folder: String
  private var path: String { "\(folder)/keys" }

  init() throws {
    folder = TestFolder.path("keys-command")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func names() throws -> [String] { try KeyFile(path: path).read().lines.map(\.name) }

  @Test func `keys are made, listed and revoked, each alone`() throws {
    let create = ["keys", "create", "--file", path, "--scopes"]
    #expect(Tool.run(create + ["orders+entitlements:read", "shop", "--expires", "90d"]) == 0)
    #expect(Tool.run(create + ["orders", "shop"]) == 0)
    #expect(Tool.run(create + ["admin", "support"]) == 0)
    #expect(try names() == ["shop", "shop", "support"])
    #expect(Tool.run(["keys", "list", "--file", path]) == 0)
    #expect(Tool.run(["keys", "revoke", "shop", "--file", path]) == 64, "which of the two?")
    let first = try #require(try KeyFile(path: path).read().lines.first)
    #expect(first.expires != nil)
    #expect(Tool.run(["keys", "revoke", "shop", "--key", first.fingerprint, "--file", path]) == 0)
    #expect(try names() == ["shop", "support"])
    #expect(Tool.run(["keys", "revoke", "nobody", "--file", path]) == 64)
    #expect(Tool.run(["keys", "revoke", "shop", "--all", "--file", path]) == 0)
    #expect(try names() == ["support"])
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test(
    arguments: [
      ["shop"], ["shop", "--scopes", "everything"], ["a b", "--scopes", "orders"],
      ["anyone", "--scopes", "orders"], ["", "--scopes", "orders"],
      ["shop", "--scopes", "orders+everything"],
      ["shop", "--scopes", "orders", "--expires", "2020-01-01"],
      ["shop", "--scopes", "orders", "--expires", "0d"],
      ["shop", "--scopes", "orders", "--expires", "soon"],
    ])
  func `a key that cannot be is a wrong command line, and nothing is written`(words: [String])
    throws
  {
    #expect(Tool.run(["keys", "create", "--file", path] + words) == 64)
    #expect(!FileManager.default.fileExists(atPath: path))
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test func `a key file that is not there is said to be missing, not to be empty`() throws {
    #expect(Tool.run(["keys", "list", "--file", path]) == 1)
    #expect(Tool.run(["keys", "revoke", "shop", "--file", path]) == 1)
    let error = #expect(throws: KeyFileError.self) { try KeyFile(path: path).read() }
    #expect(error?.description.contains("is not there; 'purser keys create'") == true)
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test func `the list shows no key, and says what has ended`() throws {
    let line = try #require(
      KeyLine(name: "shop", scopes: [.orders], hash: SHA256.hash("k"), expires: 1_700_000_000_000))
    let table = KeysCommand.table([line], at: 1_700_000_000_000)
    #expect(table.contains("expired 2023-11-14T22:13:20.000Z"))
    #expect(table.contains(line.fingerprint) && !table.contains(SHA256.hex("k")))
    #expect(KeysCommand.table([line], at: 0).contains("until 2023-11-14"))
    #expect(KeysCommand.table([], at: 0) == "no keys")
    try FileManager.default.removeItem(atPath: folder)
  }
}
