import Glibc
import SQLite
import ServiceRuntime
import Synchronization
import Testing

@Suite struct `Group commit` {
  let store = TemporaryStore()

  @Test func `two thousand waiting writes become eight commits`() async throws {
    let metrics = Metrics()
    let writer = try store.writer(metrics: metrics)
    let hold = await HeldWriter(writer)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<2000 {
        group.addTask { try await writer.write { try insert("\(number)", $0) } }
      }
      #expect(await metrics.hasQueued(2000))
      try await hold.letGo()
      try await group.waitForAll()
    }
    #expect(try store.names().count == 2000)
    // One for the job that held the writer, then 2000 / 256 rounded up.
    #expect(metrics.testCounter("sqlite_commits_total") == 1 + 8)
    #expect(metrics.testCounter("sqlite_committed_jobs_total") == 2001)
  }

  @Test func `a failing write leaves its neighbours alone`() async throws {
    let metrics = Metrics()
    let writer = try store.writer(metrics: metrics)
    let hold = await HeldWriter(writer)
    let before = Task { try await writer.write { try insert("before", $0) } }
    #expect(await metrics.hasQueued(1))
    let failing = Task {
      try await writer.write { transaction in
        try insert("undone", transaction)
        throw Refusal()
      }
    }
    #expect(await metrics.hasQueued(2))
    let broken = Task {
      try await writer.write { try $0.run("INSERT INTO item (name) VALUES (?)", "before") }
    }
    #expect(await metrics.hasQueued(3))
    let after = Task { try await writer.write { try insert("after", $0) } }
    #expect(await metrics.hasQueued(4))
    try await hold.letGo()

    try await before.value
    try await after.value
    await #expect(throws: Refusal()) { try await failing.value }
    let error = await #expect(throws: SQLiteError.self) { try await broken.value }
    #expect(error?.code == .constraintUnique)
    #expect(error?.isStorageFailure == false)
    #expect(try store.names() == ["before", "after"])
    #expect(metrics.testCounter("sqlite_commits_total") == 2)
    #expect(metrics.testCounter("sqlite_failed_jobs_total") == 2)
  }

  @Test func `a write is answered only after its commit`() async throws {
    let store = store
    let seenBeforeCommit = Mutex<[[String]]>([])
    let answered = Atomic<Bool>(false)
    let answeredBeforeCommit = Atomic<Bool>(false)
    let writer = try store.writer { _ in
      let names = (try? store.names()) ?? ["unreadable"]
      seenBeforeCommit.withLock { $0.append(names) }
      if answered.load(ordering: .acquiring) {
        answeredBeforeCommit.store(true, ordering: .releasing)
      }
    }
    try await writer.write { try insert("one", $0) }
    answered.store(true, ordering: .releasing)
    #expect(try store.names() == ["one"])
    #expect(seenBeforeCommit.withLock { $0 } == [[]])
    let wasEarly = answeredBeforeCommit.load(ordering: .acquiring)
    #expect(!wasEarly)
  }

  @Test func `an answered write survives kill -9`() async throws {
    let path = store.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let writer = try Writer(path: path, migrations: TemporaryStore.migrations)
      try await writer.write { try insert("kept", $0) }
      kill(getpid(), SIGKILL)
    }
    let writer = try store.writer()
    let names = try await writer.write { try $0.query("SELECT name FROM item") { $0.text(0) } }
    #expect(names == ["kept"])
  }

  @Test func `a failed commit fails every job of the group and the next group is written`()
    async throws
  {
    let metrics = Metrics()
    let isBroken = Atomic<Bool>(true)
    let writer = try store.writer(metrics: metrics) { connection in
      let hasA = try connection.first("SELECT 1 FROM item WHERE name = 'a'") { $0.bool(0) }
      if hasA == true && isBroken.load(ordering: .acquiring) {
        throw SQLiteError(code: .ioError, message: "the disk is gone")
      }
    }
    let hold = await HeldWriter(writer)
    let tasks = ["a", "b"].map { name in
      Task { try await writer.write { try insert(name, $0) } }
    }
    // What it saw was never committed, so that its own error would be an answer too early.
    let failing = Task { try await writer.write { _ in throw Refusal() } }
    #expect(await metrics.hasQueued(3))
    try await hold.letGo()
    for task in tasks + [failing] {
      let error = await #expect(throws: SQLiteError.self) { try await task.value }
      #expect(error?.code == .ioError)
      #expect(error?.isStorageFailure == true)
    }
    #expect(try store.names() == [])
    #expect(metrics.testCounter("sqlite_storage_failures_total") == 1)

    isBroken.store(false, ordering: .releasing)
    try await writer.write { try insert("a", $0) }
    #expect(try store.names() == ["a"])
  }
}
