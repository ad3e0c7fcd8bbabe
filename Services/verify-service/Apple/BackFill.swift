import AppStore
import Events
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization

/// Brings what Apple told while nobody listened: reads the notification history of an app and
/// environment in windows that overlap, and records what is not known.
///
/// Window, page and what a page brought are one COMMIT: a kill at any instant repeats at most one
/// page, and what is repeated is known.
struct BackFill: AppleJob {
  let name = "back-fill"
  let lane: AppleLane?
  let api: AppStoreServerAPI
  let facts: AppleFacts
  let store: Store
  let rules: Rules
  let recovered: Counter
  let log: Log
  let patience = Patience()

  /// How often a page was of no use, one time after another.
  final class Patience: Sendable {
    /// Beyond it what cannot be proved is left out: with the pauses of failures after over an hour.
    static let limit = 20
    private let failures = Atomic<Int>(0)

    func begin() { failures.store(0, ordering: .relaxed) }
    /// Counts a failure; true when there were too many.
    func isOver() -> Bool {
      failures.wrappingAdd(1, ordering: .relaxed).newValue > Self.limit
    }
  }

  /// The times, in milliseconds.
  struct Rules: Sendable, Equatable {
    /// Between two windows.
    var interval: Int64
    /// How far a window reaches back before the end of the one before.
    var overlap: Int64 = 3_600_000
    /// How far the first window reaches back.
    var first: Int64

    /// Apple keeps notifications for 180 days; an hour of it is left for clocks and slow pages.
    static let kept: Int64 = 180 * 86_400_000 - 3_600_000

    /// The window to read next; nil when it is not time yet.
    func window(doneUntil: Int64?, now: Int64) -> (start: Int64, end: Int64)? {
      guard let doneUntil else { return (now - min(first, Self.kept), now) }
      guard now - doneUntil >= interval else { return nil }
      return (max(doneUntil - overlap, now - Self.kept), now)
    }
  }

  /// What stands in the store.
  struct Progress: Sendable, Equatable {
    var doneUntil: Int64?
    var windowStart: Int64?
    var windowEnd: Int64?
    var token: String?
    var fetched: Int64 = 0
    var recovered: Int64 = 0
  }

  func step() async throws -> AppleStep {
    guard let lane else { return .rest(.seconds(3600)) }
    let now = store.clock.now()
    let progress = try await store.readers.read { try Self.progress(lane, $0) } ?? Progress()
    guard let start = progress.windowStart, let end = progress.windowEnd else {
      guard let window = rules.window(doneUntil: progress.doneUntil, now: now) else {
        let next = (progress.doneUntil ?? now) + rules.interval - now
        return .rest(.milliseconds(max(1, min(next, 1_000))))
      }
      try await store.change { try Self.begin(lane, window.start, window.end, $0) }
      return .again
    }
    return try await read(lane, start, end, progress, now)
  }

  private func read(
    _ lane: AppleLane, _ start: Int64, _ end: Int64, _ progress: Progress, _ now: Int64
  ) async throws -> AppleStep {
    let result = await api.result(
      of: try .notificationHistory(
        NotificationHistoryQuery(startDate: start, endDate: end),
        paginationToken: progress.token))
    if case .failure(let error) = result, Self.beginsAnew.contains(error.code) {
      // The window begins anew; what it brought before is known.
      let restart = max(start, now - Rules.kept)
      try await store.change { try Self.begin(lane, restart, end, $0) }
      return .rest(.seconds(1))
    }
    let page = try result.get()
    guard !page.hasMore || page.paginationToken != nil && page.paginationToken != progress.token
    else { throw ForeignAnswer(lane: lane, detail: "a page says that more follow, but not where") }
    var found: [AppStoreFact] = []
    for item in page.notificationHistory {
      guard let signed = item.signedPayload else { continue }
      do {
        found.append(try facts.notification(signed, lane: lane, at: now))
      } catch {
        guard patience.isOver() else { throw error }
        log.error(
          "a notification of Apple's history is left out", ["error": LogValue(error)])
      }
    }
    patience.begin()
    let (all, recovered) = (found, recovered)
    try await store.change { change in
      var news = 0
      for fact in all {
        if let uuid = fact.notificationUUID, try !AppleTraces.know(uuid, change) { continue }
        try change.publish(fact: fact)
        news += 1
      }
      change.count(recovered, news)
      try Self.turn(lane, page, end: end, fetched: all.count, recovered: news, change)
    }
    return .again
  }

  private static let beginsAnew: [APIErrorCode?] = [
    .paginationTokenExpired, .invalidPaginationToken, .startDateTooFarInPast,
  ]

  private static func progress(_ lane: AppleLane, _ reader: Reader) throws -> Progress? {
    try reader.first(
      """
      SELECT done_until, window_start, window_end, pagination_token, fetched, recovered
      FROM back_fills WHERE bundle_id = ? AND environment = ?
      """, lane.bundleId, lane.environment
    ) { row in
      Progress(
        doneUntil: row.int(0), windowStart: row.optionalInt(1), windowEnd: row.optionalInt(2),
        token: row.optionalText(3), fetched: row.int(4), recovered: row.int(5))
    }
  }

  /// Opens a window at its first page.
  private static func begin(
    _ lane: AppleLane, _ start: Int64, _ end: Int64, _ change: Change
  ) throws {
    try change.transaction.run(
      """
      INSERT INTO back_fills (bundle_id, environment, done_until, window_start, window_end)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (bundle_id, environment) DO UPDATE SET window_start = excluded.window_start,
        window_end = excluded.window_end, pagination_token = NULL
      """, lane.bundleId, lane.environment, start, start, end)
  }

  /// Goes on to the next page, or closes the window.
  private static func turn(
    _ lane: AppleLane, _ page: NotificationHistoryAnswer, end: Int64, fetched: Int, recovered: Int,
    _ change: Change
  ) throws {
    try change.transaction.run(
      """
      UPDATE back_fills SET fetched = fetched + ?, recovered = recovered + ?, pagination_token = ?
      WHERE bundle_id = ? AND environment = ?
      """, fetched, recovered, page.hasMore ? page.paginationToken : nil, lane.bundleId,
      lane.environment)
    guard !page.hasMore else { return }
    try change.transaction.run(
      """
      UPDATE back_fills SET done_until = ?, window_start = NULL, window_end = NULL
      WHERE bundle_id = ? AND environment = ?
      """, end, lane.bundleId, lane.environment)
    // Notifications that no window will reach again need not be known any more.
    try change.transaction.run(
      """
      DELETE FROM known_notifications WHERE uuid IN (
        SELECT uuid FROM known_notifications
        WHERE seen_at < (SELECT min(coalesce(window_start, done_until)) FROM back_fills) - ?
        ORDER BY seen_at LIMIT 10000)
      """, Self.keptBehind)
  }

  /// A notification may be seen before Apple's own date of it, by a clock that is behind.
  private static let keptBehind: Int64 = 86_400_000
}
