import CSQLite

/// A result code of SQLite (https://sqlite.org/rescode.html), primary or extended.
///
/// `~=` matches a primary code against all of its extended codes, so that `case .ioError` in a
/// `switch` covers a failed fsync and a failed read.
public struct ResultCode: RawRepresentable, Sendable, Hashable {
  /// The number as SQLite returns it; the low eight bits are the primary code.
  public let rawValue: Int32

  /// Wraps a number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The code without its extension.
  public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

  /// Whether `code` is `pattern` or, for a primary pattern, one of its extended codes.
  public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
    pattern == code || pattern == code.primary
  }

  /// A statement that is wrong, or a general error.
  public static let error = ResultCode(rawValue: SQLITE_ERROR)
  /// The statement was aborted.
  public static let abort = ResultCode(rawValue: SQLITE_ABORT)
  /// The whole transaction was rolled back under the statement.
  public static let abortRollback = ResultCode(rawValue: SQLITE_ABORT | (2 << 8))
  /// Another connection holds the lock.
  public static let busy = ResultCode(rawValue: SQLITE_BUSY)
  /// A statement of the same connection holds the table.
  public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  /// Memory ran out.
  public static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  /// The store cannot be written.
  public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  /// The operating system failed to read or write.
  public static let ioError = ResultCode(rawValue: SQLITE_IOERR)
  /// The store is damaged.
  public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  /// The disk, or the permitted size, is full.
  public static let full = ResultCode(rawValue: SQLITE_FULL)
  /// The file cannot be opened.
  public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  /// A problem of the lock protocol of the write-ahead log.
  public static let lockProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
  /// The schema is not the expected one.
  public static let schema = ResultCode(rawValue: SQLITE_SCHEMA)
  /// A constraint refuses the row.
  public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  /// A UNIQUE constraint refuses the row.
  public static let constraintUnique = ResultCode(rawValue: SQLITE_CONSTRAINT | (8 << 8))
  /// A PRIMARY KEY constraint refuses the row.
  public static let constraintPrimaryKey = ResultCode(rawValue: SQLITE_CONSTRAINT | (6 << 8))
  /// A FOREIGN KEY constraint refuses the row.
  public static let constraintForeignKey = ResultCode(rawValue: SQLITE_CONSTRAINT | (3 << 8))
  /// A value of the wrong type.
  public static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
  /// The library, or this module, was used wrongly.
  public static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
  /// The statement is not allowed here.
  public static let notAuthorized = ResultCode(rawValue: SQLITE_AUTH)
  /// Too few or too many values for the parameters of a statement.
  public static let range = ResultCode(rawValue: SQLITE_RANGE)
  /// The file is not a SQLite database.
  public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

  // Codes of this module lie above SQLite's own extensions, which end below 1 << 16.

  /// Another process, or another `Writer`, owns the store.
  public static let ownedElsewhere = ResultCode(rawValue: SQLITE_BUSY | (1 << 16))
  /// The store belongs to another program.
  public static let foreignStore = ResultCode(rawValue: SQLITE_NOTADB | (1 << 16))
  /// The store was written by a newer program.
  public static let newerStore = ResultCode(rawValue: SQLITE_SCHEMA | (1 << 16))
}
