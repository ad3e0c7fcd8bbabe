import CSQLite

/// A connection to a store, for the thread that opened it.
///
/// Services use `Writer` and `Readers`; this is for tools, tests and migrations.
public struct Connection: StoreRows, ~Copyable {
  /// How a store is opened.
  public enum Mode: Sendable {
    /// Read and write; the file is made when it is not there.
    case readWrite
    /// Read only; the file must be there.
    case readOnly
  }

  let database: Database

  /// Opens a store with the settings that all of Purser's connections share.
  ///
  /// A store opened for writing gets the write-ahead log and `synchronous=FULL`: a transaction
  /// survives a power cut once its COMMIT has returned. An empty path is a store of its own that has no name
  /// and ends with the connection, or with the process ("a private, temporary on-disk database",
  /// https://sqlite.org/c3ref/open.html); it lies in `SQLITE_TMPDIR` or `TMPDIR`.
  public init(path: String, mode: Mode) throws(SQLiteError) {
    let flags =
      mode == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let database = try Database(path: path, flags: flags)
    // SQLite quietly falls back to reading when the file may not be written.
    guard mode == .readOnly || !database.isReadOnly else {
      throw SQLiteError(
        code: .readOnly,
        message: "the store \(path) cannot be written; give this process write permission")
    }
    do throws(SQLiteError) {
      try Self.prepare(database)
      if mode == .readWrite { try Self.prepareForWriting(database, path) }
    } catch {
      throw SQLiteError(
        code: error.code, message: "cannot open the store \(path): \(error.message)",
        sql: error.sql)
    }
    self.database = database
  }

  init(_ database: Database) { self.database = database }

  private static func prepare(_ database: Database) throws(SQLiteError) {
    // Another process, such as a backup, may hold the lock for a moment.
    database.setBusyTimeout(milliseconds: 5000)
    try database.control("PRAGMA foreign_keys = ON")
    try database.control("PRAGMA trusted_schema = OFF")
    try database.control("PRAGMA temp_store = MEMORY")
    // 16 MiB.
    try database.control("PRAGMA cache_size = -16384")
  }

  private static func prepareForWriting(_ database: Database, _ path: String)
    throws(SQLiteError)
  {
    let mode = try database.controlValue("PRAGMA journal_mode = WAL")
    guard mode == .text("wal") || path == ":memory:" || path.isEmpty else {
      throw SQLiteError(
        code: .cannotOpen,
        message: "it cannot have a write-ahead log; put it on a local disk")
    }
    try database.control("PRAGMA synchronous = FULL")
    // What is deleted is overwritten: an erased customer is not to be found in freed pages. Debian's
    // SQLite does so unless told otherwise.
    try database.control("PRAGMA secure_delete = ON")
    // A log that one long reader made large shrinks again.
    try database.control("PRAGMA journal_size_limit = 67108864")
  }

  /// Runs one statement and gives the number of rows it changed.
  @discardableResult
  public func run(_ sql: String, _ values: (any Bindable)?...) throws(SQLiteError) -> Int {
    try database.unguarded { () throws(SQLiteError) in try database.run(sql, values) }
  }

  /// The same with the values in a list.
  @discardableResult
  public func run(_ sql: String, values: [(any Bindable)?]) throws(SQLiteError) -> Int {
    try database.unguarded { () throws(SQLiteError) in try database.run(sql, values) }
  }

  /// All rows of a query, each made into a value.
  public func query<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> [T] {
    try database.unguarded { try database.query(sql, values, map) }
  }

  /// The same with the values in a list.
  public func query<T>(
    _ sql: String, values: [(any Bindable)?], map: (borrowing Row) throws -> T
  ) throws -> [T] {
    try database.unguarded { try database.query(sql, values, map) }
  }

  /// The first row of a query, made into a value.
  public func first<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> T? {
    try database.unguarded { try database.first(sql, values, map) }
  }

  /// Whether a query finds any row.
  public func exists(_ sql: String, _ values: (any Bindable)?...) throws -> Bool {
    try database.unguarded { try database.first(sql, values) { _ in true } != nil }
  }
}

extension Database {
  func query<T>(
    _ sql: String, _ values: [(any Bindable)?], _ map: (borrowing Row) throws -> T
  ) throws -> [T] {
    var found: [T] = []
    try rows(sql, values) { row in
      found.append(try map(row))
      return true
    }
    return found
  }

  func first<T>(
    _ sql: String, _ values: [(any Bindable)?], _ map: (borrowing Row) throws -> T
  ) throws -> T? {
    var found: T?
    try rows(sql, values) { row in
      found = try map(row)
      return false
    }
    return found
  }
}
