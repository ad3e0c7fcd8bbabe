import Pipeline
import SQLite
import ServiceRuntime

/// What people had Apple change: a row for each, so that it stands in the log of writes, too.
enum AppleWrites {
  /// How long a row is kept, as the log of writes is.
  private static let kept: Int64 = 400 * 86_400_000

  /// Notes a change that Apple has confirmed.
  static func note(
    _ what: String, of subject: String, _ lane: AppleLane, in store: Store
  ) async throws {
    try await store.change { change in
      try change.transaction.run(
        """
        INSERT INTO apple_writes (bundle_id, environment, what, subject, at)
        VALUES (?, ?, ?, ?, ?)
        """, lane.bundleId, lane.environment, what, subject, change.now)
      try change.transaction.run(
        "DELETE FROM apple_writes WHERE id IN (SELECT id FROM apple_writes WHERE at < ? LIMIT 10)",
        change.now - Self.kept)
    }
  }
}
