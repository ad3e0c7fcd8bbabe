import AppStore
import Events
import HTTPServer
import Pipeline
import SQLite

/// `/v1/admin/…` of verify-service: what people ask Apple, how the jobs stand, imports.
struct AdminRoutes: Sendable {
  let ask: AskForPeople
  let imports: TakeImport

  func add(to router: inout Router) {
    addTransactions(to: &router)
    addExtensions(to: &router)
    addTestNotifications(to: &router)
    addImports(to: &router)
    router.on(
      .get, "/v1/admin/jobs", scope: .admin, home: .everywhere(JobProgress.ofAllShards)
    ) { _ in
      .json(try await ask.store.readers.read { try JobProgress($0) })
    }
  }

  /// Runs a handler; what Apple says becomes a problem document.
  private func on(
    _ method: HTTPServer.Method, _ path: String, _ router: inout Router, home: Home = .here,
    _ work: @escaping @Sendable (Request) async throws -> Response
  ) {
    router.on(method, path, scope: .admin, home: home) { request in
      do {
        return try await work(request)
      } catch let error as APIError {
        throw Problem(error)
      } catch let fault as NoAPIKey {
        throw Problem(fault)
      } catch let fault as ForeignAnswer {
        throw Problem(fault)
      }
    }
  }

  private func addTransactions(to router: inout Router) {
    on(.post, "/v1/admin/transactions/{id}/refresh", &router) { request in
      let place: AskForPeople.Place = try request.json()
      return .json(try await ask.refresh(request.parameter("id"), place))
    }
    on(.put, "/v1/admin/transactions/{id}/app-account-token", &router) { request in
      struct Body: Decodable {
        var bundleId: String
        var environment: String
        var appAccountToken: String
      }
      let body: Body = try request.json()
      let id = request.parameter("id")
      _ = try await ask.client(body.bundleId, body.environment).answer(
        to: .appAccountToken(id, token: body.appAccountToken))
      try await note("app-account-token", id, body.bundleId, body.environment)
      // Apple sends no notification about it.
      return .json(
        try await ask.refresh(
          id, AskForPeople.Place(bundleId: body.bundleId, environment: body.environment)))
    }
    on(.get, "/v1/admin/apple-orders/{orderId}", &router) { request in
      let bundleId = try needed("bundleId", request)
      return .json(try await ask.order(request.parameter("orderId"), bundleId))
    }
  }

  private struct Extension: Decodable {
    var bundleId: String
    var environment: String
    var days: Int32
    /// 0 undeclared, 1 customer satisfaction, 2 other, 3 service issue or outage.
    var reason: Int32?
    var requestIdentifier: String
    /// Of an extension for all.
    var productId: String?
    var storefronts: [String]?

    var plan: RenewalExtension {
      RenewalExtension(
        days: days, reason: ExtensionReason(rawValue: reason ?? 0),
        requestIdentifier: requestIdentifier)
    }
  }

  private struct Extended: Encodable {
    let requestIdentifier: String
    let success: Bool
    let effectiveDate: Int64?
  }

  private struct ExtensionStatus: Encodable {
    let requestIdentifier: String
    let isComplete: Bool
    let completeDate: Int64?
    let succeededCount: Int64?
    let failedCount: Int64?
  }

  private func addExtensions(to router: inout Router) {
    on(.post, "/v1/admin/subscriptions/{id}/extend", &router) { request in
      let body: Extension = try request.json()
      let answer = try await ask.client(body.bundleId, body.environment).answer(
        to: .extendRenewal(request.parameter("id"), body.plan))
      try await note(
        "extend \(body.days) days", request.parameter("id"), body.bundleId, body.environment)
      return .json(
        Extended(
          requestIdentifier: body.requestIdentifier, success: answer.success,
          effectiveDate: answer.effectiveDate))
    }
    on(.post, "/v1/admin/extensions", &router) { request in
      let body: Extension = try request.json()
      let answer = try await ask.client(body.bundleId, body.environment).answer(
        to: .massExtension(of: body.productId ?? "", in: body.storefronts, body.plan))
      try await note(
        "extend all \(body.days) days", body.productId ?? "", body.bundleId, body.environment)
      return .json(["requestIdentifier": answer.requestIdentifier], status: 202)
    }
    on(.get, "/v1/admin/extensions/{productId}/{requestIdentifier}", &router) { request in
      let identifier = request.parameter("requestIdentifier")
      let answer = try await client(request).answer(
        to: .massExtensionStatus(
          of: request.parameter("productId"), requestIdentifier: identifier))
      return .json(
        ExtensionStatus(
          requestIdentifier: identifier, isComplete: answer.complete,
          completeDate: answer.completeDate, succeededCount: answer.succeededCount,
          failedCount: answer.failedCount))
    }
  }

  private struct TestOutcome: Encodable {
    struct Attempt: Encodable {
      let attemptDate: Int64?
      let result: String?
    }

    let token: String
    /// Whether an attempt arrived.
    let hasArrived: Bool
    let attempts: [Attempt]
  }

  private func addTestNotifications(to router: inout Router) {
    on(.post, "/v1/admin/test-notifications", &router) { request in
      struct Body: Decodable {
        var bundleId: String
        var environment: String
      }
      let body: Body = try request.json()
      let answer = try await ask.client(body.bundleId, body.environment).answer(
        to: .testNotification())
      return .json(["token": answer.testNotificationToken], status: 202)
    }
    on(.get, "/v1/admin/test-notifications/{token}", &router) { request in
      let token = request.parameter("token")
      let answer = try await client(request).answer(to: .testNotificationStatus(token))
      return .json(
        TestOutcome(
          token: token,
          hasArrived: answer.sendAttempts.contains { $0.sendAttemptResult == .success },
          attempts: answer.sendAttempts.map {
            TestOutcome.Attempt(
              attemptDate: $0.attemptDate, result: $0.sendAttemptResult?.rawValue)
          }))
    }
  }

  private func addImports(to router: inout Router) {
    on(.put, "/v1/admin/imports/{id}", &router, home: .key("id")) { request in
      .json(try await imports.open(request.parameter("id"), try request.json()))
    }
    on(.post, "/v1/admin/imports/{id}/lines", &router, home: .key("id")) { request in
      .json(try await imports.take(request.parameter("id"), try request.json()), status: 202)
    }
    on(.get, "/v1/admin/imports/{id}", &router, home: .key("id")) { request in
      .json(try await imports.progress(request.parameter("id")))
    }
  }

  private func note(
    _ what: String, _ subject: String, _ bundleId: String, _ environment: String
  ) async throws {
    try await AppleWrites.note(
      what, of: subject, AppleLane(bundleId: bundleId, environment: environment), in: ask.store)
  }

  /// The client of the app and environment in the query.
  private func client(_ request: Request) throws -> AppStoreServerAPI {
    try ask.client(try needed("bundleId", request), try needed("environment", request))
  }

  private func needed(_ name: String, _ request: Request) throws(Problem) -> String {
    guard let value = request.query[name], !value.isEmpty else {
      throw Problem(
        status: 400, type: "missing-parameter", title: "Missing parameter",
        detail: "Give \(name) in the query.")
    }
    return value
  }
}
