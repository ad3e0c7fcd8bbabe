import SQLite
import ServiceRuntime
import Synchronization
import Testing

@Suite struct `The writer` {
  let store = TemporaryStore()

  @Test func `a full queue refuses and keeps what it has`() async throws {
    let metrics = Metrics()
    let writer = try store.writer(queueLimit: 3, metrics: metrics)
    let hold = await HeldWriter(writer)
    let tasks = (0..<3).map { number in
      Task { try await writer.write { try insert("\(number)", $0) } }
    }
    #expect(await metrics.hasQueued(3))
    await #expect(throws: WriterBusy(store: "test")) {
      try await writer.write { try insert("one too many", $0) }
    }
    try await hold.letGo()
    for task in tasks { try await task.value }
    #expect(try Set(store.names()) == ["0", "1", "2"])
    #expect(metrics.testCounter("sqlite_refused_jobs_total") == 1)
  }

  @Test func `closing finishes what is queued and refuses what comes later`() async throws {
    let metrics = Metrics()
    let writer = try store.writer(metrics: metrics)
    let hold = await HeldWriter(writer)
    let tasks = (0..<50).map { number in
      Task { try await writer.write { try insert("\(number)", $0) } }
    }
    #expect(await metrics.hasQueued(50))
    let closing = Task { await writer.close(by: .after(.seconds(10))) }
    hold.release.complete(with: ())
    await closing.value
    // The log was moved into the store and removed.
    #expect(!store.exists("store.sqlite-wal"))
    for task in tasks { try await task.value }
    await #expect(throws: WriterClosed(store: "test")) { try await writer.write { _ in } }
    #expect(throws: WriterClosed(store: "test")) { try writer.writeAndWait { _ in } }
    #expect(try store.names().count == 50)
  }

  @Test func `a close that is late fails what still waits`() async throws {
    let metrics = Metrics()
    let writer = try store.writer(metrics: metrics)
    let hold = await HeldWriter(writer)
    let waiting = Task { try await writer.write { try insert("never", $0) } }
    #expect(await metrics.hasQueued(1))
    await writer.close(by: .after(.milliseconds(20)))
    await #expect(throws: WriterClosed(store: "test")) { try await waiting.value }
    try await hold.letGo()
    #expect(try store.names() == [])
  }

  @Test func `a writer that is dropped lets the store go`() async throws {
    try await store.writer().write { try insert("one", $0) }
    var next: Writer?
    #expect(
      await eventually {
        next = try? store.writer()
        return next != nil
      })
    #expect(try store.names() == ["one"])
  }

  @Test func `threads write and wait`() async throws {
    let store = store
    let writer = try store.writer()
    let result = Completion<Result<Int64, any Error>>()
    let thread = DedicatedThread(name: "caller") {
      result.complete(
        with: Result {
          try writer.writeAndWait { transaction in
            try insert("one", transaction)
            return transaction.lastInsertedRowID
          }
        })
    }
    await thread.joined()
    #expect(try result.current?.get() == 1)
    #expect(try store.names() == ["one"])
  }

  @Test func `a second owner is refused and told who has the store`() async throws {
    let writer = try store.writer()
    let error = #expect(throws: SQLiteError.self) { try store.writer() }
    #expect(error?.code == .ownedElsewhere)
    #expect(error?.message.contains(store.path) == true)
    #expect(error?.message.contains("process \(ownProcess())") == true)
    try await writer.write { try insert("still works", $0) }
    await writer.close(by: .after(.seconds(5)))
    let next = try store.writer()
    try await next.write { try insert("next owner", $0) }
    #expect(try store.names() == ["still works", "next owner"])
  }

  @Test func `it runs on its own thread, away from the pool`() async throws {
    let writer = try store.writer()
    let name = try await writer.write { _ in threadName() }
    #expect(name == "sqlite-writer")
  }

  @Test func `the store is written with a full fsync and a write-ahead log`() async throws {
    let writer = try store.writer()
    let settings = try await writer.write { transaction in
      (
        try transaction.first("PRAGMA synchronous") { $0.int(0) },
        try transaction.first("PRAGMA journal_mode") { $0.text(0) },
        try transaction.first("PRAGMA foreign_keys") { $0.int(0) }
      )
    }
    #expect(settings.0 == 2)
    #expect(settings.1 == "wal")
    #expect(settings.2 == 1)
  }

  @Test func `metrics name the store`() async throws {
    let metrics = Metrics()
    let writer = try store.writer(metrics: metrics)
    try await writer.write { try insert("one", $0) }
    let text = metrics.text()
    #expect(text.contains("sqlite_commit_seconds_count{store=\"test\"} 1\n"))
    #expect(text.contains("sqlite_group_jobs_sum{store=\"test\"} 1.0\n"))
    #expect(text.contains("sqlite_queue_jobs{store=\"test\"} 0\n"))
  }
}
