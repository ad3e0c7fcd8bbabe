import AppStore
import HTTPServer
import ServiceRuntime

/// The App Store Server API (1.21): what every endpoint shares.
///
/// A request passes the faults that were asked for, the token's check and the rate limit, in that
/// order.
struct StoreAPI: Sendable {
  let simulator: Simulator
  let access: AccessCheck
  let limits: RateLimits
  let faults: FaultPlan

  /// Transactions and notifications on a page.
  static let pageSize = 20

  /// Adds an endpoint.
  func on(
    _ endpoint: APIEndpoint, _ method: HTTPServer.Method, _ path: String, _ router: inout Router,
    _ work: @escaping @Sendable (Request) async throws -> Response
  ) {
    router.on(method, path, scope: nil) { request in
      let fault = faults.take(endpoint.rawValue)
      if let fault, let answer = try await fault.answer(now: simulator.clock.now()) {
        return answer
      }
      guard access.accepts(request) else { return APIRefusal.unauthenticated }
      let response: Response
      do {
        try limits.take(endpoint, now: simulator.clock.now())
        response = try await work(request)
      } catch let refusal as APIRefusal {
        response = refusal.response
      } catch is MailboxFull {
        response = APIRefusal(.generalInternalRetryable).response
      } catch is Stopping {
        response = Response(status: 503)
      }
      return try await fault?.spoil(response) ?? response
    }
  }

  /// Signs a transaction now; a fault may let it be of the other environment.
  func sign(_ payload: TransactionPayload) throws -> String {
    var payload = payload
    payload.environment = environment
    return try simulator.signer.sign(payload, at: simulator.clock.now())
  }

  /// Signs renewal info now; a fault may let it be of the other environment.
  func sign(_ info: RenewalInfoPayload) throws -> String {
    var info = info
    info.environment = environment
    return try simulator.signer.sign(info, at: simulator.clock.now())
  }

  /// The environment that answers claim.
  var environment: AppEnvironment {
    let own = simulator.signer.environment
    guard faults.isForeign else { return own }
    return own == .production ? .sandbox : .production
  }
}
