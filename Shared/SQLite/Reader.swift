/// What a read job works with: one snapshot of the store; valid only inside the job.
public final class Reader {
  private let database: Database
  private var isOpen = true

  init(_ database: Database) { self.database = database }

  /// All rows of a query, each made into a value.
  public func query<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> [T] {
    check()
    return try database.query(sql, values, map)
  }

  /// The first row of a query, made into a value.
  public func first<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> T? {
    check()
    return try database.first(sql, values, map)
  }

  /// Shows each row of a query to the body.
  public func forEach(
    _ sql: String, _ values: (any Bindable)?..., body: (borrowing Row) throws -> Void
  ) throws {
    check()
    try database.rows(sql, values) { row in
      try body(row)
      return true
    }
  }

  func rows(
    _ sql: String, _ values: [(any Bindable)?], _ body: (borrowing Row) throws -> Bool
  ) throws {
    check()
    try database.rows(sql, values, body)
  }

  /// Ends its use: called when the job has returned.
  func end() { isOpen = false }

  private func check() {
    precondition(isOpen, "a Reader is used after its job has returned")
  }
}
