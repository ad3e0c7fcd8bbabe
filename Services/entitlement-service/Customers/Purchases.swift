import Catalog
import Events
import Pipeline
import SQLite

/// What a customer was told of a lineage last.
struct PurchaseRow: Sendable {
  let revision: Int64
  let isHeld: Bool
  let sightings: Sightings
  /// Transactions that were not yet considered for balances, such as those of an unknown product.
  let unsettled: [String]
  private let encoded: [UInt8]

  /// The transactions that were known.
  func transactionIds() throws -> Set<String> {
    Set(try EventJSON.decode(LineageState.self, from: encoded).transactions.map(\.transactionId))
  }

  fileprivate init(_ row: borrowing Row) throws {
    revision = row.int(0)
    isHeld = row.bool(1)
    encoded = row.blob(2)
    sightings =
      try row.optionalBlob(3).map { try EventJSON.decode(Sightings.self, from: $0) } ?? Sightings()
    unsettled = try row.optionalBlob(4).map { try EventJSON.decode([String].self, from: $0) } ?? []
  }
}

/// The purchases of customers: lineages, folded by revision.
enum Purchases {
  static func row(_ transaction: Transaction, _ customer: String, _ lineage: LineageID) throws
    -> PurchaseRow?
  {
    try transaction.first(
      """
      SELECT revision, is_held, state, sightings, unsettled FROM purchases
      WHERE customer = ? AND lineage = ?
      """, customer, lineage.description
    ) { try PurchaseRow($0) }
  }

  /// Writes what a customer was told of a lineage.
  ///
  /// - Parameter encoded: The state as it was read.
  static func save(
    _ transaction: Transaction, _ customer: String, _ state: LineageState, encoded: [UInt8],
    _ sightings: Sightings, unsettled: [String]
  ) throws {
    let givesRights = state.transactions.contains {
      $0.type != ProductKind.consumable.appStoreType
    }
    try transaction.run(
      """
      INSERT INTO purchases
        (customer, lineage, revision, is_held, gives_rights, state, sightings, unsettled)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (customer, lineage) DO UPDATE SET revision = excluded.revision,
        is_held = excluded.is_held, gives_rights = excluded.gives_rights, state = excluded.state,
        sightings = excluded.sightings, unsettled = excluded.unsettled
      """, customer, state.lineage.description, state.revision, state.holding == .held, givesRights,
      encoded, sightings == Sightings() ? nil : try EventJSON.encode(sightings),
      unsettled.isEmpty ? nil : try EventJSON.encode(unsettled))
  }

  /// The lineages that a customer has and that may give rights.
  static func held(_ transaction: Transaction, _ customer: String) throws -> [HeldLineage] {
    try transaction.query(
      """
      SELECT state, sightings FROM purchases
      WHERE customer = ? AND is_held = 1 AND gives_rights = 1 ORDER BY lineage
      """, customer
    ) { row in
      HeldLineage(
        try EventJSON.decode(LineageState.self, from: row.blob(0)),
        try row.optionalBlob(1).map { try EventJSON.decode(Sightings.self, from: $0) }
          ?? Sightings())
    }
  }

  /// Every lineage that a customer has.
  static func states(_ transaction: Transaction, _ customer: String) throws -> [LineageState] {
    try transaction.query(
      "SELECT state FROM purchases WHERE customer = ? AND is_held = 1 ORDER BY lineage", customer
    ) { row in try EventJSON.decode(LineageState.self, from: row.blob(0)) }
  }

  static func remove(_ transaction: Transaction, _ customer: String, _ lineage: LineageID) throws {
    try transaction.run(
      "DELETE FROM purchases WHERE customer = ? AND lineage = ?", customer, lineage.description)
  }

  /// A lineage that a customer has, as it was told last.
  static func state(_ transaction: Transaction, _ customer: String, _ lineage: LineageID) throws
    -> LineageState?
  {
    try transaction.first(
      "SELECT state FROM purchases WHERE customer = ? AND lineage = ? AND is_held = 1", customer,
      lineage.description
    ) { row in try EventJSON.decode(LineageState.self, from: row.blob(0)) }
  }

  /// The customers who have a lineage of which something was not yet considered for balances.
  static func waiting(_ transaction: Transaction, _ lineage: LineageID) throws -> [String] {
    try transaction.query(
      """
      SELECT customer FROM purchases
      WHERE lineage = ? AND is_held = 1 AND unsettled IS NOT NULL ORDER BY customer
      """, lineage.description
    ) { $0.text(0) }
  }

  /// The lineages of a customer of which something was not yet considered for balances.
  static func unsettled(_ transaction: Transaction, _ customer: String) throws -> [LineageID] {
    try transaction.query(
      """
      SELECT lineage FROM purchases
      WHERE customer = ? AND is_held = 1 AND unsettled IS NOT NULL ORDER BY lineage
      """, customer
    ) { LineageID($0.text(0)) }.compactMap { $0 }
  }

  static func setUnsettled(
    _ transaction: Transaction, _ customer: String, _ lineage: LineageID, _ ids: [String]
  ) throws {
    try transaction.run(
      "UPDATE purchases SET unsettled = ? WHERE customer = ? AND lineage = ?",
      ids.isEmpty ? nil : try EventJSON.encode(ids), customer, lineage.description)
  }
}
