import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Computes a customer's rights anew and publishes the difference; one event is one version.
struct Recompute: Sendable {
  /// The rules of the moment: a new catalog replaces them.
  let rules: LiveRules
  let waiters: Waiters<String>
  let hooks: WebhookQueue?
  private let events: Counter

  init(
    rules: LiveRules, waiters: Waiters<String> = Waiters(), hooks: WebhookQueue? = nil,
    metrics: Metrics
  ) {
    self.rules = rules
    self.waiters = waiters
    self.hooks = hooks
    events = metrics.counter("entitlement_events_total", "Events for other backends.")
  }

  /// Recomputes a customer.
  ///
  /// - Parameters:
  ///   - row: The customer, as it stands in the store; not one who was merged into another.
  ///   - cause: Why, for the events.
  ///   - news: What else the same cause brought; each becomes an event.
  ///   - time: For which time. A record gives the time of its own decision, so that reading a backlog
  ///     ends no right before the renewal behind it is read; only a timer, which has read the past,
  ///     gives the present (design law 11). Nil, as for what people do, leaves time where it is. Time
  ///     never runs back for a customer.
  ///   - change: The change that all of it is part of.
  func run(
    _ row: CustomerRow, _ cause: ChangeCause, _ news: [News] = [], at time: Int64? = nil,
    _ change: Change
  ) throws {
    let (transaction, customer) = (change.transaction, row.customer)
    let time = max(min(time ?? 0, change.now), row.evaluatedAt ?? 0)
    let news =
      try (news + Lots.expire(change, customer, at: time).map(News.entry))
      .enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
      .map(\.element)
    let result = Entitlements.compute(
      Holdings(
        customer: customer, lineages: try Purchases.held(transaction, customer),
        grants: try Grants.standing(transaction, customer)), rules.current, at: time)
    let told = try EntitlementRows.all(transaction, customer)
    let differences =
      Difference.between(
        told.filter(\.isActive), result.entitlements, ended: result.ended)
      + Difference.ofEnded(told.filter { !$0.isActive }, result)

    var story = CustomerStory(
      customer, version: row.version, evaluatedAt: time, cause, change, hooks)
    for news in news where news.rank == 0 { try story.tell(news) }
    for difference in differences {
      try EntitlementRows.save(transaction, customer, difference.after)
      try story.tell(difference)
    }
    for news in news where news.rank > 0 { try story.tell(news) }

    let dueAt = [result.nextChange, try Lots.nextEnd(transaction, customer)].compactMap { $0 }.min()
    let isTold = story.version != row.version
    guard isTold || row.evaluatedAt == nil || row.dueAt != dueAt else { return }
    try row.save(change, version: story.version, evaluatedAt: time, dueAt: dueAt)
    change.timersAreDue(at: dueAt)
    guard isTold else { return }
    try publish(row, story.version, result, change)
    change.count(events, Int(story.version - row.version))
    let waiters = waiters
    transaction.afterCommit { waiters.notify(customer) }
  }

  /// The whole state, for the compacted topic; nothing of one who was erased.
  private func publish(
    _ row: CustomerRow, _ version: Int64, _ result: Entitlements.Result, _ change: Change
  ) throws {
    let balances = try BalanceBook.all(change.transaction, row.customer)
    let isForgotten =
      row.erasedAt != nil && result.entitlements.isEmpty && balances.isEmpty
    try change.publish(
      .entitlementState, key: row.customer, type: .customerState, subject: row.customer,
      revision: version,
      isForgotten
        ? nil
        : CustomerState(
          customer: row.customer, version: version, entitlements: result.entitlements,
          balances: balances, updatedAt: change.now))
  }
}

/// The rights as they were told last.
enum EntitlementRows {
  static func all(_ transaction: Transaction, _ customer: String) throws -> [Entitlement] {
    try transaction.query(
      "SELECT body FROM entitlements WHERE customer = ? ORDER BY environment, name", customer
    ) { row in try EventJSON.decode(Entitlement.self, from: row.blob(0)) }
  }

  static func save(_ transaction: Transaction, _ customer: String, _ entitlement: Entitlement)
    throws
  {
    try transaction.run(
      """
      INSERT INTO entitlements (customer, environment, name, is_active, body)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (customer, environment, name) DO UPDATE SET is_active = excluded.is_active,
        body = excluded.body
      """, customer, entitlement.environment, entitlement.name, entitlement.isActive,
      try EventJSON.encode(entitlement))
  }
}
