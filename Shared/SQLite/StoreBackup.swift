import CSQLite
import Glibc

/// Copies a store while its service runs.
public enum StoreBackup {
  /// Pages of a step; between two of them others come to the disk.
  private static let pagesPerStep: Int32 = 512

  /// Makes a copy: one consistent state of the store, checked, readable by its owner only.
  ///
  /// Blocks. The service is not held up; its write-ahead log grows as long as the copy takes. The copy
  /// gets its name when it is whole.
  ///
  /// - Parameters:
  ///   - path: The store.
  ///   - target: The file to make; one that is there is not written over.
  ///   - progress: Hears how many pages of how many are copied.
  /// - Throws: `SQLiteError`.
  public static func copy(
    from path: String, to target: String, progress: (Int, Int) -> Void = { _, _ in }
  ) throws(SQLiteError) {
    guard unsafe access(target, F_OK) != 0 else {
      throw SQLiteError(
        code: .cannotOpen, message: "\(target) is there already; a backup writes over nothing")
    }
    let partial = "\(target).partial"
    unsafe unlink(partial)
    do throws(SQLiteError) {
      try write(from: path, to: partial, progress)
    } catch {
      unsafe unlink(partial)
      throw error
    }
    guard unsafe rename(partial, target) == 0 else {
      throw SQLiteError(
        code: .ioError, message: "\(partial) could not be renamed to \(target)")
    }
  }

  private static func write(
    from path: String, to partial: String, _ progress: (Int, Int) -> Void
  ) throws(SQLiteError) {
    let source = try Connection(path: path, mode: .readOnly).database
    // A read transaction holds one state until the copy is whole.
    try source.control("BEGIN")
    _ = try source.controlValue("SELECT count(*) FROM sqlite_schema")
    let target = try Database(path: partial, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    unsafe chmod(partial, 0o600)
    try source.copy(into: target, pagesPerStep: pagesPerStep, progress)
    try source.control("ROLLBACK")
    // One file, without a log beside it.
    _ = try target.controlValue("PRAGMA journal_mode = DELETE")
    let check = try target.controlValue("PRAGMA quick_check")
    guard check == .text("ok") else {
      throw SQLiteError(
        code: .corrupt,
        message: "the copy of \(path) is not whole: run 'purser doctor' on the store")
    }
  }
}
