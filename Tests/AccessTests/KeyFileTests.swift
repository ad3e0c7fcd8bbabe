import Cryptography
import FoundationEssentials
import Glibc
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@testable import Access

@Suite("Changes of a key file")
struct KeyFileTests {
  private let folder: String
  private var path: String { "\(folder)/keys" }

  init() throws {
    folder = TestFolder.path("keys")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func clean() throws { try FileManager.default.removeItem(atPath: folder) }

  private func line(_ name: String, _ key: String) throws -> KeyLine {
    try #require(KeyLine(name: name, scopes: [.orders], hash: SHA256.hash(key), expires: nil))
  }

  private var text: String {
    get throws { String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self) }
  }

  @Test func `a new file is for its owner alone, and only the lines remain beside it`() throws {
    let file = KeyFile(path: path)
    try file.add(try line("a", "1"))
    try file.add(try line("b", "2"))
    #expect(try file.read().lines.map(\.name) == ["a", "b"])
    var status = stat()
    #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["keys", "keys.lock"])
    try clean()
  }

  @Test func `comments, other lines and the file's rights stay as they are`() throws {
    let kept =
      "# ours\n\n  b:admin:\(SHA256.hex("2"))  expires=2030-01-01\n#a:orders:\(SHA256.hex("1"))\n"
    try Data("a:orders:\(SHA256.hex("1"))\n\(kept)".utf8).write(to: URL(filePath: path))
    #expect(unsafe chmod(path, 0o640) == 0)
    let file = KeyFile(path: path)
    try file.remove([try line("a", "1")])
    #expect(try text == kept)
    try file.add(try line("c", "3"))
    #expect(try text == kept + "c:orders:\(SHA256.hex("3"))\n")
    var status = stat()
    #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    try clean()
  }

  @Test func `a file that cannot be used is left alone`() throws {
    try Data("nonsense\n".utf8).write(to: URL(filePath: path))
    let file = KeyFile(path: path)
    #expect(throws: AccessKeysError.self) { try file.add(try line("a", "1")) }
    #expect(try text == "nonsense\n")
    #expect(throws: KeyFileError.self) {
      try KeyFile(path: "\(folder)/none/keys").add(try line("a", "1"))
    }
    try clean()
  }

  @Test func `many changes at once lose none`() async throws {
    let path = path
    let lines = try (0..<40).map { try line("key\($0)", "\($0)") }
    await withTaskGroup { group in
      for part in 0..<4 {
        group.addTask {
          let thread = DedicatedThread(name: "keys-\(part)") {
            for line in lines.dropFirst(part * 10).prefix(10) { try? KeyFile(path: path).add(line) }
          }
          await thread.joined()
        }
      }
    }
    #expect(Set(try KeyFile(path: path).read().lines.map(\.name)).count == 40)
    try clean()
  }
}
