import Events
import Pipeline
import ServiceRuntime

/// Computes a customer's rights anew and publishes the difference; one event is one version.
struct Recompute: Sendable {
  let rules: Rules
  private let events: Counter

  init(rules: Rules, metrics: Metrics) {
    self.rules = rules
    events = metrics.counter("entitlement_events_total", "Events for other backends.")
  }

  /// Recomputes a customer.
  ///
  /// - Parameters:
  ///   - customer: Whose rights.
  ///   - cause: Why, for the events.
  ///   - entries: Balance entries that the same cause wrote; each becomes an event.
  ///   - time: For which time. A record gives the time of its own decision, so that reading a backlog
  ///     ends no right before the renewal behind it is read; only a timer, which has read the past,
  ///     gives the present (design law 11). Time never runs back for a customer.
  ///   - change: The change that all of it is part of.
  func run(
    _ customer: String, _ cause: ChangeCause, _ entries: [Balances.Entry], at time: Int64,
    _ change: Change
  ) throws {
    let transaction = change.transaction
    let before = try EntitlementStore.evaluation(transaction, customer)
    let time = max(min(time, change.now), before?.at ?? Int64.min)
    let stored = try EntitlementStore.entitlements(transaction, customer)
    let result = Entitlements.compute(
      try EntitlementStore.purchases(transaction, customer), rules, at: time)
    let differences = Difference.between(stored.filter(\.isActive), result.entitlements)

    let first = try EntitlementStore.version(transaction, customer)
    var version = first
    for difference in differences {
      version += 1
      try EntitlementStore.saveEntitlement(transaction, customer, difference.after)
      try change.publish(
        .entitlements, key: customer, type: difference.type, subject: customer, revision: version,
        EntitlementChanged(
          customer: customer, version: version, entitlement: difference.after,
          previous: difference.before, cause: cause.naming(difference.after.grantor),
          changedAt: change.now))
    }
    for entry in entries {
      version += 1
      var entryCause = cause
      entryCause.transactionId = entry.transactionId
      try change.publish(
        .entitlements, key: customer, type: .balanceChanged, subject: customer, revision: version,
        BalanceChanged(
          customer: customer, version: version, balance: entry.balance, delta: entry.delta,
          shortfall: entry.shortfall > 0 ? entry.shortfall : nil, cause: entryCause,
          changedAt: change.now))
    }
    guard version != first || before == nil || before?.dueAt != result.nextChange else { return }
    try EntitlementStore.saveCustomer(
      change, customer, version: version, evaluatedAt: time, dueAt: result.nextChange)
    change.rescheduleTimers()
    if version != first { try publish(customer, version, result, change) }
    change.count(events, Int(version - first))
  }

  /// The whole state, for the compacted topic.
  private func publish(
    _ customer: String, _ version: Int64, _ result: Entitlements.Result, _ change: Change
  ) throws {
    try change.publish(
      .entitlementState, key: customer, type: .customerState, subject: customer,
      revision: version,
      CustomerState(
        customer: customer, version: version, entitlements: result.entitlements,
        balances: try EntitlementStore.balances(change.transaction, customer),
        updatedAt: change.now))
  }
}

/// How one right differs between before and after.
struct Difference: Equatable {
  let type: EventType
  let before: Entitlement?
  let after: Entitlement

  /// The differences between two sets of active rights, by environment and name.
  static func between(_ before: [Entitlement], _ after: [Entitlement]) -> [Difference] {
    func key(_ entitlement: Entitlement) -> Claim.Right {
      Claim.Right(environment: entitlement.environment, name: entitlement.name)
    }
    let old = Dictionary(before.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
    let new = Dictionary(after.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
    let keys = Set(old.keys).union(new.keys)
      .sorted { ($0.environment, $0.name) < ($1.environment, $1.name) }
    return keys.compactMap { key in
      switch (old[key], new[key]) {
      case (nil, let after?):
        return Difference(type: .entitlementActivated, before: nil, after: after)
      case (let before?, let after?):
        guard before != after else { return nil }
        return Difference(type: .entitlementUpdated, before: before, after: after)
      case (let before?, nil):
        var after = before
        after.isActive = false
        after.willRenew = before.willRenew.map { _ in false }
        return Difference(type: .entitlementDeactivated, before: before, after: after)
      case (nil, nil):
        return nil
      }
    }
  }
}

extension ChangeCause {
  /// The same cause; one that names no lineage, such as time that passed, names the grantor's.
  func naming(_ grantor: Grantor?) -> ChangeCause {
    guard lineage == nil else { return self }
    return ChangeCause(kind: kind, lineage: grantor?.lineage, transactionId: grantor?.transactionId)
  }
}
