import SQLite
import Pipeline
import ServiceRuntime

/// How far the jobs are, as their tables say.
struct JobProgress: Encodable, Sendable {
  struct BackFill: Encodable, Sendable {
    let bundleId: String
    let environment: String
    /// All that Apple sent up to then was fetched; UTC milliseconds.
    let doneUntil: Int64
    /// Whether a window is being read.
    let isReading: Bool
    /// Notifications that Apple listed.
    let fetched: Int64
    /// Those that were not known.
    let recovered: Int64
  }

  struct Reconcile: Encodable, Sendable {
    let bundleId: String
    let environment: String
    /// Subscriptions whose date is watched.
    let watched: Int64
    /// When the next one is asked about, UTC milliseconds.
    let nextDueAt: Int64?
  }

  struct RefundSweep: Encodable, Sendable {
    let bundleId: String
    let environment: String
    let finishedAt: Int64?
    let asked: Int64
    let recovered: Int64
  }

  struct Consumption: Encodable, Sendable {
    let state: String
    let requests: Int64
  }

  let backFill: [BackFill]
  let reconcile: [Reconcile]
  let refundSweep: [RefundSweep]
  /// Customers and lines of files that are still to be imported.
  let importsWaiting: Int64
  let consumption: [Consumption]

  init(_ reader: Reader) throws {
    backFill = try reader.query(
      """
      SELECT bundle_id, environment, done_until, window_end, fetched, recovered FROM back_fills
      """
    ) { row in
      BackFill(
        bundleId: row.text(0), environment: row.text(1), doneUntil: row.int(2),
        isReading: !row.isNull(3), fetched: row.int(4), recovered: row.int(5))
    }
    reconcile = try reader.query(
      """
      SELECT bundle_id, environment, count(*), min(due_at) FROM reconciliations
      GROUP BY bundle_id, environment
      """
    ) { row in
      Reconcile(
        bundleId: row.text(0), environment: row.text(1), watched: row.int(2),
        nextDueAt: row.optionalInt(3))
    }
    refundSweep = try reader.query(
      "SELECT bundle_id, environment, finished_at, asked, recovered FROM refund_sweeps"
    ) { row in
      RefundSweep(
        bundleId: row.text(0), environment: row.text(1), finishedAt: row.optionalInt(2),
        asked: row.int(3), recovered: row.int(4))
    }
    importsWaiting = try ImportStore.waiting(reader)
    consumption = try reader.query(
      "SELECT state, count(*) FROM consumption_answers GROUP BY state ORDER BY state"
    ) { row in Consumption(state: row.text(0), requests: row.int(1)) }
  }
}

/// Shows the jobs' progress in the metrics, which never wait for the store.
struct ShowProgress: AppleJob {
  let name = "show-progress"
  let lane: AppleLane? = nil
  let store: Store
  let metrics: Metrics

  func step() async throws -> AppleStep {
    let progress = try await store.readers.read { try JobProgress($0) }
    for one in progress.backFill {
      metrics.gauge(
        "back_fill_done_until_seconds",
        "Up to when Apple's notification history was read, UNIX seconds.",
        labels: ["app": one.bundleId, "environment": one.environment]
      ).set(Int(clamping: one.doneUntil / 1000))
    }
    for one in progress.reconcile {
      metrics.gauge(
        "reconcile_watched", "Subscriptions whose date is watched.",
        labels: ["app": one.bundleId, "environment": one.environment]
      ).set(Int(clamping: one.watched))
    }
    metrics.gauge("import_items_waiting", "Customers and lines that wait to be imported.")
      .set(Int(clamping: progress.importsWaiting))
    return .rest(.seconds(30))
  }
}
