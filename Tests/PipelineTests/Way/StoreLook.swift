import Cryptography
import Events
import Kafka
import SQLite
import Synchronization

@testable import purser

/// What stands in the stores of the services, read beside them from the files.
struct StoreLook: Sendable {
  /// The store of each service.
  static let files = [
    "order-service": "orders.sqlite", "verify-service": "verify.sqlite",
    "entitlement-service": "entitlement.sqlite",
  ]
  /// The topics that each service reads.
  static let inputs: [String: Set<Topic>] = [
    "order-service": [.transactions], "verify-service": [.proofs, .appstore, .customers],
    "entitlement-service": [.transactions, .customers],
  ]
  private static let tables = [
    "order-service": ["outbox", "waiting_records", "orders", "proofs", "idempotency_keys"],
    "verify-service": [
      "outbox", "waiting_records", "lineages", "tokens", "waiting_facts", "proof_outcomes",
    ],
    "entitlement-service": [
      "outbox", "waiting_records", "customers", "purchases", "entitlements", "balances",
      "balance_entries",
    ],
  ]

  /// Rows of each table, as `service.table`.
  var rows: [String: Int64] = [:]
  /// The next offset to read, of each service.
  var positions: [String: [TopicPartition: Int64]] = [:]
  /// Proofs that have no outcome in the store of the orders.
  var undecidedProofs: Int64 = 0

  /// Reads the stores of all shards; blocks.
  init(_ layout: ShardLayout, _ plan: StackPlan) throws {
    for (service, file) in Self.files {
      var positions: [(shard: Int, found: [TopicPartition: Int64])] = []
      for (ordinal, folder) in layout.folders(plan).enumerated() {
        let connection = try Connection(path: "\(folder)/\(file)", mode: .readOnly)
        for table in Self.tables[service] ?? [] {
          rows["\(service).\(table)", default: 0] +=
            try connection.first("SELECT COUNT(*) FROM \(table)") { $0.int(0) } ?? 0
        }
        let found = try connection.query(
          "SELECT topic, partition, next_offset FROM input_positions"
        ) { row in
          (TopicPartition(row.text(0), Int32(truncatingIfNeeded: row.int(1))), row.int(2))
        }
        positions.append((ordinal, Dictionary(uniqueKeysWithValues: found)))
        if service == "order-service" {
          undecidedProofs +=
            try connection.first("SELECT COUNT(*) FROM proofs WHERE outcome IS NULL") { $0.int(0) }
            ?? 0
        }
      }
      self.positions[service] = Self.together(positions, service, plan)
    }
  }

  /// Each partition's position on the shard that owns it; of what all read in full the least.
  private static func together(
    _ positions: [(shard: Int, found: [TopicPartition: Int64])], _ service: String,
    _ plan: StackPlan
  ) -> [TopicPartition: Int64] {
    let whole = plan.topics.name(of: .customers)
    var all: [TopicPartition: Int64] = [:]
    for partition in Set(positions.flatMap(\.found.keys)) {
      let owner = Int(partition.partition) % positions.count
      let isWhole = service == "verify-service" && partition.topic == whole
      let readers = positions.filter { isWhole || $0.shard == owner }
      all[partition] = readers.map { $0.found[partition] ?? 0 }.min()
    }
    return all
  }

  /// Why the way is not quiet, given where the logs end; nil when it is.
  func unrest(_ ends: [TopicPartition: Int64], _ names: TopicNames) -> String? {
    for table in ["outbox", "waiting_records", "waiting_facts"] {
      for (name, count) in rows where name.hasSuffix(".\(table)") && count > 0 {
        return "\(count) rows in \(name)"
      }
    }
    for (service, topics) in Self.inputs {
      for (partition, end) in ends where end > 0 {
        guard let topic = names.topic(named: partition.topic), topics.contains(topic) else {
          continue
        }
        let position = positions[service]?[partition] ?? 0
        if position < end { return "\(service) has read \(partition) to \(position) of \(end)" }
      }
    }
    return undecidedProofs > 0 ? "\(undecidedProofs) proofs without outcome" : nil
  }
}

