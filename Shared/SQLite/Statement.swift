import CSQLite

/// Owns one `sqlite3_stmt`.
///
/// Confined to the thread of its connection.
@safe final class Statement {
  let sql: String
  let parameterCount: Int
  /// Set while it runs: a row's closure may run the same SQL again, which then gets its own.
  var isRunning = false
  /// When the cache gave it out last.
  var lastUse: UInt64 = 0
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer, sql: String) {
    unsafe self.handle = handle
    self.sql = sql
    parameterCount = unsafe Int(sqlite3_bind_parameter_count(handle))
  }

  deinit {
    unsafe sqlite3_finalize(handle)
  }

  /// Binds all values; the caller resets the statement whether or not this succeeds.
  ///
  /// - Returns: SQLite's result code.
  func bind(_ values: [(any Bindable)?]) -> Int32 {
    var index: Int32 = 0
    for value in values {
      index += 1
      let result = bind(value?.sqliteValue ?? .null, at: index)
      guard result == SQLITE_OK else { return result }
    }
    return SQLITE_OK
  }

  private func bind(_ value: Value, at index: Int32) -> Int32 {
    switch value {
    case .null: return unsafe sqlite3_bind_null(handle, index)
    case .integer(let number): return unsafe sqlite3_bind_int64(handle, index, number)
    case .real(let number): return unsafe sqlite3_bind_double(handle, index, number)
    case .text(var text):
      guard !text.isEmpty else { return unsafe sqlite3_bind_text(handle, index, "", 0, transient) }
      return text.withUTF8 { bytes in
        let start = unsafe UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
        return unsafe sqlite3_bind_text64(
          handle, index, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
      }
    case .blob(let blob):
      // A null address would bind NULL.
      guard !blob.isEmpty else { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
      return unsafe blob.withUnsafeBytes { bytes in
        unsafe sqlite3_bind_blob64(
          handle, index, bytes.baseAddress, UInt64(bytes.count), transient)
      }
    }
  }

  /// Goes to the next row; SQLITE_ROW, SQLITE_DONE or an error.
  func step() -> Int32 { unsafe sqlite3_step(handle) }

  /// Shows the current row.
  func withRow<T>(_ body: (borrowing Row) throws -> T) rethrows -> T {
    try body(unsafe Row(handle))
  }

  /// Ends the run and forgets the values.
  ///
  /// The result repeats the error of `step`, so it says nothing.
  func reset() {
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
  }
}

/// `SQLITE_TRANSIENT`, a macro that Swift does not import: SQLite copies the bytes before it returns.
private var transient: sqlite3_destructor_type {
  unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
