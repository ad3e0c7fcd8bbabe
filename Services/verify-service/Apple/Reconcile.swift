import AppStore
import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Asks Apple about subscriptions whose date has passed without news.
struct Reconcile: AppleJob {
  let name = "reconcile"
  let lane: AppleLane?
  let api: AppStoreServerAPI
  let facts: AppleFacts
  let store: Store
  /// Milliseconds after a date without news.
  let margin: Int64
  let recovered: Counter

  /// Lineages that one step asks about.
  private static let batch: Int64 = 20

  func step() async throws -> AppleStep {
    guard let lane else { return .rest(.seconds(3600)) }
    let due = try await store.readers.read { reader in
      try Reconciliations.first(lane, limit: Self.batch, reader)
    }.filter { $0.dueAt <= store.clock.now() }
    guard !due.isEmpty else { return .rest(.seconds(1)) }
    for one in due {
      do {
        try await ask(one, lane)
      } catch {
        // One lineage that always fails must not keep the others from being asked about.
        let now = store.clock.now()
        let pause = min(Int64(600_000) << min(one.tries, 8), 86_400_000)
        try await store.change {
          try Reconciliations.postpone(
            one.lineage, to: now + pause, tries: one.tries + 1, $0)
        }
        throw error
      }
    }
    return .again
  }

  private func ask(_ due: Reconciliations.Due, _ lane: AppleLane) async throws {
    let now = store.clock.now()
    guard let id = LineageID(due.lineage) else { return }
    let result = await api.result(of: try .subscriptionStatuses(id.originalTransactionId))
    if case .failure(let error) = result, error.isVerdict {
      // Apple does not know it, or no longer: asking again brings nothing.
      try await store.change { try Reconciliations.remove(due.lineage, $0) }
      return
    }
    let answer = try result.get()
    let found = try AppleStatuses(answer, source: .reconcile, lane: lane, facts, at: now)
    let own = found.entries.first { $0.originalTransactionId == id.originalTransactionId }
    let next = ReconcileRule.next(
      status: own?.status, end: own?.end ?? 0, tries: due.tries, after: margin, now: now)
    let recovered = recovered
    try await store.change { change in
      change.count(recovered, try change.publishNews(found.facts))
      guard let next else { return try Reconciliations.remove(due.lineage, change) }
      try Reconciliations.postpone(due.lineage, to: next, tries: due.tries + 1, change)
    }
  }
}

/// An answer about subscriptions, proved.
struct AppleStatuses: Sendable {
  struct Entry: Sendable {
    let originalTransactionId: String
    let status: Int64?
    /// End of the period or of the grace period, UTC milliseconds.
    let end: Int64
  }

  private(set) var entries: [Entry] = []
  /// Transactions and renewal info.
  private(set) var facts: [AppleFact] = []

  init(
    _ answer: StatusesAnswer, source: FactSource, lane: AppleLane, _ proofs: AppleFacts,
    at now: Int64
  ) throws {
    for last in answer.data.flatMap(\.lastTransactions) {
      let transaction = try last.signedTransactionInfo.map {
        try proofs.transaction($0, source: source, lane: lane, at: now)
      }
      let renewal = try last.signedRenewalInfo.map {
        try proofs.renewal($0, source: source, lane: lane, at: now)
      }
      facts += [transaction, renewal].compactMap { $0 }
      let lineage = (transaction ?? renewal)?.fact.lineage.flatMap { LineageID($0) }
      guard let original = last.originalTransactionId ?? lineage?.originalTransactionId else {
        continue
      }
      let expires = transaction?.transaction?.expiresDate ?? 0
      entries.append(
        Entry(
          originalTransactionId: original, status: last.status.map { Int64($0.rawValue) },
          end: max(expires, renewal?.renewal?.gracePeriodExpiresDate ?? 0)))
    }
  }
}
