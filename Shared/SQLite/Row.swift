import CSQLite

/// The current row of a running query; valid only inside the closure that receives it.
///
/// Columns count from 0. The getters that are not optional give SQLite's conversion of what is
/// there: 0, an empty text or no bytes for NULL.
@safe public struct Row: ~Copyable {
  private let handle: OpaquePointer
  private let count: Int32

  init(_ handle: OpaquePointer) {
    unsafe self.handle = handle
    count = unsafe sqlite3_column_count(handle)
  }

  /// Whether the column holds NULL.
  public func isNull(_ column: Int32) -> Bool {
    check(column)
    return unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// The column as an integer.
  public func int(_ column: Int32) -> Int64 {
    check(column)
    return unsafe sqlite3_column_int64(handle, column)
  }

  /// The column as an integer; nil for NULL.
  public func optionalInt(_ column: Int32) -> Int64? { isNull(column) ? nil : int(column) }

  /// The column as true (not 0) or false.
  public func bool(_ column: Int32) -> Bool { int(column) != 0 }

  /// The column as a real number.
  public func double(_ column: Int32) -> Double {
    check(column)
    return unsafe sqlite3_column_double(handle, column)
  }

  /// The column as a real number; nil for NULL.
  public func optionalDouble(_ column: Int32) -> Double? { isNull(column) ? nil : double(column) }

  /// The column as text; what is not UTF-8 is repaired.
  public func text(_ column: Int32) -> String {
    check(column)
    // The text first, then its length: https://sqlite.org/c3ref/column_blob.html, "safest policy".
    guard let start = unsafe sqlite3_column_text(handle, column) else { return "" }
    let length = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
  }

  /// The column as text; nil for NULL.
  public func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  /// The column as bytes, copied.
  public func blob(_ column: Int32) -> [UInt8] {
    check(column)
    // SQLite gives no address for an empty blob.
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let length = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: length))
  }

  /// The column as bytes, copied; nil for NULL.
  public func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }

  /// The column as it is stored.
  public func value(_ column: Int32) -> Value {
    check(column)
    return switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(int(column))
    case SQLITE_FLOAT: .real(double(column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(blob(column))
    default: .null
    }
  }

  /// SQLite answers NULL for a column that is not there, which would hide a wrong query.
  private func check(_ column: Int32) {
    precondition(column >= 0 && column < count, "the row has no column \(column)")
  }
}
