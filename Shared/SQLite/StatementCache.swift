/// The prepared statements of one connection, by their SQL; the least recently used one goes first.
struct StatementCache {
  private var statements: [String: Statement] = [:]
  private var uses: UInt64 = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// The statement for the SQL, unless it is unknown or running.
  mutating func take(_ sql: String) -> Statement? {
    guard let statement = statements[sql], !statement.isRunning else { return nil }
    uses += 1
    statement.lastUse = uses
    return statement
  }

  /// Keeps a statement, unless one for the same SQL is kept already.
  mutating func keep(_ statement: Statement) {
    guard statements[statement.sql] == nil else { return }
    if statements.count >= limit {
      let idle = statements.values.filter { !$0.isRunning }
      guard let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) else { return }
      statements[oldest.sql] = nil
    }
    uses += 1
    statement.lastUse = uses
    statements[statement.sql] = statement
  }

  /// Finalizes everything.
  mutating func removeAll() { statements = [:] }
}
