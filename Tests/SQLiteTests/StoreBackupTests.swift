import FoundationEssentials
import SQLite
import ServiceRuntime
import Synchronization
import Testing

@Suite("Copies of a store") struct StoreBackupTests {
  @Test func `a copy is one state of the store while its service writes on`() async throws {
    let store = TemporaryStore()
    let writer = try store.writer()
    for number in 0..<2000 {
      try await writer.write { transaction in
        try transaction.run(
          "INSERT INTO item (name, body) VALUES (?, ?)", "before-\(number)",
          [UInt8](repeating: 7, count: 2000))
      }
    }
    let target = "\(store.folder)/copy.sqlite"
    let source = store.path
    let written = Mutex(0)
    // Between the parts of the copy the service commits: none of it may be in the copy.
    try await DedicatedThread.run(named: "test-backup") {
      try StoreBackup.copy(from: source, to: target) { _, _ in
        let number = written.withLock { count in
          count += 1
          return count
        }
        try? writer.writeAndWait { try insert("during-\(number)", $0) }
      }
    }
    #expect(written.withLock { $0 } > 1, "the copy was made in parts")
    let copy = try Connection(path: target, mode: .readOnly)
    #expect(try copy.first("SELECT COUNT(*) FROM item") { $0.int(0) } == 2000)
    #expect(try copy.first("PRAGMA user_version") { $0.int(0) } == 1)
    #expect(!FileManager.default.fileExists(atPath: "\(target)-wal"))
    let attributes = try FileManager.default.attributesOfItem(atPath: target)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let names = try store.names()
    #expect(names.count > 2000, "the service went on")
    await writer.close(by: .after(.seconds(5)))
  }

  @Test func `a copy writes over nothing, and a failed one leaves nothing`() throws {
    let store = TemporaryStore()
    let target = "\(store.folder)/copy.sqlite"
    #expect(throws: SQLiteError.self) {
      try StoreBackup.copy(from: store.path, to: target)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder).isEmpty)
    try Data("mine".utf8).write(to: URL(filePath: target))
    #expect(throws: SQLiteError.self) {
      try StoreBackup.copy(from: store.path, to: target)
    }
    #expect(try Data(contentsOf: URL(filePath: target)) == Data("mine".utf8))
  }
}
