import Catalog
import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/customers/{customer}/grants`: rights that people and own backends give and take back.
struct GrantRoutes: Sendable {
  let store: Store
  let recompute: Recompute

  /// What the caller posts.
  struct Input: Decodable, Sendable {
    let entitlement: String
    let environment: String?
    let startsAt: Int64?
    let expiresAt: Int64?
    let reason: String
    let author: String?
  }

  /// Why a grant is taken back.
  struct Removal: Decodable, Sendable {
    let reason: String
    let author: String?
  }

  func add(to router: inout Router) {
    router.on(
      .get, "/v1/customers/{customer}/grants", scope: .entitlementsRead, tokens: .denied
    ) { request in try await list(request) }
    router.on(.post, "/v1/customers/{customer}/grants", scope: .entitlementsWrite) { request in
      try await create(request)
    }
    router.on(.post, "/v1/customers/{customer}/grants/{grant}/removal", scope: .entitlementsWrite) {
      request in try await remove(request)
    }
  }

  private func list(_ request: Request) async throws -> Response {
    let (asked, limit) = (try request.customer(), try request.pageLimit())
    let after = try request.cursor() ?? ""
    return try await store.readers.read { reader in
      let row = try CustomerRow.load(reader, asked)
      let rows = try reader.query(
        "SELECT id, body FROM grants WHERE customer = ? AND id > ? ORDER BY id LIMIT ?",
        row.customer, after, Int64(limit + 1)
      ) { (id: $0.text(0), body: $0.blob(1)) }
      return try Page(rows, limit: limit, element: \.body, cursor: \.id)
        .response("grants", [("customer", try EventJSON.encode(row.customer))])
    }
  }

  private func create(_ request: Request) async throws -> Response {
    let asked = try request.customer(provisionalToo: false)
    let input = try request.json(Input.self)
    let key = try request.requiredIdempotencyKey()
    let environment = try checkedEnvironment(input.environment ?? "Production")
    guard Name.isValid(input.entitlement) else {
      throw Problem(
        status: 422, type: "invalid-entitlement", title: "Invalid entitlement name",
        detail: "entitlement is '\(input.entitlement.prefix(80))'; \(Name.rule).")
    }
    let reason = try checkedText(input.reason, "reason")
    let author = try request.author(input.author)
    let id = WriteID.make("grant", asked, key)
    let recompute = recompute
    let (grant, isNew) = try await store.change { change in
      let row = try CustomerRow.writable(change.transaction, asked)
      let ids = try WriteID.all("grant", asked, row, key, change.transaction)
      if let known = try ids.firstNonNil({
        try Grants.grant(change.transaction, row.customer, $0)
      }) {
        guard known.entitlement == input.entitlement, known.environment == environment,
          known.expiresAt == input.expiresAt, known.reason == reason,
          input.startsAt.map({ $0 == known.startsAt }) ?? true
        else { throw Problem.idempotencyKeyReused }
        return (known, false)
      }
      guard input.expiresAt.map({ $0 > max(change.now, input.startsAt ?? 0) }) ?? true else {
        throw Problem(
          status: 422, type: "invalid-time", title: "Invalid time",
          detail: "expiresAt must lie in the future and after startsAt, in UTC milliseconds.")
      }
      guard try Grants.count(change.transaction, row.customer) < Grants.limit else {
        throw Problem(
          status: 422, type: "too-many-grants", title: "Too many grants",
          detail: "The customer has \(Grants.limit) grants; take some back first.")
      }
      let grant = Grant(
        id: id, entitlement: input.entitlement, environment: environment,
        startsAt: max(input.startsAt ?? change.now, 0), expiresAt: input.expiresAt,
        author: author, reason: reason, createdAt: change.now)
      try Grants.save(change.transaction, row.customer, grant)
      try recompute.run(
        row, ChangeCause(kind: "grant", author: author, reason: reason), [.grant(grant)], change)
      return (grant, true)
    }
    return .json(grant, status: isNew ? 201 : 200)
  }

  private func remove(_ request: Request) async throws -> Response {
    let asked = try request.customer(provisionalToo: false)
    let input = try request.json(Removal.self)
    let reason = try checkedText(input.reason, "reason")
    let author = try request.author(input.author)
    let id = request.parameter("grant")
    let recompute = recompute
    return .json(
      try await store.change { change in
        let row = try CustomerRow.load(change.transaction, asked)
        guard var grant = try Grants.grant(change.transaction, row.customer, id) else {
          throw Problem(
            status: 404, type: "unknown-grant", title: "Unknown grant",
            detail: "The customer has no grant '\(id.prefix(80))'.")
        }
        // Taken back already: the same again.
        guard grant.removedAt == nil else { return grant }
        grant.removedAt = change.now
        try Grants.save(change.transaction, row.customer, grant)
        try recompute.run(
          row, ChangeCause(kind: "grant", author: author, reason: reason), [.grant(grant)],
          change)
        return grant
      })
  }
}

extension Problem {
  static let customerErased = Problem(
    status: 410, type: "customer-erased", title: "The customer was erased",
    detail: "This id was erased at its owner's wish and stays so; a new account needs a new id.")

  static let idempotencyKeyReused = Problem(
    status: 422, type: "idempotency-key-reused", title: "Idempotency-Key used before",
    detail: "This Idempotency-Key was used with another body; use a new key.")
}
