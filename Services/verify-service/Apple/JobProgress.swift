import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// How far the jobs are, as their tables say.
struct JobProgress: Codable, Sendable {
  struct BackFill: Codable, Sendable {
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

  struct Reconcile: Codable, Sendable {
    let bundleId: String
    let environment: String
    /// Subscriptions whose date is watched.
    let watched: Int64
    /// When the next one is asked about, UTC milliseconds.
    let nextDueAt: Int64?
  }

  struct RefundSweep: Codable, Sendable {
    let bundleId: String
    let environment: String
    let finishedAt: Int64?
    let asked: Int64
    let recovered: Int64
  }

  struct Consumption: Codable, Sendable {
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

/// How far the jobs of all shards are, as one: an app's back-fill belongs to one shard, everything else to
/// the shard of its lineage or customer.
extension JobProgress {
  static let ofAllShards = Spread.joined { JobProgress($0) }

  init(_ parts: [JobProgress]) {
    backFill = parts.flatMap(\.backFill)
    reconcile = Self.groups(parts.flatMap(\.reconcile)) { [$0.bundleId, $0.environment] }
      .map { group in
        Reconcile(
          bundleId: group[0].bundleId, environment: group[0].environment,
          watched: group.reduce(0) { $0 + $1.watched },
          nextDueAt: group.compactMap(\.nextDueAt).min())
      }
    refundSweep = Self.groups(parts.flatMap(\.refundSweep)) { [$0.bundleId, $0.environment] }
      .map { group in
        RefundSweep(
          bundleId: group[0].bundleId, environment: group[0].environment,
          // It is done when all are.
          finishedAt: group.allSatisfy { $0.finishedAt != nil }
            ? group.compactMap(\.finishedAt).max() : nil,
          asked: group.reduce(0) { $0 + $1.asked },
          recovered: group.reduce(0) { $0 + $1.recovered })
      }
    importsWaiting = parts.reduce(0) { $0 + $1.importsWaiting }
    consumption = Self.groups(parts.flatMap(\.consumption)) { [$0.state] }.map { group in
      Consumption(state: group[0].state, requests: group.reduce(0) { $0 + $1.requests })
    }
  }

  /// The parts of each key, in the order of the keys.
  private static func groups<Part>(_ parts: [Part], by key: (Part) -> [String]) -> [[Part]] {
    Dictionary(grouping: parts, by: key)
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
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
