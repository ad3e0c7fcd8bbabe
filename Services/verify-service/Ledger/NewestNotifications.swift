import Events
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization

/// When Apple's newest notification came, by app and environment: by its age one sees that Apple posts no
/// more, or not here.
final class NewestNotifications: Sendable {
  static let tables = """
    CREATE TABLE newest_notifications (
      bundle_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      received_at INTEGER NOT NULL,
      PRIMARY KEY (bundle_id, environment)
    ) WITHOUT ROWID;
    """

  /// The store knows it to within this many milliseconds, so that not each notification costs a row.
  private static let precision: Int64 = 10_000

  private struct Newest {
    /// What the store has.
    var stored: Int64 = 0
    var seen: Int64
  }

  private let newest: Mutex<[AppleLane: Newest]>

  /// Goes on with what the store knows.
  init(_ store: Store, metrics: Metrics) throws {
    let rows = try store.readers.readAndWait { reader in
      try reader.query("SELECT bundle_id, environment, received_at FROM newest_notifications") {
        row in (AppleLane(bundleId: row.text(0), environment: row.text(1)), row.int(2))
      }
    }
    newest = Mutex(
      Dictionary(
        rows.map { ($0.0, Newest(stored: $0.1, seen: $0.1)) }, uniquingKeysWith: { $1 }))
    metrics.readings(
      "notification_newest_timestamp_seconds",
      "When the newest notification that Apple posted was received, UNIX seconds."
    ) { [weak self] in
      self?.newest.withLock { $0 }.map { lane, newest in
        Metrics.Reading(
          Double(newest.seen) / 1000,
          labels: ["app": lane.bundleId, "environment": lane.environment])
      } ?? []
    }
  }

  /// Notes a notification that Apple posted; one that had to be fetched says nothing about the way here.
  func saw(_ fact: AppStoreFact, _ change: Change) throws {
    guard fact.source == .notification, !fact.bundleId.isEmpty else { return }
    let lane = AppleLane(bundleId: fact.bundleId, environment: fact.environment)
    let known = newest.withLock { $0[lane] }
    guard fact.receivedAt > known?.seen ?? 0 else { return }
    let isStored = fact.receivedAt - (known?.stored ?? 0) >= Self.precision
    if isStored { try Self.note(lane, fact.receivedAt, change) }
    change.transaction.afterCommit { [weak self] in
      self?.newest.withLock { newest in
        var one = newest[lane] ?? Newest(seen: 0)
        one.seen = max(one.seen, fact.receivedAt)
        if isStored { one.stored = max(one.stored, fact.receivedAt) }
        newest[lane] = one
      }
    }
  }

  /// Writes a time, unless a later one is known.
  static func note(_ lane: AppleLane, _ receivedAt: Int64, _ change: Change) throws {
    try change.transaction.run(
      """
      INSERT INTO newest_notifications (bundle_id, environment, received_at) VALUES (?, ?, ?)
      ON CONFLICT (bundle_id, environment) DO UPDATE SET received_at = excluded.received_at
        WHERE excluded.received_at > received_at
      """, lane.bundleId, lane.environment, receivedAt)
  }
}
