import Cryptography
import Events
import Pipeline
import HTTPServer
import SQLite
import ServiceRuntime

/// Makes two ids one customer: all that the first has and will get belongs to the second.
struct MergeCustomers: Sendable {
  struct Input: Decodable, Sendable {
    let into: String
    let reason: String
  }

  /// So many ids lead to one customer at most.
  static let limit = 1000

  let store: Store
  let notices: Notices

  /// - Throws: `Problem`: 410 for an erased customer, 409 for one that was merged elsewhere or into
  ///   itself.
  func run(_ customer: String, _ input: Input, author: String) async throws -> CustomerMerged {
    try Problem.check(customer: customer)
    try Problem.check(customer: input.into)
    try Problem.check(reason: input.reason)
    let notices = notices
    return try await store.change { change in
      let rows = change.transaction
      // Never to an id that was merged away itself: readers of the event need not follow chains.
      let into = try CustomerStore.present(rows, input.into)
      guard change.shard.owns(key: into) else { throw Problem.mergeAcrossShards }
      if let merge = try CustomerStore.merge(rows, customer) {
        guard Customer.isSame(merge.into, into) else { throw Problem.customerMerged(merge) }
        return merge
      }
      guard try CustomerStore.erasure(rows, customer) == nil else { throw Problem.customerErased }
      guard !Customer.isSame(into, customer) else { throw Problem.mergeCycle }
      let older = try CustomerStore.merges(into: customer, rows)
      guard older.count + (try CustomerStore.merges(into: into, rows).count) < Self.limit else {
        throw Problem.tooManyMerges
      }
      let merge = CustomerMerged(
        id: Self.id(customer, into), customer: customer, into: into, author: author,
        reason: input.reason, decidedAt: change.now)
      try Self.publish(change, merge)
      // Whoever was merged into the one who ends goes along, by an event of its own.
      for var one in older {
        one.id = Self.id(one.customer, into)
        one.into = into
        one.author = author
        one.reason = input.reason
        one.decidedAt = change.now
        try Self.publish(change, one)
      }
      try rows.run("UPDATE account_tokens SET customer = ? WHERE customer = ?", into, customer)
      try rows.run("UPDATE restores SET customer = ? WHERE customer = ?", into, customer)
      try rows.run("UPDATE proofs SET customer = ? WHERE customer = ?", into, customer)
      _ = try MoveOrdersOfMerged.move(
        change, from: customer, to: into, limit: MoveOrdersOfMerged.atOnce, notices)
      return merge
    }
  }

  private static func id(_ customer: String, _ into: String) -> String {
    UUIDs.version5(namespace: EventID.namespace, name: "merge\n\(customer)\n\(into)")
  }

  private static func publish(_ change: Change, _ merge: CustomerMerged) throws {
    try CustomerStore.save(change.transaction, merge)
    try change.publish(
      .customers, key: merge.customer, type: .customerMerged, subject: merge.customer,
      revision: merge.id, merge)
  }
}

/// Gives the orders of a merged customer to the one it was merged into, a part at a time.
struct MoveOrdersOfMerged: TimerJob {
  /// How many orders go along with the merge itself.
  static let atOnce = 200

  let name = "move-orders-of-merged"
  let inputs: Set<Topic> = []
  let notices: Notices

  func nextDue(_ reader: Reader) throws -> Int64? { try Self.left(reader).map { _ in 0 } }

  func fire(_ change: Change, dueBy: Int64, limit: Int) throws -> Int {
    guard let merge = try Self.left(change.transaction) else { return 0 }
    return try Self.move(change, from: merge.customer, to: merge.into, limit: limit, notices)
  }

  /// A merge whose orders are not all moved yet.
  private static func left(_ rows: some StoreRows) throws -> CustomerMerged? {
    try rows.first("SELECT body FROM merges WHERE is_moving = 1 LIMIT 1") { row in
      try EventJSON.decode(CustomerMerged.self, from: row.blob(0))
    }
  }

  /// Moves at most so many orders, and notes whether some are left.
  static func move(_ change: Change, from: String, to: String, limit: Int, _ notices: Notices)
    throws -> Int
  {
    let orders = try change.transaction.query(
      "SELECT body FROM orders WHERE customer = ? ORDER BY created_at, id LIMIT ?", from,
      Int64(limit)
    ) { row in try EventJSON.decode(Order.self, from: row.blob(0)) }
    for var order in orders {
      order.customer = to
      try OrderStore.give(change.transaction, order.id, to: to)
      order.move(to: order.state, cause: "customer-merged", at: change.now)
      try OrderStore.save(change, order, notices: notices)
    }
    try change.transaction.run(
      "UPDATE merges SET is_moving = ? WHERE customer = ?", orders.count == limit, from)
    if orders.count == limit { change.timersAreDue(at: 0) }
    return orders.count
  }
}
