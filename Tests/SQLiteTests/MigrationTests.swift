import SQLite
import ServiceRuntime
import Testing

@Suite struct `Migrations` {
  let store = TemporaryStore()

  private func open(_ migrations: [Migration]) throws -> Writer {
    try Writer(path: store.path, migrations: migrations)
  }

  private func version() throws -> Int64? {
    try Connection(path: store.path, mode: .readOnly).first("PRAGMA user_version") { $0.int(0) }
  }

  private let second = Migration(
    version: 2,
    """
    -- Two statements and a value.
    ALTER TABLE item ADD COLUMN note TEXT;
    INSERT INTO item (name, note) VALUES ('made by the second step', 'semicolons; inside');
    """)

  @Test func `a store is brought up step by step and each step runs once`() async throws {
    let first = try open(TemporaryStore.migrations)
    try await first.write { try insert("old", $0) }
    await first.close(by: .after(.seconds(5)))
    #expect(try version() == 1)
    for _ in 0..<2 {
      let writer = try open([second] + TemporaryStore.migrations)
      await writer.close(by: .after(.seconds(5)))
      #expect(try version() == 2)
    }
    #expect(try store.names() == ["old", "made by the second step"])
  }

  @Test func `a step in code works with the rows`() async throws {
    let inCode = Migration(version: 3) { transaction in
      try transaction.run("UPDATE item SET note = upper(note)")
    }
    let writer = try open(TemporaryStore.migrations + [second, inCode])
    let note = try await writer.write { try $0.first("SELECT note FROM item") { $0.text(0) } }
    #expect(note == "SEMICOLONS; INSIDE")
    #expect(try version() == 3)
  }

  @Test func `a step that fails half-way leaves the store as it was`() async throws {
    await store.makeAndClose()
    let broken = Migration(
      version: 2,
      """
      INSERT INTO item (name) VALUES ('half');
      CREATE TABLE item (id INTEGER);
      """)
    let error = #expect(throws: SQLiteError.self) { try open(TemporaryStore.migrations + [broken]) }
    #expect(error?.message.contains("could not be brought to version 2") == true)
    #expect(error?.sql?.contains("CREATE TABLE item") == true)
    #expect(try version() == 1)
    #expect(try store.names() == [])
    let writer = try store.writer()
    try await writer.write { try insert("works", $0) }
  }

  @Test(arguments: ["COMMIT", "ROLLBACK"])
  func `a step cannot end its own transaction`(_ statement: String) async throws {
    await store.makeAndClose()
    let escaping = Migration(
      version: 2, "INSERT INTO item (name) VALUES ('escaped'); \(statement);")
    let error = #expect(throws: SQLiteError.self) {
      try open(TemporaryStore.migrations + [escaping])
    }
    #expect(error?.code == .notAuthorized)
    #expect(try store.names() == [])
  }

  @Test func `a store of a newer program is refused with words`() async throws {
    await (try open(TemporaryStore.migrations + [second])).close(by: .after(.seconds(5)))
    let error = #expect(throws: SQLiteError.self) { try store.writer() }
    #expect(error?.code == .newerStore)
    #expect(error?.isStorageFailure == false)
    #expect(error?.message.contains("has version 2, this program knows up to 1") == true)
    #expect(try version() == 2)
  }

  @Test func `a file of another program is refused, and a new one is marked`() async throws {
    let store = TemporaryStore()
    let steps = [Migration(version: 1, "CREATE TABLE a (x)")]
    let first = try Writer(path: store.path, migrations: steps, applicationID: 1)
    await first.close(by: .after(.seconds(5)))
    let again = try Writer(path: store.path, migrations: steps, applicationID: 1)
    await again.close(by: .after(.seconds(5)))
    let error = #expect(throws: SQLiteError.self) {
      try Writer(path: store.path, migrations: steps, applicationID: 2)
    }
    #expect(error?.code == .foreignStore)
    #expect(error?.message.contains(store.path) == true)
  }
}
