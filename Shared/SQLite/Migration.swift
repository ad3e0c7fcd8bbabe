/// A step from one version of a store to the next; `PRAGMA user_version` says where a store stands.
public struct Migration: Sendable {
  /// The version that the store has afterwards; from 1, rising.
  public let version: Int
  let step: @Sendable (Transaction) throws -> Void
  let script: String?

  /// A step in SQL, one or more statements.
  public init(version: Int, _ sql: String) {
    self.version = version
    script = sql
    step = { _ in }
  }

  /// A step in code.
  public init(version: Int, _ step: @escaping @Sendable (Transaction) throws -> Void) {
    self.version = version
    script = nil
    self.step = step
  }
}

/// Brings a store up to date.
enum Migrator {
  /// Applies what is missing, each step in a transaction of its own with its version number.
  static func migrate(_ database: Database, path: String, _ migrations: [Migration])
    throws(SQLiteError)
  {
    var current = try version(of: database)
    let newest = migrations.map(\.version).max() ?? 0
    guard migrations.isEmpty || current <= newest else {
      throw SQLiteError(
        code: .newerStore,
        message: "the store \(path) has version \(current), this program knows up to \(newest); "
          + "run the newer program, or restore a backup from before the upgrade")
    }
    for migration in migrations.sorted(by: { $0.version < $1.version })
    where migration.version > current {
      try apply(migration, to: database, path)
      current = migration.version
    }
  }

  /// Makes sure that the file is this program's: a new one becomes so, another's is refused.
  static func identify(_ database: Database, path: String, applicationID: Int32) throws(SQLiteError)
  {
    guard case .integer(let found) = try database.controlValue("PRAGMA application_id") else {
      return
    }
    if found == Int64(applicationID) { return }
    let version = try version(of: database)
    guard found == 0 && version == 0 else {
      throw SQLiteError(
        code: .foreignStore,
        message: "the store \(path) is not one of this program's; give it a file of its own")
    }
    try database.control("PRAGMA application_id = \(applicationID)")
  }

  static func version(of database: Database) throws(SQLiteError) -> Int {
    guard case .integer(let version) = try database.controlValue("PRAGMA user_version") else {
      return 0
    }
    return Int(version)
  }

  private static func apply(_ migration: Migration, to database: Database, _ path: String)
    throws(SQLiteError)
  {
    try database.control("BEGIN IMMEDIATE")
    let transaction = Transaction(database)
    defer { transaction.end() }
    do {
      if let script = migration.script { try database.script(script) }
      try migration.step(transaction)
      guard database.isInTransaction else { throw Transaction.lost }
      try database.control("PRAGMA user_version = \(migration.version)")
      try database.control("COMMIT")
    } catch {
      if database.isInTransaction { try? database.control("ROLLBACK") }
      let cause = error as? SQLiteError
      throw SQLiteError(
        code: cause?.code ?? .error,
        message: "the store \(path) could not be brought to version \(migration.version): "
          + (cause?.message ?? String(describing: error)),
        sql: cause?.sql)
    }
  }
}
