import Events
import Pipeline
import SQLite

/// Tells the events of one customer: each is the next version, on the topic, in the timeline, and for
/// the webhooks.
struct CustomerStory {
  let customer: String
  let cause: ChangeCause
  let change: Change
  let hooks: WebhookQueue?
  private(set) var version: Int64
  /// For which time the customer was computed; a rebuilt store goes on from there.
  private let evaluatedAt: Int64

  init(
    _ customer: String, version: Int64, evaluatedAt: Int64, _ cause: ChangeCause,
    _ change: Change, _ hooks: WebhookQueue?
  ) {
    self.customer = customer
    self.version = version
    self.evaluatedAt = evaluatedAt
    self.cause = cause
    self.change = change
    self.hooks = hooks
  }

  /// Tells one event.
  ///
  /// - Parameters:
  ///   - environment: Apple's environment that it is about; nil for none.
  ///   - event: Makes the event for its version.
  mutating func tell(
    _ type: EventType, environment: String?, _ event: (Int64) -> some Encodable
  ) throws {
    version += 1
    let encoded = try EventJSON.encode(event(version))
    try change.publish(
      .entitlements, key: customer, type: type, subject: customer, revision: version,
      encoded: encoded, evaluatedAt: evaluatedAt)
    try Timeline.insert(change, customer, version, type, encoded)
    try hooks?.add(
      change,
      WebhookEvent(
        id: EventID.make(type, subject: customer, revision: version), type: type.rawValue,
        customer: customer, environment: environment, bundleId: bundleId, at: change.now,
        body: encoded))
  }

  /// The app that the cause is about.
  private var bundleId: String? {
    cause.lineage.flatMap { LineageID($0) }?.bundleId
  }

  mutating func tell(_ difference: Difference) throws {
    let (customer, now) = (customer, change.now)
    let cause = cause.naming(difference.after.grantor)
    try tell(difference.type, environment: difference.after.environment) { version in
      EntitlementChanged(
        customer: customer, version: version, entitlement: difference.after,
        previous: difference.before, cause: cause, changedAt: now)
    }
  }

  mutating func tell(_ news: News) throws {
    let (customer, cause, now) = (customer, cause, change.now)
    switch news {
    case .entry(let booked):
      var entryCause = cause
      let entry = booked.entry
      if entry.kind == "expiry" { entryCause = ChangeCause(kind: "expiry") }
      entryCause.lineage = entry.lineage ?? entryCause.lineage
      entryCause.transactionId = entry.transactionId
      try tell(.balanceChanged, environment: booked.balance.environment) { version in
        BalanceChanged(
          customer: customer, version: version, balance: booked.balance, delta: entry.amount,
          shortfall: entry.shortfall.flatMap { $0 > 0 ? $0 : nil }, entry: entry,
          cause: entryCause, changedAt: now)
      }
    case .moved(let balance, let delta):
      try tell(.balanceChanged, environment: balance.environment) { version in
        BalanceChanged(
          customer: customer, version: version, balance: balance, delta: delta, cause: cause,
          changedAt: now)
      }
    case .grant(let grant):
      let type = grant.removedAt == nil ? EventType.grantCreated : .grantRemoved
      try tell(type, environment: grant.environment) { version in
        GrantChanged(
          customer: customer, version: version, grant: grant, cause: cause, changedAt: now)
      }
    case .consumption(let report):
      try tell(.consumptionReported, environment: report.environment) { version in
        var report = report
        report.version = version
        return report
      }
    case .merged(let into):
      try tell(.entitlementsMerged, environment: nil) { version in
        EntitlementsMerged(
          customer: customer, version: version, into: into, cause: cause, changedAt: now)
      }
    case .erased:
      try tell(.entitlementsErased, environment: nil) { version in
        EntitlementsErased(customer: customer, version: version, cause: cause, changedAt: now)
      }
    }
  }
}

/// All events of a customer, for people: who, why, when.
enum Timeline {
  static func insert(
    _ change: Change, _ customer: String, _ version: Int64, _ type: EventType, _ event: [UInt8]
  ) throws {
    try change.transaction.run(
      "INSERT INTO timeline (customer, version, type, at, event) VALUES (?, ?, ?, ?, ?)", customer,
      version, type.rawValue, change.now, event)
  }
}
