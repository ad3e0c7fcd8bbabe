import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/customers/{customer}/export`: everything that is kept of one customer, as JSON.
struct ExportRoutes: Sendable {
  let store: Store

  /// No list of an export is longer; what is beyond stands in the paged lists.
  static let limit = 10_000

  func add(to router: inout Router) {
    router.on(.get, "/v1/customers/{customer}/export", scope: .admin) { request in
      let asked = try request.customer()
      return try await store.readers.read { reader in try Self.export(reader, asked) }
    }
  }

  private static func export(_ reader: Reader, _ asked: String) throws -> Response {
    let row = try CustomerRow.load(reader, asked)
    let customer = row.customer
    var body = Array("{\"customer\":".utf8) + (try EventJSON.encode(customer))
    body += Array(",\"version\":\(row.version)".utf8)
    var truncated: [String] = []
    func add(_ name: String, _ elements: [[UInt8]]) {
      if elements.count > limit { truncated.append(name) }
      body += Array(",\"\(name)\":[".utf8)
      body += elements.prefix(limit).joined(separator: [UInt8(ascii: ",")])
      body.append(UInt8(ascii: "]"))
    }
    func blobs(_ sql: String) throws -> [[UInt8]] {
      try reader.query(sql, customer, Int64(limit + 1)) { $0.blob(0) }
    }
    let aliases = try reader.query(
      "SELECT customer FROM customers WHERE merged_into = ? ORDER BY customer LIMIT ?", customer,
      Int64(limit + 1)
    ) { $0.text(0) }
    add("aliases", try aliases.map { try EventJSON.encode($0) })
    add(
      "entitlements",
      try blobs(
        "SELECT body FROM entitlements WHERE customer = ? ORDER BY environment, name LIMIT ?")
    )
    body += Array(",\"balances\":".utf8)
    body += try EntitlementRoutes.balances(reader, customer, nil)
    add(
      "entries",
      try EntryRow.read(
        reader, customer, environment: nil, unit: nil, before: EntryCursor(), limit: limit + 1
      ).map { try EventJSON.encode($0) })
    add("grants", try blobs("SELECT body FROM grants WHERE customer = ? ORDER BY id LIMIT ?"))
    add("spends", try blobs("SELECT body FROM spends WHERE customer = ? ORDER BY id LIMIT ?"))
    add(
      "purchases",
      try blobs("SELECT state FROM purchases WHERE customer = ? ORDER BY lineage LIMIT ?"))
    body += Array(",\"refundSettings\":".utf8)
    body += try EventJSON.encode(try RefundSettings.load(reader, customer))
    let events =
      try TimelineRow.end(of: row)
      ?? ([customer] + aliases).flatMap {
        try TimelineRow.read(reader, $0, before: Int64.max, limit: limit + 1)
      }
    add("timeline", events.map(\.json))
    body += Array(",\"truncated\":".utf8) + (try EventJSON.encode(truncated))
    body.append(UInt8(ascii: "}"))
    return .json(bytes: body)
  }
}
