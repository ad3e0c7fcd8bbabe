/// What a read job works with: one snapshot of the store; valid only inside the job.
public final class Reader: StoreRows {
  let database: Database
  private var isOpen = true
  /// How many statements it may still run; without a transaction a second one would see another state.
  private var left: Int

  init(_ database: Database, statements: Int = .max) {
    self.database = database
    left = statements
  }

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

  /// Whether a query finds any row.
  public func exists(_ sql: String, _ values: (any Bindable)?...) throws -> Bool {
    check()
    return try database.first(sql, values) { _ in true } != nil
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

  /// Ends its use: called when the job has returned.
  func end() { isOpen = false }

  func check() {
    precondition(isOpen, "a Reader is used after its job has returned")
    precondition(left > 0, "a Reader of one statement is used for a second one")
    left -= 1
  }
}
