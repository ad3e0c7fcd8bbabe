/// A failure of SQLite, of the disk under it, or of a statement.
public struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What kind of failure it is; decide by this, never by the message.
  public let code: ResultCode
  /// What happened, in words.
  ///
  /// Bound values never appear in it.
  public let message: String
  /// The statement, when one was at work.
  public let sql: String?

  /// Makes an error.
  public init(code: ResultCode, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  /// Whether the store or the disk is at fault and not the job: try the same again later.
  public var isStorageFailure: Bool {
    switch code {
    case .full, .ioError, .readOnly, .cannotOpen, .corrupt, .notADatabase, .outOfMemory, .busy,
      .locked, .lockProtocol, .abortRollback:
      true
    default: false
    }
  }

  /// Whether the connection should be opened anew before it is used again.
  var wantsNewConnection: Bool {
    switch code {
    case .full, .busy, .locked, .abortRollback: false
    default: isStorageFailure
    }
  }

  /// The message, the code and the statement.
  public var description: String {
    let place = sql.map { " in \"\($0)\"" } ?? ""
    return "SQLite: \(message) (code \(code.rawValue))\(place)"
  }
}
