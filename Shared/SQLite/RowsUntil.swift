extension Connection {
  /// Shows each row of a query to the body until it returns false.
  public func forEach(
    _ sql: String, _ values: (any Bindable)?..., body: (borrowing Row) throws -> Bool
  ) throws {
    try database.unguarded { try database.rows(sql, values, body) }
  }
}

extension Reader {
  /// Shows each row of a query to the body until it returns false.
  public func forEach(
    _ sql: String, _ values: (any Bindable)?..., until body: (borrowing Row) throws -> Bool
  ) throws {
    check()
    try database.rows(sql, values, body)
  }
}
