public import HTTPServer
import JSON
public import Pipeline
import SQLite

/// `GET /v1/audit`: what each key and token wrote, newest first.
public struct AuditRoutes: Sendable {
  private let store: Store

  /// Shows the log of writes of a store.
  public init(_ store: Store) { self.store = store }

  /// Adds the route.
  public func add(to router: inout Router) {
    router.on(.get, "/v1/audit", scope: .admin, home: .gathered(Self.gathering)) { request in
      try await list(request)
    }
  }

  /// How the logs of all shards become one.
  private static let gathering = Gathering("entries", isDescending: true) {
    fields throws(JSONFieldFault) in
    Gathering.Place(
      rank: Gathering.Rank(try fields.number("at")), cursor: "\(try fields.number("id"))")
  }

  private struct Answer: Encodable {
    let entries: [AuditEntry]
    let next: String?
  }

  private func list(_ request: Request) async throws -> Response {
    var filter = AuditLog.Filter()
    filter.before = try cursor(request)
    filter.caller = request.queryValue("caller")
    filter.customer = request.queryValue("customer")
    filter.from = try request.time("from")
    filter.until = try request.time("until")
    let limit = try request.pageLimit()
    let page = try await store.readers.read { [filter] reader in
      try AuditLog.page(reader, filter, limit: limit)
    }
    return .json(Answer(entries: page.entries, next: page.next.map(String.init)))
  }

  private func cursor(_ request: Request) throws(Problem) -> Int64? {
    guard let text = request.queryValue("cursor") else { return nil }
    guard let id = Int64(text), id > 0 else {
      throw .badCursor
    }
    return id
  }
}
