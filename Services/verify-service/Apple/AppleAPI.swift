import AppStore
import Catalog
import ServiceRuntime

/// An app in one of Apple's environments: what jobs, limits and progress are kept for.
struct AppleLane: Sendable, Hashable, CustomStringConvertible {
  let bundleId: String
  let environment: String

  var description: String { "\(bundleId)/\(environment)" }
}

/// Apple's API for the apps that have a key, in the environments that they serve.
struct AppleAPI: Sendable {
  /// The lanes that can be asked, in a fixed order.
  let lanes: [AppleLane]
  private let clients: [AppleLane: AppStoreServerAPI]
  private let lookups: [String: EnvironmentLookup]

  /// Clients that share one HTTP client and one limiter.
  init(
    _ apps: Apps, keys: [String: APIKey], context: APIContext,
    lookups: [String: EnvironmentLookup]
  ) throws {
    var lanes: [AppleLane] = []
    var clients: [AppleLane: AppStoreServerAPI] = [:]
    for app in apps.all {
      guard let key = keys[app.bundleId] else { continue }
      for environment in [AppEnvironment.production, .sandbox]
      where app.environments[environment.rawValue] != nil {
        let client = try AppStoreServerAPI(
          bundleId: app.bundleId, environment: environment, key: key, context: context)
        let lane = AppleLane(bundleId: app.bundleId, environment: environment.rawValue)
        lanes.append(lane)
        clients[lane] = client
      }
    }
    self.lanes = lanes
    self.clients = clients
    self.lookups = lookups
  }

  /// The client of an app and environment; nil without a key.
  func client(_ lane: AppleLane) -> AppStoreServerAPI? { clients[lane] }

  /// Finds out in which environment of an app a transaction is; nil without a key.
  func lookup(_ bundleId: String) -> EnvironmentLookup? { lookups[bundleId] }
}

extension AppStoreServerAPI {
  /// The answer or the failure as a value.
  ///
  /// The compiler crashes on typed errors that leave a loop that waits (docs/non-obvious.md, Swift).
  func result<Answer>(of request: APIRequest<Answer>) async -> Result<Answer, APIError> {
    do {
      return .success(try await answer(to: request))
    } catch {
      return .failure(error)
    }
  }

  /// Follows the pages of a query, from the first, and hands each to `take`.
  func followPages<Page: PagedAnswer>(
    limit: Int, _ request: (String?) throws -> APIRequest<Page>,
    take: (Page) async throws -> Void
  ) async throws {
    var cursor: String?
    for _ in 0..<limit {
      let page = try await result(of: try request(cursor)).get()
      try await take(page)
      guard page.hasMore, let next = page.cursor, next != cursor else { return }
      cursor = next
    }
  }
}

extension APIContext {
  /// The same, with every request counted and failures told.
  func counted(log: Log, metrics: Metrics) -> APIContext {
    var context = self
    context.observe = { attempt in
      metrics.countAppleRequest(
        attempt.endpoint.rawValue, environment: attempt.environment.rawValue,
        result: AppleFailure.word(attempt.failure), attempt.time)
      guard let failure = attempt.failure, !failure.isVerdict else { return }
      log.warning(
        "a request to Apple's API failed",
        [
          "app": .string(attempt.bundleId), "error": LogValue(failure),
          "advice": .string(failure.advice), "attempt": LogValue(attempt.number),
        ])
    }
    return context
  }
}

extension Metrics {
  /// Counts a request to Apple.
  func countAppleRequest(
    _ endpoint: String, environment: String, result: String, _ time: Duration
  ) {
    let place = ["endpoint": endpoint, "environment": environment]
    counter(
      "apple_requests_total", "Requests to Apple by how they ended.",
      labels: place.merging(["result": result]) { $1 }
    ).add()
    histogram(
      "apple_request_seconds", "Time of a request to Apple, the wait for a turn included.",
      labels: place
    ).record(time)
  }
}

extension APIError {
  /// Whether the next request would fail the same way, so that a job must pause.
  ///
  /// Otherwise only what was asked about is put back, and the rest goes on.
  var concernsAll: Bool {
    switch kind {
    case .unauthorized, .transport, .limited, .signing, .noServer, .cancelled: true
    case .status: status.map { $0 == 429 || $0 >= 500 } ?? true
    case .refused(let code):
      [.rateLimitExceeded, .invalidAppIdentifier, .appNotFound, .generalInternalRetryable]
        .contains(code)
    case .garbled, .unexpectedAnswer, .badRequest, .unknownTransaction, .endlessPages: false
    }
  }
}

/// How failures of Apple's API are counted and told.
enum AppleFailure {
  /// A short word for metrics; never anything that Apple wrote.
  static func word(_ failure: APIError?) -> String {
    guard let failure else { return "ok" }
    switch failure.kind {
    case .refused(let code): return code.name.map { _ in String(code.rawValue) } ?? "unknown-code"
    case .unauthorized: return "unauthorized"
    case .status: return failure.status.map { "http-\($0)" } ?? "http"
    case .garbled: return "garbled"
    case .unexpectedAnswer: return "unexpected-answer"
    case .transport: return "transport"
    case .limited: return "limited"
    case .noServer: return "no-server"
    case .badRequest: return "bad-request"
    case .signing: return "signing"
    case .unknownTransaction: return "unknown-transaction"
    case .endlessPages: return "endless-pages"
    case .cancelled: return "cancelled"
    }
  }
}
