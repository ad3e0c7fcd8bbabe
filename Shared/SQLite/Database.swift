import CSQLite

/// Owns one `sqlite3` connection and its statements.
///
/// Used by one thread from opening to closing.
@safe final class Database {
  private let handle: OpaquePointer
  private let gate = StatementGate()
  private var cache = StatementCache(limit: 128)
  /// Apart from the jobs' statements: a COMMIT that is kept here was compiled with the gate open.
  private var controlCache = StatementCache(limit: 32)

  /// Opens a connection.
  ///
  /// `SQLITE_OPEN_NOMUTEX`: "the new database connection will use the 'multi-thread' threading mode.
  /// This means that separate threads are allowed to use SQLite at the same time, as long as each
  /// thread is using a different database connection" (https://sqlite.org/c3ref/open.html). This
  /// class is not Sendable, so the compiler keeps it on the thread that opened it.
  init(path: String, flags: Int32) throws(SQLiteError) {
    _ = Self.isConfigured
    var opened: OpaquePointer?
    let result = unsafe sqlite3_open_v2(
      path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard result == SQLITE_OK, let connection = unsafe opened else {
      let message = unsafe opened.map { unsafe String(cString: sqlite3_errmsg($0)) } ?? "no memory"
      unsafe sqlite3_close_v2(opened)
      throw SQLiteError(
        code: ResultCode(rawValue: result), message: "cannot open the store \(path): \(message)")
    }
    unsafe handle = connection
    unsafe gate.guardConnection(connection)
  }

  /// Each allocation would take a mutex of the whole process, to be counted for nobody
  /// (`SQLITE_CONFIG_MEMSTATUS`, https://sqlite.org/c3ref/c_config_covering_index_scan.html).
  private static let isConfigured = purser_sqlite3_keep_no_memory_statistics() == SQLITE_OK

  deinit {
    cache.removeAll()
    controlCache.removeAll()
    unsafe sqlite3_close_v2(handle)
  }

  /// Whether a transaction is open.
  ///
  /// SQLite itself rolls one back after some errors (https://sqlite.org/c3ref/get_autocommit.html).
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Whether a deferred foreign key is not yet satisfied (`SQLITE_DBSTATUS_DEFERRED_FKS`: "This
  /// parameter returns zero for the current value if and only if all foreign key constraints
  /// (deferred or immediate) have been resolved").
  var hasOpenForeignKeys: Bool {
    var current: Int32 = 0
    var highest: Int32 = 0
    let result = unsafe sqlite3_db_status(
      handle, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
    return result == SQLITE_OK && current != 0
  }

  /// Whether the file could be opened for reading only.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

  /// The row id of the last INSERT.
  var lastInsertedRowID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

  var changedRows: Int64 { unsafe sqlite3_total_changes64(handle) }

  /// How long a statement waits for a lock of another process, in milliseconds.
  func setBusyTimeout(milliseconds: Int32) {
    unsafe sqlite3_busy_timeout(handle, milliseconds)
  }

  /// Runs one statement to its end and gives the number of rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: [(any Bindable)?]) throws(SQLiteError) -> Int {
    let before = unsafe sqlite3_total_changes64(handle)
    let statement = try start(sql, values)
    defer { end(statement) }
    var result = statement.step()
    while result == SQLITE_ROW { result = statement.step() }
    guard result == SQLITE_DONE else { throw failure(sql) }
    // `sqlite3_changes64` keeps the last count when a statement changes nothing by its nature.
    guard unsafe sqlite3_total_changes64(handle) != before else { return 0 }
    return unsafe Int(sqlite3_changes64(handle))
  }

  /// Shows each row to the body until there are no more or the body returns false.
  func rows(
    _ sql: String, _ values: [(any Bindable)?], _ body: (borrowing Row) throws -> Bool
  ) throws {
    let statement = try start(sql, values)
    defer { end(statement) }
    while true {
      switch statement.step() {
      case SQLITE_ROW: if try !statement.withRow(body) { return }
      case SQLITE_DONE: return
      default: throw failure(sql)
      }
    }
  }

  /// Runs a statement of this module's own, which jobs may not use: BEGIN, COMMIT, PRAGMA and such.
  func control(_ sql: String) throws(SQLiteError) {
    try gate.opened { () throws(SQLiteError) in _ = try run(sql, []) }
  }

  /// The first column of the first row of a statement of this module's own.
  func controlValue(_ sql: String) throws(SQLiteError) -> Value {
    try gate.opened { () throws(SQLiteError) in
      let statement = try start(sql, [])
      defer { end(statement) }
      switch statement.step() {
      case SQLITE_ROW: return statement.withRow { $0.value(0) }
      case SQLITE_DONE: return .null
      default: throw failure(sql)
      }
    }
  }

  /// Copies the whole store into another one, a part at a time; tells how many pages of how many.
  ///
  /// With a read transaction open it is one state of the store, however long it takes and whoever
  /// writes meanwhile (https://sqlite.org/backup.html).
  func copy(
    into target: Database, pagesPerStep: Int32, _ progress: (Int, Int) -> Void
  ) throws(SQLiteError) {
    guard let backup = unsafe sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw target.failure("sqlite3_backup_init")
    }
    var result = SQLITE_OK
    while result == SQLITE_OK {
      result = unsafe sqlite3_backup_step(backup, pagesPerStep)
      let (left, all) = unsafe (
        sqlite3_backup_remaining(backup), sqlite3_backup_pagecount(backup)
      )
      progress(Int(all - left), Int(all))
    }
    let finished = unsafe sqlite3_backup_finish(backup)
    guard result == SQLITE_DONE, finished == SQLITE_OK else {
      throw target.failure("sqlite3_backup_step")
    }
  }

  /// Runs the body with the gate open, for connections that no job uses.
  func unguarded<T, Failure>(_ body: () throws(Failure) -> T) throws(Failure) -> T {
    try gate.opened(body)
  }

  /// Runs several statements, divided by semicolons, without values.
  func script(_ sql: String) throws(SQLiteError) {
    var rest = sql[...]
    while true {
      let (statement, length) = try prepare(String(rest), persistent: false)
      guard let statement else { return }
      defer { statement.reset() }
      var result = statement.step()
      while result == SQLITE_ROW { result = statement.step() }
      guard result == SQLITE_DONE else { throw failure(String(rest.utf8.prefix(length)) ?? sql) }
      rest = rest[rest.utf8.index(rest.startIndex, offsetBy: length)...]
    }
  }

  private func start(_ sql: String, _ values: [(any Bindable)?]) throws(SQLiteError) -> Statement {
    let statement: Statement
    if let kept = gate.isOpen ? controlCache.take(sql) : cache.take(sql) {
      statement = kept
    } else {
      let (prepared, length) = try prepare(sql, persistent: true)
      guard let prepared, sql.utf8.dropFirst(length).allSatisfy(isBlankOrSemicolon) else {
        throw SQLiteError(code: .misuse, message: "exactly one statement is wanted", sql: sql)
      }
      if gate.isOpen { controlCache.keep(prepared) } else { cache.keep(prepared) }
      statement = prepared
    }
    guard values.count == statement.parameterCount else {
      throw SQLiteError(
        code: .range,
        message: "\(values.count) values for \(statement.parameterCount) parameters", sql: sql)
    }
    statement.isRunning = true
    guard statement.bind(values) == SQLITE_OK else {
      // The reset in `end` would not clear the message, but another statement would.
      let error = failure(sql)
      end(statement)
      throw error
    }
    return statement
  }

  private func end(_ statement: Statement) {
    statement.reset()
    statement.isRunning = false
  }

  /// Compiles the first statement of a text; nil when there is none.
  ///
  /// Also says where it ends.
  private func prepare(_ sql: String, persistent: Bool) throws(SQLiteError) -> (Statement?, Int) {
    var text = sql
    var prepared: OpaquePointer?
    var length = 0
    let result = text.withUTF8 { bytes -> Int32 in
      let start = unsafe UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      var tail: UnsafePointer<CChar>?
      let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
      let result = unsafe sqlite3_prepare_v3(
        handle, start, Int32(bytes.count), flags, &prepared, &tail)
      if let start = unsafe start, let tail = unsafe tail { length = unsafe tail - start }
      return result
    }
    guard result == SQLITE_OK else { throw failure(sql) }
    return (unsafe prepared.map { unsafe Statement($0, sql: sql) }, length)
  }

  private func failure(_ sql: String) -> SQLiteError {
    let code = unsafe ResultCode(rawValue: sqlite3_extended_errcode(handle))
    guard code.primary != .notAuthorized else {
      return SQLiteError(
        code: code,
        message: "a job may not begin, commit or roll back, attach a file or change a setting; "
          + "use savepoint(_:)", sql: sql)
    }
    return SQLiteError(
      code: code, message: unsafe String(cString: sqlite3_errmsg(handle)), sql: sql)
  }
}

private func isBlankOrSemicolon(_ byte: UInt8) -> Bool {
  byte == 0x20 || (0x09...0x0D).contains(byte) || byte == 0x3B
}
