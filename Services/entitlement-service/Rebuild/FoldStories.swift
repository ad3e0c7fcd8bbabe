import Events
import JSON
import Kafka
import Pipeline
import SQLite

/// Folds what was told of customers: first all events go into the timeline, then each customer's
/// story, with those of the customers who were merged into it, is told to the tables.
enum FoldStories {
  /// Puts an event of `iap.entitlements` into the timeline; once, however often it was published.
  static func collect(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let type = record.header("ce_type"), let event = record.value else { return nil }
    let told: (customer: String, version: Int64, into: String?)
    do {
      let fields = try JSONFields(event)
      told = (
        try fields.text("customer"), try fields.number("version"), try fields.optionalText("into")
      )
    } catch {
      throw Undecodable("malformed-value", error.description)
    }
    let (at, evaluatedAt) = (record.timestamp, record.evaluatedAt ?? record.timestamp)
    let sequence = record.sequence ?? 0
    return { change in
      let transaction = change.transaction
      let inserted = try transaction.run(
        """
        INSERT INTO timeline (customer, version, type, at, event) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """, told.customer, told.version, type, at, event)
      guard inserted > 0 else { return }
      try transaction.run(
        "INSERT INTO rebuild_order (customer, version, sequence) VALUES (?, ?, ?)", told.customer,
        told.version, sequence)
      try RebuildTables.note(transaction, told.customer, evaluatedAt: evaluatedAt)
      guard type == EventType.entitlementsMerged.rawValue, let into = told.into else { return }
      try transaction.run(
        """
        INSERT INTO rebuild_merges (customer, into_customer) VALUES (?, ?) ON CONFLICT DO NOTHING
        """, told.customer, into)
      try RebuildTables.note(transaction, into, evaluatedAt: 0)
    }
  }

  /// Notes who became whom.
  static func noteAlias(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let merged = try record.decode(CustomerMerged.self, type: .customerMerged) else {
      return nil
    }
    return { change in
      try change.transaction.run(
        """
        INSERT INTO rebuild_aliases (customer, into_customer) VALUES (?, ?) ON CONFLICT DO NOTHING
        """, merged.customer, merged.into)
    }
  }

  /// Notes the version of the newest record of a customer on `iap.entitlement-state`.
  static func noteState(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let key = record.key else { return nil }
    let customer = String(decoding: key, as: UTF8.self)
    let version: Int64
    do {
      // A tombstone is the last of an erased customer.
      version = try record.value.map { try JSONFields($0).number("version") } ?? .max
    } catch {
      throw Undecodable("malformed-value", String(describing: error))
    }
    return { change in
      try change.transaction.run(
        "UPDATE rebuild_customers SET state_version = ? WHERE customer = ?", version, customer)
    }
  }

  /// How many customers one job folds.
  private static let batch = 200

  /// Folds the next customers; gives where the next job begins, nil at the end.
  static func fold(_ change: Change, after cursor: String) throws -> String? {
    let transaction = change.transaction
    let customers = try RebuildTables.customers(transaction, after: cursor, limit: batch)
    for customer in customers {
      let isMerged =
        try transaction.exists("SELECT 1 FROM rebuild_merges WHERE customer = ?", customer)
      if !isMerged { try fold(customer, change) }
    }
    return customers.last
  }

  /// Folds a customer, and all who ended in it, in the order in which their events were told.
  private static func fold(_ customer: String, _ change: Change) throws {
    let transaction = change.transaction
    let hasAliases =
      try transaction.exists(
        "SELECT 1 FROM rebuild_merges WHERE into_customer = ? LIMIT 1", customer)
    var fold = StoryFold(change: change)
    let alone =
      "SELECT customer, version, type, at, event FROM timeline WHERE customer = ?1 ORDER BY version"
    let together = """
      WITH RECURSIVE members (customer) AS (
        VALUES (?1) UNION
        SELECT merged.customer FROM rebuild_merges AS merged JOIN members
          ON merged.into_customer = members.customer)
      SELECT customer, version, type, at, event FROM members
        JOIN timeline USING (customer) JOIN rebuild_order USING (customer, version)
      ORDER BY sequence, customer, version
      """
    try transaction.forEach(hasAliases ? together : alone, customer) { row in
      try fold.tell(
        StoryFold.Event(
          customer: row.text(0), version: row.int(1), type: EventType(rawValue: row.text(2)),
          at: row.int(3), body: row.blob(4)))
    }
    try fold.finish()
  }
}
