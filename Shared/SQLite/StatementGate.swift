import CSQLite

/// Refuses statements that would break the transaction around a job.
///
/// Confined to one thread.
///
/// SQLite asks it whenever it compiles a statement (`sqlite3_set_authorizer`), also when it compiles
/// a kept statement again after a change of the schema; so the gate is open exactly while the
/// module's own control statements run.
@safe final class StatementGate {
  private(set) var isOpen = false

  /// Lets control statements pass while `body` runs.
  func opened<T, Failure>(_ body: () throws(Failure) -> T) throws(Failure) -> T {
    let before = isOpen
    isOpen = true
    defer { isOpen = before }
    return try body()
  }

  /// Puts the gate before a connection.
  ///
  /// The connection must not outlive the gate.
  func guardConnection(_ connection: OpaquePointer) {
    unsafe sqlite3_set_authorizer(
      connection,
      { context, action, _, argument, _, _ in
        guard let context = unsafe context else { return SQLITE_DENY }
        let gate = unsafe Unmanaged<StatementGate>.fromOpaque(context).takeUnretainedValue()
        return gate.allows(action, hasArgument: unsafe argument != nil) ? SQLITE_OK : SQLITE_DENY
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func allows(_ action: Int32, hasArgument: Bool) -> Bool {
    if isOpen { return true }
    switch action {
    case SQLITE_TRANSACTION, SQLITE_SAVEPOINT, SQLITE_ATTACH, SQLITE_DETACH: return false
    // Reading a setting is harmless; changing one would outlive the job.
    case SQLITE_PRAGMA: return !hasArgument
    default: return true
    }
  }
}
