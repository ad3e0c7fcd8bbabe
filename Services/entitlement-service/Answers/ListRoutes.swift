import Cryptography
import Events
import HTTPServer
import JSON
import Pipeline
import SQLite
import ServiceRuntime

/// Lists of a customer and of a right, page by page.
struct ListRoutes: Sendable {
  let store: Store

  func add(to router: inout Router) {
    router.on(.get, "/v1/customers/{customer}/purchases", scope: .entitlementsRead) { request in
      try await purchases(request)
    }
    // What support wrote down is not for the customer's own token.
    router.on(
      .get, "/v1/customers/{customer}/balances/entries", scope: .entitlementsRead, tokens: .denied
    ) { request in try await entries(request) }
    router.on(
      .get, "/v1/customers/{customer}/timeline", scope: .entitlementsRead, tokens: .denied
    ) { request in try await timeline(request) }
    router.on(
      .get, "/v1/entitlements/{right}/customers", scope: .entitlementsRead,
      home: .gathered(Self.gathering)
    ) { request in
      try await customers(request)
    }
  }

  /// How the customers of all shards become one list.
  private static let gathering = Gathering("customers", isDescending: false) {
    fields throws(JSONFieldFault) in
    let customer = try fields.text("customer")
    return Gathering.Place(
      rank: Gathering.Rank(0, customer), cursor: Base64URL.encode(Array(customer.utf8)))
  }

  /// The lineages that the customer has or had, each with all its transactions.
  private func purchases(_ request: Request) async throws -> Response {
    let (asked, limit) = (try request.customer(), try request.pageLimit())
    let (after, environment) = (try request.cursor() ?? "", try request.environment())
    return try await store.readers.read { reader in
      let row = try CustomerRow.load(reader, asked)
      // A lineage is `bundleId/environment/id`, so its environment can be looked for in the name.
      let rows = try reader.query(
        """
        SELECT lineage, state FROM purchases WHERE customer = ?1 AND lineage > ?2
          AND (?3 IS NULL OR lineage LIKE '%/' || ?3 || '/%') ORDER BY lineage LIMIT ?4
        """, row.customer, after, environment, Int64(limit + 1)
      ) { (lineage: $0.text(0), state: $0.blob(1)) }
      return try Page(rows, limit: limit, element: \.state, cursor: \.lineage)
        .response("purchases", Self.members(row))
    }
  }

  /// The ledger of balances, newest entry first.
  private func entries(_ request: Request) async throws -> Response {
    let (asked, limit) = (try request.customer(), try request.pageLimit())
    let environment = try request.environment()
    let (unit, before) = (request.queryValue("unit"), try EntryCursor(request.cursor()))
    return try await store.readers.read { reader in
      let row = try CustomerRow.load(reader, asked)
      let rows = try EntryRow.read(
        reader, row.customer, environment: environment, unit: unit, before: before,
        limit: limit + 1)
      return try Page(
        rows, limit: limit, element: { try EventJSON.encode($0) },
        cursor: { "\($0.at) \($0.entry.id)" }
      ).response("entries", Self.members(row))
    }
  }

  /// Everything that was told of exactly this customer, newest first: also of one who was merged.
  private func timeline(_ request: Request) async throws -> Response {
    let (customer, limit) = (try request.customer(), try request.pageLimit())
    let before = try request.numberCursor() ?? Int64.max
    return try await store.readers.read { reader in
      let row = try CustomerRow.exactly(reader, customer)
      let rows =
        try TimelineRow.end(of: row, before: before)
        ?? TimelineRow.read(reader, customer, before: before, limit: limit + 1)
      return try Page(rows, limit: limit, element: \.json, cursor: { "\($0.version)" })
        .response("timeline", Self.members(row))
    }
  }

  /// The customers who may use a right now, by their ids.
  private func customers(_ request: Request) async throws -> Response {
    let (right, limit) = (request.parameter("right"), try request.pageLimit())
    let environment = try request.environment() ?? "Production"
    let after = try request.cursor() ?? ""
    return try await store.readers.read { reader in
      let rows = try reader.query(
        """
        SELECT customer, body FROM entitlements
        WHERE name = ? AND environment = ? AND is_active = 1 AND customer > ?
        ORDER BY customer LIMIT ?
        """, right, environment, after, Int64(limit + 1)
      ) { (customer: $0.text(0), entitlement: $0.blob(1)) }
      return try Page(
        rows, limit: limit,
        element: { row in
          Array("{\"customer\":".utf8) + (try EventJSON.encode(row.customer))
            + Array(",\"entitlement\":".utf8) + row.entitlement + [UInt8(ascii: "}")]
        }, cursor: \.customer
      ).response(
        "customers",
        [
          ("entitlement", try EventJSON.encode(right)),
          ("environment", try EventJSON.encode(environment)),
        ])
    }
  }

