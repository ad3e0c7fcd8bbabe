import SQLite
import ServiceRuntime
import Testing

@Suite struct `Snapshot readers` {
  let store = TemporaryStore()

  @Test func `a read sees every write that was answered`() async throws {
    let writer = try store.writer()
    let readers = try Readers(path: store.path)
    for number in 1...50 {
      try await writer.write { try insert("\(number)", $0) }
      let count = try await readers.read { try $0.first("SELECT count(*) FROM item") { $0.int(0) } }
      #expect(count == Int64(number))
    }
  }

  @Test func `a read has one snapshot while the writer goes on`() async throws {
    let writer = try store.writer()
    let readers = try Readers(path: store.path)
    try await writer.write { try insert("before", $0) }
    let count = "SELECT count(*) FROM item"
    let counts = try await readers.read { reader in
      let before = try reader.first(count) { $0.int(0) }
      try writer.writeAndWait { try insert("meanwhile", $0) }
      return [before, try reader.first(count) { $0.int(0) }]
    }
    #expect(counts == [1, 1])
    let after = try await readers.read { try $0.first(count) { $0.int(0) } }
    #expect(after == 2)
  }

  @Test func `readers cannot write or hold a snapshot`() async throws {
    let writer = try store.writer()
    let readers = try Readers(path: store.path, count: 1)
    for sql in ["INSERT INTO item (name) VALUES ('x')", "DROP TABLE item", "COMMIT", "BEGIN"] {
      let error = await #expect(throws: SQLiteError.self) {
        try await readers.read { try $0.query(sql) { $0.int(0) } }
      }
      #expect(error?.code.primary == .readOnly || error?.code.primary == .notAuthorized)
    }
    try await writer.write { try insert("one", $0) }
    let names = try await readers.read { try $0.query("SELECT name FROM item") { $0.text(0) } }
    #expect(names == ["one"])
  }

  @Test func `a job's own error reaches its caller`() async throws {
    let writer = try store.writer()
    let readers = try Readers(path: store.path)
    await #expect(throws: Refusal()) { try await readers.read { _ in throw Refusal() } }
    await writer.close(by: .after(.seconds(5)))
  }

  @Test func `a full queue refuses, and closing finishes what waits`() async throws {
    let writer = try store.writer()
    try await writer.write { try insert("one", $0) }
    let metrics = Metrics()
    let readers = try Readers(
      path: store.path, count: 1, queueLimit: 2, metrics: metrics, name: "test")
    let entered = Completion<Void>()
    let release = Completion<Void>()
    let held = Task {
      try await readers.read { _ in
        entered.complete(with: ())
        release.wait()
      }
    }
    await entered.value()
    let waiting = (0..<2).map { _ in
      Task { try await readers.read { try $0.first("SELECT name FROM item") { $0.text(0) } } }
    }
    #expect(
      await eventually { metrics.text().contains("sqlite_read_queue_jobs{store=\"test\"} 2\n") })
    await #expect(throws: ReadersBusy(store: "test")) { try await readers.read { _ in } }
    let closing = Task { await readers.close(by: .after(.seconds(10))) }
    release.complete(with: ())
    await closing.value
    try await held.value
    for task in waiting { #expect(try await task.value == "one") }
    await #expect(throws: ReadersClosed(store: "test")) { try await readers.read { _ in } }
  }

  @Test func `readers have threads of their own`() async throws {
    let writer = try store.writer()
    let readers = try Readers(path: store.path, count: 1)
    #expect(try await readers.read { _ in threadName() } == "sqlite-read-0")
    #expect(try readers.readAndWait { try $0.query("SELECT 1") { $0.int(0) } } == [1])
    await writer.close(by: .after(.seconds(5)))
  }

  @Test func `a store that is not there is refused`() throws {
    let error = #expect(throws: SQLiteError.self) { try Readers(path: store.path) }
    #expect(error?.code.primary == .cannotOpen)
    #expect(error?.message.contains(store.path) == true)
  }
}