/// The contents of the stores that the laws speak of.
struct StoreContents: Sendable {
  /// By order id.
  var orders: [String: Order] = [:]
  /// By lineage.
  var lineages: [String: LineageState] = [:]
  /// By customer: the version.
  var versions: [String: Int64] = [:]
  /// By the hash of an erased customer's id: the version.
  var versionsOfErased: [String: Int64] = [:]
  /// By customer: the active rights.
  var entitlements: [String: [Entitlement]] = [:]
  /// By customer.
  var balances: [String: [Balance]] = [:]

  /// Reads the stores of all shards; blocks.
  init(_ layout: ShardLayout, _ plan: StackPlan) throws {
    for folder in layout.folders(plan) { try read { "\(folder)/\($0)" } }
  }

  private mutating func read(_ path: (String) -> String) throws {
    let orderStore = try Connection(path: path("orders.sqlite"), mode: .readOnly)
    for order in try orderStore.query(
      "SELECT body FROM orders",
      map: { row in
        try EventJSON.decode(Order.self, from: row.blob(0))
      })
    {
      orders[order.id] = order
    }
    let verifyStore = try Connection(path: path("verify.sqlite"), mode: .readOnly)
    for state in try verifyStore.query(
      "SELECT state FROM lineages",
      map: { row in
        try EventJSON.decode(LineageState.self, from: row.blob(0))
      })
    {
      lineages[state.lineage.description] = state
    }
    let store = try Connection(path: path("entitlement.sqlite"), mode: .readOnly)
    for (customer, version) in try store.query(
      "SELECT customer, version FROM customers", map: { row in (row.text(0), row.int(1)) })
    {
      // Of who was merged there may be a copy.
      versions[customer] = max(version, versions[customer] ?? 0)
    }
    for (hash, version) in try store.query(
      "SELECT hash, version FROM erased_customers", map: { row in (row.text(0), row.int(1)) })
    {
      versionsOfErased[hash] = version
    }
    for (customer, entitlement) in try store.query(
      "SELECT customer, body FROM entitlements WHERE is_active = 1 ORDER BY environment, name",
      map: { row in (row.text(0), try EventJSON.decode(Entitlement.self, from: row.blob(1))) })
    {
      entitlements[customer, default: []].append(entitlement)
    }
    for (customer, balance) in try store.query(
      """
      SELECT customer, unit, environment, amount FROM balances ORDER BY environment, unit
      """,
      map: { row in
        (row.text(0), Balance(unit: row.text(1), environment: row.text(2), amount: row.int(3)))
      })
    {
      balances[customer, default: []].append(balance)
    }
  }
}

extension StoreContents {
  /// The version of a customer, also of an erased one; 0 for one who is not known.
  func version(of customer: String) -> Int64 {
    versions[customer] ?? versionsOfErased[SHA256.hex(customer)] ?? 0
  }
}

extension Way {
  /// What stands in the stores now.
  func stores() async throws -> StoreLook {
    let layout = layout.withLock { $0 }
    return try await offPool { [plan] in try StoreLook(layout, plan) }
  }

  /// Waits until nothing is on its way: Apple has posted what it had, all is read, all is published, every
  /// proof has its outcome.
  ///
  /// - Returns: What the stores hold then.
  func quiet(within patience: Duration = Way.patience) async throws -> StoreContents {
    var unrest = "nothing was looked at"
    do {
      _ = try await eventually("the way is quiet", within: patience) { () -> Bool? in
        // First: what Apple was told to be taken stands on the topic.
        if try await isApplePosting() {
          unrest = "Apple posts notifications"
          return nil
        }
        let ends = try await journal.ends()
        if let found = try await stores().unrest(ends, plan.topics) {
          unrest = found
          return nil
        }
        try await journal.catchUp()
        guard try await journal.ends() == ends else { return nil }
        return true
      }
    } catch let error as NotInTime {
      throw NotInTime(description: "\(error.description): \(unrest)")
    }
    let layout = layout.withLock { $0 }
    return try await offPool { [plan] in try StoreContents(layout, plan) }
  }
}
