public import HTTPClient

/// What all clients of the App Store Server API in one process share.
public struct APIContext: Sendable {
  /// Sends a request and gives the answer, whatever its status.
  public typealias Transport =
    @Sendable (HTTPRequest) async throws(HTTPClientError) -> HTTPResponse

  /// Where the API stands.
  public var bases: APIBases
  /// The limits of all apps.
  public var limiter: APILimiter
  /// When to try again.
  public var retry = APIRetryPolicy()
  /// Time for one try, connecting included.
  public var timeout: Duration = .seconds(30)
  /// How this program names itself.
  public var userAgent = "purser"
  /// Told of every try, for metrics and logs; must return at once.
  public var observe: @Sendable (APITry) -> Void = { _ in }
  /// Time and chance.
  public let timing: APITiming
  let tokens: BearerTokens
  let transport: Transport

  /// Shares a way to send requests.
  public init(bases: APIBases = .apple, timing: APITiming, transport: @escaping Transport) {
    self.bases = bases
    self.timing = timing
    self.transport = transport
    limiter = APILimiter(timing: timing)
    tokens = BearerTokens(clock: timing.wallClock)
  }

  /// Shares an HTTP client.
  public init(bases: APIBases = .apple, timing: APITiming, client: HTTPClient) {
    self.init(bases: bases, timing: timing) { (request) async throws(HTTPClientError) in
      try await client.send(request)
    }
  }
}
