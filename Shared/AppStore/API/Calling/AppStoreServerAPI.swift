import Cryptography
import HTTPClient

/// The App Store Server API for one app in one environment.
public struct AppStoreServerAPI: Sendable {
  /// The app.
  public let bundleId: String
  /// The environment that is asked.
  public let environment: AppEnvironment
  private let key: APIKey
  private let base: String
  private let context: APIContext

  /// A client.
  ///
  /// - Throws: `APIError` of kind `noServer` for Xcode and for an environment without a base URL.
  public init(
    bundleId: String, environment: AppEnvironment, key: APIKey, context: APIContext
  ) throws(APIError) {
    base = try context.bases.base(of: environment)
    self.bundleId = bundleId
    self.environment = environment
    self.key = key
    self.context = context
  }

  /// Sends a request, again after failures that may pass, and gives Apple's answer.
  ///
  /// Each try waits for a turn of the limiter first.
  ///
  /// - Throws: `APIError`: the last failure, with the endpoint and the environment.
  public func answer<Answer>(
    to request: APIRequest<Answer>
  ) async throws(APIError) -> Answer {
    let uptime = context.timing.uptime
    let start = uptime()
    var tries = 0
    while true {
      tries += 1
      let began = uptime()
      let failure: APIError
      do {
        let answer = try await once(request)
        tell(request.endpoint, tries, uptime() - began, nil, pause: nil)
        return answer
      } catch {
        failure = error.at(request.endpoint, environment)
      }
      // The limiter has waited as long as it may: its refusal goes to the caller at once.
      let pause =
        failure.kind == .limited
        ? nil
        : context.retry.pause(
          after: failure, tries: tries, elapsed: uptime() - start,
          random: context.timing.random())
      tell(request.endpoint, tries, uptime() - began, failure, pause: pause)
      guard let pause else { throw failure }
      do {
        try await context.timing.sleep(pause)
      } catch {
        throw APIError(.cancelled, message: "cancelled between two tries")
          .at(request.endpoint, environment)
      }
    }
  }

  /// Finds out whether Apple accepts the key for this app, by asking for a transaction that cannot
  /// be.
  ///
  /// - Throws: `APIError`, `unauthorized` above all, with its advice.
  public func checkAccess() async throws(APIError) {
    // The optimizer of Swift 6.3 crashes on an error that is captured by `||` within its `catch`.
    let failure: APIError
    do {
      _ = try await answer(to: .transactionInfo("1"))
      return
    } catch {
      failure = error
    }
    let hasAccess: [APIErrorCode?] = [.transactionIdNotFound, .invalidTransactionId]
    guard hasAccess.contains(failure.code) else { throw failure }
  }

  private func tell(
    _ endpoint: APIEndpoint, _ number: Int, _ time: Duration, _ failure: APIError?,
    pause: Duration?
  ) {
    context.observe(
      APITry(
        bundleId: bundleId, environment: environment, endpoint: endpoint, number: number,
        time: time, failure: failure, pause: pause))
  }

  private func once<Answer>(_ request: APIRequest<Answer>) async throws(APIError) -> Answer {
    try await context.limiter.pass(bundleId, environment, request.endpoint)
    let response: HTTPResponse
    let message = try message(of: request)
    do {
      response = try await context.transport(message)
    } catch {
      guard error.kind != .cancelled else { throw APIError(.cancelled, message: error.detail) }
      throw APIError(.transport(error), message: error.description)
    }
    do {
      return try AnswerReader.read(response, of: request, now: context.timing.wallClock())
    } catch {
      note(error, at: request.endpoint)
      throw error
    }
  }

  /// What a refusal teaches about the requests to come.
  private func note(_ error: APIError, at endpoint: APIEndpoint) {
    if error.kind == .unauthorized { context.tokens.forget(for: bundleId, key: key) }
    if error.status == 429, let wait = error.retryAfter {
      context.limiter.pause(bundleId, environment, endpoint, for: wait)
    }
  }

  /// The request as it is sent, with a token.
  func message<Answer>(of request: APIRequest<Answer>) throws(APIError) -> HTTPRequest {
    let token: BearerToken
    do {
      token = try context.tokens.token(for: bundleId, key: key)
    } catch {
      throw APIError(.signing, message: "signing a token with \(key) failed: \(error.detail)")
    }
    var headers = [
      ("Authorization", "Bearer \(token.reveal)"),
      ("Accept", "application/json"),
      ("User-Agent", context.userAgent),
    ]
    if request.body != nil { headers.append(("Content-Type", "application/json")) }
    // Without a body curl gives a POST no length at all, which some servers refuse.
    let isBodyExpected = request.method == "POST" || request.method == "PUT"
    return HTTPRequest(
      method: request.method, url: base + request.target, headers: headers,
      body: request.body ?? (isBodyExpected ? [] : nil), timeout: context.timeout)
  }
}
