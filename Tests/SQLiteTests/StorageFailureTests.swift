import Glibc
import SQLite
import ServiceRuntime
import Synchronization
import Testing

@Suite struct `A store that cannot be written` {
  let store = TemporaryStore()

  @Test
  func `a full store refuses with a storage failure and takes writes again when there is room`()
    async throws
  {
    let pages = Mutex(1)  // SQLite never goes below what the store has.
    let writer = try store.writer { connection in
      let limit = pages.withLock { $0 }
      _ = try connection.query("PRAGMA max_page_count = \(limit)") { $0.int(0) }
    }
    try await writer.write { try insert("first", $0) }
    let big = [UInt8](repeating: 7, count: 100_000)
    let error = await #expect(throws: SQLiteError.self) {
      try await writer.write { transaction in
        try transaction.run("INSERT INTO item (name, body) VALUES (?, ?)", "big", big)
      }
    }
    #expect(error?.code.primary == .full)
    #expect(error?.isStorageFailure == true)
    #expect(try store.names() == ["first"])

    pages.withLock { $0 = 1_000_000 }
    try await writer.write { _ in }
    try await writer.write { transaction in
      try transaction.run("INSERT INTO item (name, body) VALUES (?, ?)", "big", big)
    }
    #expect(try store.names() == ["first", "big"])
  }

  @Test func `a full store loses the group but no job is answered wrongly`() async throws {
    let metrics = Metrics()
    let writer = try store.writer(metrics: metrics) { connection in
      _ = try connection.query("PRAGMA max_page_count = 1") { $0.int(0) }
    }
    try await writer.write { try insert("first", $0) }
    let hold = await HeldWriter(writer)
    let big = [UInt8](repeating: 7, count: 100_000)
    let bodies: [(String, [UInt8])] = [("small", []), ("big", big), ("last", [])]
    var tasks: [(String, Task<Void, any Error>)] = []
    for (index, (name, body)) in bodies.enumerated() {
      let task = Task {
        try await writer.write { transaction in
          // A job that hides the failure must not make later statements commit by themselves.
          _ = try? transaction.run("INSERT INTO item (name, body) VALUES (?, ?)", name, body)
          _ = try? transaction.run("INSERT INTO item (name) VALUES (?)", "\(name), again")
        }
      }
      tasks.append((name, task))
      #expect(await metrics.hasQueued(index + 1))
    }
    try await hold.letGo()
    var answered: [String] = []
    for (name, task) in tasks {
      do {
        try await task.value
        answered.append(name)
      } catch let error as SQLiteError {
        #expect(error.isStorageFailure)
      }
    }
    let names = try store.names()
    for (name, _) in tasks where !answered.contains(name) {
      #expect(!names.contains(name) && !names.contains("\(name), again"))
    }
    #expect(answered.contains("last") && names.contains("last"))
  }

  /// The file system itself refuses: RLIMIT_FSIZE makes the log's writes fail with EFBIG.
  @Test func `a disk that fails at commit and comes back loses nothing that was answered`()
    async throws
  {
    let path = store.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      signal(SIGXFSZ, SIG_IGN)
      let metrics = Metrics()
      let writer = try Writer(
        path: path, migrations: TemporaryStore.migrations, metrics: metrics, name: "test")
      try await writer.write { try insert("before", $0) }

      var limit = rlimit()
      unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      var small = limit
      small.rlim_cur = 64 * 1024
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small)
      let big = [UInt8](repeating: 7, count: 200_000)
      for _ in 0..<3 {
        let error = await #expect(throws: SQLiteError.self) {
          try await writer.write { transaction in
            try transaction.run("INSERT INTO item (name, body) VALUES (?, ?)", "big", big)
          }
        }
        #expect(error?.isStorageFailure == true)
      }
      #expect(metrics.testCounter("sqlite_storage_failures_total") == 3)

      unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      try await writer.write { transaction in
        try transaction.run("INSERT INTO item (name, body) VALUES (?, ?)", "big", big)
      }
      await writer.close(by: .after(.seconds(5)))
    }
    #expect(try store.names() == ["before", "big"])
  }

  @Test func `a statement that rolls everything back fails its group and commits nothing`()
    async throws
  {
    let metrics = Metrics()
    let writer = try store.writer(metrics: metrics)
    try await writer.write { try insert("taken", $0) }
    let hold = await HeldWriter(writer)
    let neighbour = Task { try await writer.write { try insert("neighbour", $0) } }
    #expect(await metrics.hasQueued(1))
    let culprit = Task {
      try await writer.write { transaction in
        _ = try? transaction.run("INSERT OR ROLLBACK INTO item (name) VALUES ('taken')")
        try insert("outside", transaction)
      }
    }
    #expect(await metrics.hasQueued(2))
    let next = Task { try await writer.write { try insert("next", $0) } }
    #expect(await metrics.hasQueued(3))
    try await hold.letGo()
    for task in [neighbour, culprit] {
      let error = await #expect(throws: SQLiteError.self) { try await task.value }
      #expect(error?.code == .abortRollback)
    }
    try await next.value
    #expect(try store.names() == ["taken", "next"])
  }

  @Test func `a store that may only be read is refused with words`() async throws {
    await store.makeAndClose()
    unsafe chmod(store.path, 0o444)
    unsafe chmod("\(store.path).lock", 0o666)
    let path = store.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      // Root may write anything, so this process becomes nobody.
      if geteuid() == 0 { seteuid(65534) }
      let error = #expect(throws: SQLiteError.self) { try Writer(path: path, migrations: []) }
      #expect(error?.code.primary == .readOnly)
      #expect(error?.message.contains(path) == true)
      #expect(error?.isStorageFailure == true)
    }
  }

  @Test func `a store that turns read-only fails writes until it turns back`() async throws {
    let isReadOnly = Atomic<Bool>(false)
    let lines = Mutex<[String]>([])
    let log = Log(program: "test") { line in lines.withLock { $0.append(line) } }
    let writer = try store.writer(log: log) { connection in
      // The error of a file system that was mounted anew for reading.
      if isReadOnly.load(ordering: .acquiring) {
        _ = try connection.query("PRAGMA query_only = ON") { $0.int(0) }
        try connection.run("DELETE FROM item")
      }
    }
    try await writer.write { try insert("before", $0) }
    isReadOnly.store(true, ordering: .releasing)
    for _ in 0..<3 {
      let error = await #expect(throws: SQLiteError.self) {
        try await writer.write { try insert("lost", $0) }
      }
      #expect(error?.code.primary == .readOnly)
    }
    isReadOnly.store(false, ordering: .releasing)
    try await writer.write { try insert("after", $0) }
    #expect(try store.names() == ["before", "after"])
    // One line when it broke, one when it was whole again; not one per failure.
    #expect(lines.withLock { $0.count } == 2)
  }

  @Test func `a missing folder is named`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try Writer(path: "/nowhere/at/all.sqlite", migrations: [])
    }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("/nowhere/at/all.sqlite.lock") == true)
  }

  @Test func `a file that is no database is refused`() throws {
    let path = store.path
    let file = unsafe Glibc.open(path, O_CREAT | O_WRONLY, 0o644)
    var text = String(repeating: "this is not a database ", count: 100)
    _ = text.withUTF8 { bytes in unsafe Glibc.write(file, bytes.baseAddress, bytes.count) }
    close(file)
    let error = #expect(throws: SQLiteError.self) { try store.writer() }
    #expect(error?.code.primary == .notADatabase)
    #expect(error?.message.contains(path) == true)
  }
}

extension TemporaryStore {
  func makeAndClose() async {
    await (try? writer())?.close(by: .after(.seconds(5)))
  }
}
