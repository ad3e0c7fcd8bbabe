import AppStore
import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Looks through the refund history of every lineage, slowly: a net below notifications and
/// back-fill.
struct RefundSweep: AppleJob {
  let name = "refund-sweep"
  let lane: AppleLane?
  let api: AppStoreServerAPI
  let facts: AppleFacts
  let store: Store
  /// Milliseconds from the end of one sweep to the beginning of the next.
  let interval: Int64
  let recovered: Counter

  /// Between two questions, so that other work has most of Apple's rate.
  private static let pace = Duration.milliseconds(500)
  /// Refunds come within months of a purchase; older ones are not asked about.
  private static let reach: Int64 = 180 * 86_400_000
  /// Lineages that one step looks at.
  private static let batch: Int64 = 200

  func step() async throws -> AppleStep {
    guard let lane else { return .rest(.seconds(3600)) }
    let now = store.clock.now()
    let (cursor, finishedAt) = try await store.readers.read { reader in
      try reader.first(
        "SELECT cursor, finished_at FROM refund_sweeps WHERE bundle_id = ? AND environment = ?",
        lane.bundleId, lane.environment
      ) { ($0.optionalText(0), $0.optionalInt(1)) } ?? (nil, nil)
    }
    if cursor == nil, let finishedAt, finishedAt + interval > now { return .rest(.seconds(1)) }
    let begin = cursor ?? "\(lane)/"
    let candidates = try await store.readers.read { reader in
      try Self.candidates(lane, after: begin, reader)
    }
    guard let last = candidates.last else {
      try await store.change { try Self.save(lane, cursor: nil, finishedAt: $0.now, $0) }
      return .again
    }
    for candidate in candidates where candidate.newest > now - Self.reach {
      try await ask(candidate.lineage, lane, now)
      try await Task.sleep(for: Self.pace)
    }
    try await store.change {
      try Self.save(lane, cursor: last.lineage.description, finishedAt: nil, $0)
    }
    return .again
  }

  private func ask(_ lineage: LineageID, _ lane: AppleLane, _ now: Int64) async throws {
    var found: [AppleFact] = []
    do {
      try await api.followPages(limit: 100) { cursor in
        try .refundHistory(lineage.originalTransactionId, revision: cursor)
      } take: { page in
        for signed in page.signedTransactions {
          found.append(try facts.transaction(signed, source: .reconcile, lane: lane, at: now))
        }
      }
    } catch let error as APIError where !error.concernsAll {
      // Unknown, or answered in a way that is of no use: the next sweep asks again.
      return
    } catch is ForeignAnswer {
      return
    }
    let (all, recovered) = (found, recovered)
    try await store.change { change in
      let news = try change.publishNews(all)
      change.count(recovered, news)
      try change.transaction.run(
        """
        INSERT INTO refund_sweeps (bundle_id, environment, asked, recovered) VALUES (?, ?, 1, ?)
        ON CONFLICT (bundle_id, environment) DO UPDATE SET asked = asked + 1,
          recovered = recovered + excluded.recovered
        """, lane.bundleId, lane.environment, news)
    }
  }

  private struct Candidate: Sendable {
    let lineage: LineageID
    /// The newest purchase, UTC milliseconds.
    let newest: Int64
  }

  private static func candidates(
    _ lane: AppleLane, after begin: String, _ reader: Reader
  ) throws -> [Candidate] {
    // "0" stands behind "/": the range holds all lineages of the lane and no others.
    try reader.query(
      """
      SELECT lineage, state FROM lineages WHERE lineage > ? AND lineage < ?
      ORDER BY lineage LIMIT ?
      """, begin, "\(lane)0", batch
    ) { row in
      guard let lineage = LineageID(row.text(0)) else { return nil }
      let state = try EventJSON.decode(LineageState.self, from: row.blob(1))
      let newest = state.transactions.map(\.purchaseDate).max() ?? 0
      return Candidate(lineage: lineage, newest: newest)
    }.compactMap { $0 }
  }

  private static func save(
    _ lane: AppleLane, cursor: String?, finishedAt: Int64?, _ change: Change
  ) throws {
    try change.transaction.run(
      """
      INSERT INTO refund_sweeps (bundle_id, environment, cursor, finished_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (bundle_id, environment) DO UPDATE SET cursor = excluded.cursor,
        finished_at = coalesce(excluded.finished_at, finished_at)
      """, lane.bundleId, lane.environment, cursor, finishedAt)
  }
}
