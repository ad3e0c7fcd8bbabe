import SQLite

/// Where rows are read: within a change, or beside it.
protocol StoreRows {
  /// All rows of a query, each made into a value.
  func query<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> [T]

  /// The first row of a query, made into a value.
  func first<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> T?
}

extension Transaction: StoreRows {}
extension Reader: StoreRows {}

extension StoreRows {
  /// Whether a query finds any row.
  func exists(_ sql: String, _ value: String, _ other: String? = nil) throws -> Bool {
    if let other { return try first(sql, value, other) { _ in true } ?? false }
    return try first(sql, value) { _ in true } ?? false
  }
}
