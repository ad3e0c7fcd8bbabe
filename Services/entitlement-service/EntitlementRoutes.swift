import Events
import HTTPServer
import Pipeline
import SQLite

/// `/v1/customers/{customer}/entitlements` and `/balances`: what a customer owns.
struct EntitlementRoutes: Sendable {
  let store: Store

  func add(to router: inout Router) {
    router.on(.get, "/v1/customers/{customer}/entitlements", scope: .entitlementsRead) { request in
      try await answer(
        request, list: "entitlements",
        sql: """
          SELECT body FROM entitlements WHERE customer = ?1 AND (?2 IS NULL OR environment = ?2)
          ORDER BY environment, name
          """
      ) { row in row.blob(0) }
    }
    router.on(.get, "/v1/customers/{customer}/balances", scope: .entitlementsRead) { request in
      try await answer(
        request, list: "balances",
        sql: """
          SELECT unit, environment, amount FROM balances
          WHERE customer = ?1 AND (?2 IS NULL OR environment = ?2) ORDER BY environment, unit
          """
      ) { row in
        try EventJSON.encode(
          Balance(unit: row.text(0), environment: row.text(1), amount: row.int(2)))
      }
    }
  }

  /// The customer's version and a list, read from one snapshot; the version is the entity tag.
  ///
  /// A customer of whom nothing is known has version 0 and owns nothing: that is an answer, not an
  /// error.
  private func answer(
    _ request: Request, list: String, sql: String,
    _ element: @escaping @Sendable (borrowing Row) throws -> [UInt8]
  ) async throws -> Response {
    let customer = request.parameter("customer")
    try check(customer)
    let environment = request.queryValue("environment")
    if let environment, !["Production", "Sandbox", "Xcode"].contains(environment) {
      throw Problem(
        status: 400, type: "unknown-environment", title: "Unknown environment",
        detail: "environment is '\(environment.prefix(40))'; give Production, Sandbox or Xcode.")
    }
    let (version, elements) = try await store.readers.read { reader in
      (
        try reader.first("SELECT version FROM customers WHERE customer = ?", customer) {
          $0.int(0)
        } ?? 0,
        try reader.query(sql, customer, environment, map: element)
      )
    }
    // The elements are stored as the JSON that they are answered as.
    var body = Array("{\"customer\":".utf8)
    body += try EventJSON.encode(customer)
    body += Array(",\"version\":\(version),\"\(list)\":[".utf8)
    body += elements.joined(separator: [UInt8(ascii: ",")])
    body += Array("]}".utf8)
    return Response.json(bytes: body).tagged("\(version)", for: request)
  }

  private func check(_ customer: String) throws(Problem) {
    // Provisional customers are Purser's own, and may be read by support.
    if Customer.isProvisional(customer) { return }
    do {
      try Customer.check(customer)
    } catch {
      throw Problem(
        status: 422, type: "invalid-customer", title: "Invalid customer id",
        detail: "The customer id in the path is \(error); give 1 to 128 bytes without control "
          + "characters, not beginning with '$'.")
    }
  }
}
