import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization
import Testing

@testable import entitlement_service

/// A store that is folded from what another one has read and published.
extension TestService {
  /// The records of a topic as they would be read back.
  private func records(_ topic: Topic) async throws -> [ReceivedRecord] {
    let name = TopicNames().name(of: topic)
    return try await store.readers.read { reader in
      try reader.query(
        """
        SELECT id, key, value, headers, timestamp FROM outbox WHERE topic = ? ORDER BY id
        """, name
      ) { row in
        ReceivedRecord(
          topic: name, partition: 0, offset: row.int(0), timestamp: row.int(4),
          key: row.optionalBlob(1), value: row.optionalBlob(2),
          headers: (HeaderBytes.decode(row.blob(3)) ?? [])
            + [Header(name: "purser-sequence", text: "\(row.int(0))")])
      }
    }
  }

  /// A fresh store after `rebuild`, with the rules of this one.
  func rebuilt() async throws -> TestService {
    let new = try TestService(at: clock.now())
    new.rules.replace(with: rules.current)
    let rules = rules.current
    let events = try await records(.entitlements)
    let states = try await records(.entitlementState)
    let read = inputs.withLock { $0 }
    try await new.store.change { change in try RebuildTables.make(change) }
    for record in events { try await new.fold(FoldStories.collect(record)) }
    for record in states { try await new.fold(FoldStories.noteState(record)) }
    try await new.parts(from: "") { try FoldStories.fold($0, after: $1) }
    for record in read where record.topic == "iap.customers" {
      try await new.fold(RebuildEntitlements.dateErasure(record, isRead: true))
    }
    for record in read where record.topic == "iap.transactions" {
      try await new.fold(FoldPurchases.collect(record))
    }
    try await new.parts(from: FoldPurchases.Cursor()) {
      try FoldPurchases.foldMerged($0, after: $1)
    }
    let finish = FinishCustomers(rules: rules)
    try await new.parts(from: "") { try finish.run($0, after: $1) }
    try await new.store.change { change in try RebuildTables.drop(change) }
    return new
  }

  private func fold(_ work: RecordWork?) async throws {
    guard let work else { return }
    try await store.change { change in try work(change) }
  }

  private func parts<Cursor: Sendable>(
    from first: Cursor, _ body: @escaping @Sendable (Change, Cursor) throws -> Cursor?
  ) async throws {
    var cursor: Cursor? = first
    while let place = cursor {
      cursor = try await store.change { change in try body(change, place) }
    }
  }

  /// All that a rebuild must bring back, a line for each row.
  ///
  /// Left out: the outbox, what only a backup has, and for which time a customer was looked at last.
  func canonicalStore() async throws -> [String] {
    let tables = [
      ("customers", "customer, version, due_at, merged_into"),
      ("erased_customers", "hash, version, erased_at"),
      (
        "purchases",
        "customer, lineage, revision, is_held, gives_rights, hex(state), hex(sightings), "
          + "hex(unsettled)"
      ),
      ("grants", "customer, id, is_removed, hex(body)"),
      ("entitlements", "customer, environment, name, is_active, hex(body)"),
      ("timeline", "customer, version, type, at, hex(event)"),
      ("balances", "customer, environment, unit, amount"),
      (
        "balance_entries",
        "id, customer, environment, unit, kind, amount, intended, shortfall, expires_at, lineage, "
          + "transaction_id, line_item, spend_id, author, reason, at"
      ),
      ("balance_lots", "entry_id, customer, unit, remaining, expires_at, lineage, transaction_id"),
      ("spends", "id, customer, hex(body)"), ("credited_before", "lineage, transaction_id"),
      ("refund_requests", "customer, transaction_id, request, requested_at"),
    ]
    return try await store.readers.read { reader in
      try tables.flatMap { table, columns in
        let count = try reader.first("SELECT \(columns) FROM \(table) LIMIT 1") { _ in 1 } ?? 0
        guard count > 0 else { return [String]() }
        let texts = columns.split(separator: ", ").map { "quote(\($0))" }
        return try reader.query(
          "SELECT \(texts.joined(separator: " || ' ' || ")) FROM \(table) ORDER BY 1"
        ) { "\(table): \($0.text(0))" }
      }
    }
  }
}

/// Expects that a rebuild gives the same store, and that it tells nothing.
func expectSameAfterRebuild(
  _ service: TestService, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let new = try await service.rebuilt()
  let (live, rebuilt) = (
    try await service.canonicalStore(), try await new.canonicalStore()
  )
  let missing = Set(live).subtracting(rebuilt).sorted()
  let extra = Set(rebuilt).subtracting(live).sorted()
  #expect(missing.isEmpty && extra.isEmpty, sourceLocation: sourceLocation)
  for line in missing.prefix(4) { Issue.record("missing \(line)", sourceLocation: sourceLocation) }
  for line in extra.prefix(4) { Issue.record("extra \(line)", sourceLocation: sourceLocation) }
  #expect(try await new.published(.entitlementState).isEmpty, sourceLocation: sourceLocation)
  // Everyone is computed anew, as after a start: nothing is told.
  try await new.reevaluate()
  #expect(try await new.published().isEmpty, sourceLocation: sourceLocation)
}
