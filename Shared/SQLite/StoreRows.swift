/// Where rows are read: within a change, beside it, or through a connection of one's own.
public protocol StoreRows: ~Copyable {
  /// All rows of a query, each made into a value.
  func query<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> [T]

  /// The first row of a query, made into a value.
  func first<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> T?

  /// Whether a query finds any row.
  func exists(_ sql: String, _ values: (any Bindable)?...) throws -> Bool
}

extension StoreRows where Self: ~Copyable {
  /// Whether the store has a table; one that an older program wrote may lack it.
  public func hasTable(_ name: String) throws -> Bool {
    try exists("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name)
  }
}