  private static func members(_ row: CustomerRow) throws -> [(String, [UInt8])] {
    [("customer", try EventJSON.encode(row.customer)), ("version", Array("\(row.version)".utf8))]
  }
}

/// Where a page of entries begins: before a time and, of that time, before an id.
struct EntryCursor: Sendable {
  var at = Int64.max
  var id = ""

  init(_ text: String?) throws(Problem) {
    guard let text else { return }
    let parts = text.split(separator: " ")
    guard parts.count == 2, let at = Int64(parts[0]) else {
      throw .badCursor
    }
    (self.at, id) = (at, String(parts[1]))
  }

  init() {}
}

/// An entry of the ledger as it is answered.
struct EntryRow: Encodable, Sendable {
  let entry: BalanceEntry
  let unit: String
  let environment: String
  let author: String?
  let reason: String?
  let at: Int64

  private enum Keys: CodingKey { case unit, environment, author, reason, at }

  func encode(to encoder: any Encoder) throws {
    try entry.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(unit, forKey: .unit)
    try container.encode(environment, forKey: .environment)
    try container.encodeIfPresent(author, forKey: .author)
    try container.encodeIfPresent(reason, forKey: .reason)
    try container.encode(at, forKey: .at)
  }

  static func read(
    _ reader: Reader, _ customer: String, environment: String?, unit: String?,
    before: EntryCursor, limit: Int
  ) throws -> [EntryRow] {
    try reader.query(
      """
      SELECT id, kind, amount, intended, shortfall, expires_at, lineage, transaction_id, spend_id,
        unit, environment, author, reason, at
      FROM balance_entries
      WHERE customer = ?1 AND (?2 IS NULL OR environment = ?2) AND (?3 IS NULL OR unit = ?3)
        AND (at < ?4 OR (at = ?4 AND id < ?5)) ORDER BY at DESC, id DESC LIMIT ?6
      """, customer, environment, unit, before.at, before.id, Int64(limit)
    ) { row in
      var entry = BalanceEntry(id: row.text(0), kind: row.text(1), amount: row.int(2))
      entry.intended = row.int(3) == row.int(2) ? nil : row.int(3)
      entry.shortfall = row.int(4) == 0 ? nil : row.int(4)
      entry.expiresAt = row.optionalInt(5)
      entry.lineage = row.optionalText(6)
      entry.transactionId = row.optionalText(7)
      entry.spendId = row.optionalText(8)
      return EntryRow(
        entry: entry, unit: row.text(9), environment: row.text(10),
        author: row.optionalText(11), reason: row.optionalText(12), at: row.int(13))
    }
  }
}

/// An event of the timeline as it is answered.
struct TimelineRow: Sendable {
  let version: Int64
  let type: String
  let at: Int64
  let event: [UInt8]

  var json: [UInt8] {
    Array("{\"version\":\(version),\"type\":\"\(type)\",\"at\":\(at),\"event\":".utf8) + event
      + [UInt8(ascii: "}")]
  }

  /// All that is left to tell of an erased customer: that it was erased; nil for others.
  static func end(of row: CustomerRow, before: Int64 = .max) throws -> [TimelineRow]? {
    guard row.erasedAt != nil else { return nil }
    guard row.version < before else { return [] }
    let told = EntitlementsErased(
      customer: row.customer, version: row.version, cause: ChangeCause(kind: "erasure"),
      changedAt: row.updatedAt ?? 0)
    return [
      TimelineRow(
        version: row.version, type: EventType.entitlementsErased.rawValue, at: row.updatedAt ?? 0,
        event: try EventJSON.encode(told))
    ]
  }

  static func read(_ reader: Reader, _ customer: String, before: Int64, limit: Int) throws
    -> [TimelineRow]
  {
    try reader.query(
      """
      SELECT version, type, at, event FROM timeline WHERE customer = ? AND version < ?
      ORDER BY version DESC LIMIT ?
      """, customer, before, Int64(limit)
    ) { row in
      TimelineRow(version: row.int(0), type: row.text(1), at: row.int(2), event: row.blob(3))
    }
  }
}
