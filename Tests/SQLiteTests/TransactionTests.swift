import SQLite
import ServiceRuntime
import Synchronization
import Testing

@Suite struct `A transaction` {
  let store = TemporaryStore()

  @Test(arguments: [
    "COMMIT", "ROLLBACK", "BEGIN", "/* quietly */ END", "SAVEPOINT mine", "RELEASE job",
    "ROLLBACK TO job", "PRAGMA synchronous = OFF", "PRAGMA journal_mode = DELETE",
    "ATTACH ':memory:' AS other",
  ])
  func `a job cannot meddle with the transaction around it`(_ sql: String) async throws {
    let writer = try store.writer()
    let error = await #expect(throws: SQLiteError.self) {
      try await writer.write { transaction in
        try insert("undone", transaction)
        try transaction.run(sql)
      }
    }
    #expect(error?.code == .notAuthorized)
    #expect(error?.message.contains("savepoint") == true)
    try await writer.write { try insert("next", $0) }
    #expect(try store.names() == ["next"])
  }

  @Test func `a change of the schema does not disturb kept statements`() async throws {
    let writer = try store.writer()
    try await writer.write { try insert("before", $0) }
    try await writer.write { try $0.run("CREATE TABLE other (id INTEGER PRIMARY KEY) STRICT") }
    try await writer.write { try insert("after", $0) }
    #expect(try store.names() == ["before", "after"])
  }

  @Test func `a savepoint is undone alone, also inside another`() async throws {
    let writer = try store.writer()
    try await writer.write { transaction in
      try insert("kept", transaction)
      try? transaction.savepoint {
        try insert("outer", transaction)
        try transaction.savepoint { try insert("inner", transaction) }
        throw Refusal()
      }
      try transaction.savepoint {
        try insert("second", transaction)
        try? transaction.savepoint {
          try insert("third", transaction)
          throw Refusal()
        }
      }
    }
    #expect(try store.names() == ["kept", "second"])
  }

  @Test func `it says how many rows changed`() async throws {
    let writer = try store.writer()
    let counts = try await writer.write { transaction in
      [
        try transaction.run("INSERT INTO item (name) VALUES ('a'), ('b'), ('c')"),
        try transaction.run("UPDATE item SET body = x'00' WHERE name <> ?", "a"),
        try transaction.run("UPDATE item SET body = x'00' WHERE name = ?", "nobody"),
        try transaction.run("CREATE TABLE other (id INTEGER PRIMARY KEY) STRICT"),
        try transaction.run("DELETE FROM item"),
      ]
    }
    #expect(counts == [3, 2, 0, 0, 3])
  }

  @Test func `a wrong number of values is refused before anything is written`() async throws {
    let writer = try store.writer()
    let error = await #expect(throws: SQLiteError.self) {
      try await writer.write { try $0.run("INSERT INTO item (name, body) VALUES (?, ?)", "a") }
    }
    #expect(error?.code == .range)
    #expect(error?.message == "1 values for 2 parameters")
  }

  @Test(arguments: ["", "  ;", "SELECT 1; SELECT 2"])
  func `anything but one statement is refused`(_ sql: String) async throws {
    let writer = try store.writer()
    let error = await #expect(throws: SQLiteError.self) {
      try await writer.write { try $0.run(sql) }
    }
    #expect(error?.code == .misuse)
  }

  @Test func `a wrong statement is named, its values are not`() async throws {
    let writer = try store.writer()
    let error = await #expect(throws: SQLiteError.self) {
      try await writer.write { transaction in
        try transaction.run("INSERT INTO missing VALUES (?)", "a secret")
      }
    }
    #expect(error?.code == .error)
    #expect(error?.description.contains("INSERT INTO missing") == true)
    #expect(error?.description.contains("a secret") == false)
  }

  @Test func `a statement works again after it failed`() async throws {
    let writer = try store.writer()
    let names = try await writer.write { transaction in
      try insert("a", transaction)
      for _ in 0..<3 {
        #expect(throws: SQLiteError.self) { try insert("a", transaction) }
      }
      #expect(throws: Refusal()) {
        try transaction.forEach("SELECT name FROM item") { _ in throw Refusal() }
      }
      try insert("b", transaction)
      return try transaction.query("SELECT name FROM item") { $0.text(0) }
    }
    #expect(names == ["a", "b"])
  }

  @Test func `the same statement may run inside its own rows`() async throws {
    let writer = try store.writer()
    let pairs = try await writer.write { transaction in
      try transaction.run("INSERT INTO item (name) VALUES ('a'), ('b')")
      let sql = "SELECT name FROM item ORDER BY id"
      return try transaction.query(sql) { outer in
        let inner = try transaction.query(sql) { $0.text(0) }
        return outer.text(0) + inner.joined()
      }
    }
    #expect(pairs == ["aab", "bab"])
  }

  @Test func `more kinds of statements than are kept do no harm`() async throws {
    let writer = try store.writer()
    let sum = try await writer.write { transaction in
      var sum: Int64 = 0
      for round in 0..<2 {
        for number in 0..<300 {
          sum += try transaction.first("SELECT \(number) + ?", round) { $0.int(0) } ?? 0
        }
      }
      return sum
    }
    #expect(sum == 2 * 44850 + 300)
  }

  @Test func `actions run after the commit, in order, and once per key`() async throws {
    let store = store
    let metrics = Metrics()
    let writer = try store.writer(metrics: metrics)
    let hold = await HeldWriter(writer)
    let seen = Mutex<[String]>([])
    let note: @Sendable (String) -> Void = { text in
      let count = (try? store.names().count) ?? -1
      seen.withLock { $0.append("\(text) \(count)") }
    }
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<3 {
      tasks.append(
        Task {
          try await writer.write { transaction in
            try insert("\(number)", transaction)
            transaction.afterCommit { note("plain \(number)") }
            transaction.afterCommit(key: "relay") { note("relay \(number)") }
          }
          note("answered")
        })
      #expect(await metrics.hasQueued(number + 1))
    }
    try await hold.letGo()
    for task in tasks { try await task.value }
    #expect(
      seen.withLock { $0 } == [
        "plain 0 3", "plain 1 3", "plain 2 3", "relay 2 3", "answered 3", "answered 3",
        "answered 3",
      ])
  }

  @Test func `actions of what was rolled back are dropped`() async throws {
    let fails = Atomic<Bool>(false)
    let writer = try store.writer { _ in
      if fails.load(ordering: .acquiring) { throw SQLiteError(code: .full, message: "full") }
    }
    let ran = Mutex<[String]>([])
    let note: @Sendable (String) -> @Sendable () -> Void = { text in
      { ran.withLock { $0.append(text) } }
    }
    try? await writer.write { transaction in
      transaction.afterCommit(note("failed job"))
      throw Refusal()
    }
    try await writer.write { transaction in
      transaction.afterCommit(note("before"))
      try? transaction.savepoint {
        transaction.afterCommit(note("failed part"))
        throw Refusal()
      }
      try transaction.savepoint { transaction.afterCommit(note("good part")) }
    }
    fails.store(true, ordering: .releasing)
    try? await writer.write { $0.afterCommit(note("failed commit")) }
    #expect(ran.withLock { $0 } == ["before", "good part"])
  }
}
