/// What a write job works with; valid only inside the job that receives it.
///
/// Many jobs share one COMMIT. A job that throws is rolled back alone.
public final class Transaction: StoreRows {
  private let database: Database
  private var isOpen = true
  private var depth = 0
  private(set) var actions: [AfterCommitAction] = []

  init(_ database: Database) { self.database = database }

  /// Runs one statement and gives the number of rows it changed.
  @discardableResult
  public func run(_ sql: String, _ values: (any Bindable)?...) throws(SQLiteError) -> Int {
    try check()
    return try database.run(sql, values)
  }

  /// The same with values that are counted only when it runs.
  @discardableResult
  public func run(_ sql: String, values: [(any Bindable)?]) throws(SQLiteError) -> Int {
    try check()
    return try database.run(sql, values)
  }

  /// All rows of a query, each made into a value.
  public func query<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> [T] {
    try check()
    return try database.query(sql, values, map)
  }

  /// The first row of a query, made into a value.
  public func first<T>(
    _ sql: String, _ values: (any Bindable)?..., map: (borrowing Row) throws -> T
  ) throws -> T? {
    try check()
    return try database.first(sql, values, map)
  }

  /// Whether a query finds any row.
  public func exists(_ sql: String, _ values: (any Bindable)?...) throws -> Bool {
    try check()
    return try database.first(sql, values) { _ in true } != nil
  }

  /// Shows each row of a query to the body.
  public func forEach(
    _ sql: String, _ values: (any Bindable)?..., body: (borrowing Row) throws -> Void
  ) throws {
    try check()
    try database.rows(sql, values) { row in
      try body(row)
      return true
    }
  }

  /// The row id of the last INSERT.
  public var lastInsertedRowID: Int64 { database.lastInsertedRowID }

  /// How many rows were changed through this connection so far; tells whether a job changed any.
  public var changedRows: Int64 { database.changedRows }

  /// Runs a part of the job that can fail alone: what it wrote is undone when it throws.
  public func savepoint<T>(_ body: () throws -> T) throws -> T {
    try check()
    depth += 1
    let name = "part_\(depth)"
    let actionsBefore = actions.count
    defer { depth -= 1 }
    try database.control("SAVEPOINT \(name)")
    do {
      let result = try body()
      try check()
      try database.control("RELEASE \(name)")
      return result
    } catch {
      actions.removeSubrange(actionsBefore...)
      if database.isInTransaction {
        try database.control("ROLLBACK TO \(name)")
        try database.control("RELEASE \(name)")
      }
      throw error
    }
  }

  /// Runs the action on the writer's thread after the COMMIT and before the answers.
  ///
  /// It is dropped when the job, or the savepoint around it, is rolled back. Keep it short: the
  /// next commit waits for it.
  public func afterCommit(_ action: @escaping @Sendable () -> Void) {
    actions.append(AfterCommitAction(key: nil, run: action))
  }

  /// The same, but of all actions with this key in one COMMIT only the last one runs.
  public func afterCommit(key: String, _ action: @escaping @Sendable () -> Void) {
    actions.append(AfterCommitAction(key: key, run: action))
  }

  /// Ends its use: called when the job has returned.
  func end() { isOpen = false }

  /// After some failures SQLite has rolled everything back by itself; a statement would then stand
  /// in a transaction of its own and be committed at once.
  private func check() throws(SQLiteError) {
    precondition(isOpen, "a Transaction is used after its job has returned")
    guard database.isInTransaction else { throw Self.lost }
  }

  static let lost = SQLiteError(
    code: .abortRollback,
    message: "the transaction was rolled back by a failure or by a statement in it; "
      + "nothing of it was written")
}

/// Something to do after a COMMIT.
struct AfterCommitAction: Sendable {
  let key: String?
  let run: @Sendable () -> Void
}

extension [AfterCommitAction] {
  /// Of the actions that share a key only the last, in order.
  var coalesced: [AfterCommitAction] {
    guard contains(where: { $0.key != nil }) else { return self }
    var seen: Set<String> = []
    let kept = reversed().filter { action in action.key.map { seen.insert($0).inserted } ?? true }
    return kept.reversed()
  }
}
