import Events
import Pipeline
import SQLite

/// What the ledger leaves for the jobs, in the transaction of the fact that it applied.
///
/// Only for apps with a key to Apple's API: for others nobody would ever come and take it away.
struct AppleTraces: Sendable {
  let lanes: Set<AppleLane>
  /// Those of them whose notifications are noted here, for back-fill: each app's on one shard.
  let homes: Set<AppleLane>
  /// Milliseconds after a date without news at which Apple is asked.
  let reconcileAfter: Int64
  /// Whether the history of a lineage is fetched when it is seen first.
  let importsHistory: Bool

  /// A notification was read from `iap.appstore`: back-fill need not bring it again.
  func saw(_ fact: AppStoreFact, _ change: Change) throws {
    guard let uuid = fact.notificationUUID,
      homes.contains(AppleLane(bundleId: fact.bundleId, environment: fact.environment))
    else { return }
    try Self.know(uuid, change)
  }

  /// Notes a notification; true if it was not known.
  @discardableResult
  static func know(_ uuid: String, _ change: Change) throws -> Bool {
    try change.transaction.run(
      "INSERT INTO known_notifications (uuid, seen_at) VALUES (?, ?) ON CONFLICT DO NOTHING", uuid,
      change.now) > 0
  }

  /// A lineage has a new revision.
  func changed(
    _ lineage: Lineage, isNew: Bool, _ cause: LineageCause, _ change: Change
  ) throws {
    let lane = AppleLane(bundleId: lineage.id.bundleId, environment: lineage.id.environment)
    guard lanes.contains(lane) else { return }
    try note(lineage, cause, change)
    if importsHistory, isNew, cause.kind != FactSource.historyImport.rawValue {
      try ImportStore.enqueueCustomer(lineage.id, change)
    }
  }

  /// Notes when Apple is asked about a lineage if no news comes.
  func note(_ lineage: Lineage, _ cause: LineageCause, _ change: Change) throws {
    let lane = AppleLane(bundleId: lineage.id.bundleId, environment: lineage.id.environment)
    guard lanes.contains(lane) else { return }
    guard let date = ReconcileRule.date(of: lineage) else {
      try Reconciliations.remove(lineage.id.description, change)
      return
    }
    let due = date + reconcileAfter
    // What the job itself brought leaves the next time to the job, unless it brought a new date.
    if cause.kind == FactSource.reconcile.rawValue, due <= change.now { return }
    try Reconciliations.set(lineage.id.description, lane, dueAt: due, change)
  }
}
