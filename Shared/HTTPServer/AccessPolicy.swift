/// Decides who may use a route: at once, on the thread of the connection.
public struct AccessPolicy: Sendable {
  /// Says whose a bearer text is; must neither wait nor block.
  public typealias Identify = @Sendable (_ bearer: String) throws(Problem) -> Principal

  /// Waits for what `identify` lacked when it threw `Problem.tokenKeysMissing`, bounded in time and in how
  /// many wait; false when it did not come.
  public typealias Arrival = @Sendable () async -> Bool

  private let identify: Identify?
  let arrival: Arrival?
  private let limits: RateLimits?
  let crossOrigin: CrossOrigin?

  /// Lets everyone through everywhere (`PURSER_INSECURE=1`); handlers see no principal.
  public static let insecure = AccessPolicy(identify: nil)

  /// Asks for a bearer text, unless `identify` is nil: then all are let through.
  ///
  /// - Parameters:
  ///   - arrival: Waits for keys of tokens that are being fetched.
  ///   - limits: How often keys and customers may ask.
  ///   - crossOrigin: Which other origins browsers may let ask; nil for none.
  public init(
    identify: Identify?, arrival: Arrival? = nil, limits: RateLimits? = nil,
    crossOrigin: CrossOrigin? = nil
  ) {
    self.identify = identify
    self.arrival = arrival
    self.limits = limits
    self.crossOrigin = crossOrigin
  }

  /// Lets a request to a route through, and notes its principal, or says why not.
  ///
  /// - Throws: `Problem` 401 `missing-key`, 403 `scope-missing`, `token-not-allowed`,
  ///   `other-customer`, 429 `rate-limited`, or what `identify` says.
  func admit(_ request: inout Request, _ route: Router.Route) throws(Problem) {
    guard let scope = route.scope else { return }
    let named = route.pattern.hasCustomer ? request.parameters["customer"] : nil
    if let identify {
      guard let text = Self.bearer(request.headers) else { throw .missingKey }
      let principal = try identify(text)
      request.principal = principal
      if let own = principal.customer {
        guard route.tokens != .denied else { throw .tokenNotAllowed }
        if let named, !named.utf8.elementsEqual(own.utf8) { throw .otherCustomer }
      }
      guard principal.holds(scope) else { throw .scopeMissing(scope, principal) }
      request.recheck = { Self.isStill(principal, scope, text, identify) }
    }
    guard let limits else { return }
    let meter = RateMeter(limits: limits)
    request.meter = meter
    if let principal = request.principal, principal.customer == nil {
      try meter.count(key: principal.name)
    }
    if let customer = request.principal?.customer ?? named { try meter.count(customer: customer) }
  }

  /// Whether a bearer text still means the same, with the same scope.
  ///
  /// A fault that passes, such as keys that are being fetched, ends nothing.
  private static func isStill(
    _ principal: Principal, _ scope: Scope, _ text: String, _ identify: Identify
  ) -> Bool {
    do throws(Problem) {
      let now = try identify(text)
      return now.name == principal.name && now.customer == principal.customer && now.holds(scope)
    } catch {
      return error.status >= 500
    }
  }

  /// The token after `Bearer` (RFC 6750 §2.1); nil when there is none, or more than one header.
  private static func bearer(_ headers: Headers) -> String? {
    var found: String?
    for field in headers.fields where Headers.same(field.name, "Authorization") {
      guard found == nil else { return nil }
      found = field.value
    }
    guard let parts = found?.utf8.split(separator: UInt8(ascii: " ")), parts.count == 2,
      Headers.same(String(Substring(parts[0])), "Bearer")
    else { return nil }
    return String(Substring(parts[1]))
  }
}

extension Request {
  /// Checks that a token asks for its own customer, and counts the request against that customer.
  ///
  /// For routes that find their customer in the body or in what they read; where `{customer}` stands
  /// in the path, this is done before the handler.
  ///
  /// - Throws: `Problem` 403 `other-customer`, 429 `rate-limited`.
  public func admit(customer: String) throws(Problem) {
    guard isOwn(customer: customer) else { throw .otherCustomer }
    try meter?.count(customer: customer)
  }

  /// Whether the caller may know of a customer: a key of any, a token of its own.
  public func isOwn(customer: String) -> Bool {
    principal?.customer.map { $0.utf8.elementsEqual(customer.utf8) } ?? true
  }
}

extension Problem {
  /// The token's key is not known, and the issuer is being asked for it.
  public static var tokenKeysMissing: Problem {
    Problem(
      status: 503, type: "token-keys-missing", title: "Token keys are being fetched",
      detail: "The key of this token is not known yet, and the issuer's keys are asked for. "
        + "Try again.", retryAfter: .seconds(1))
  }

  /// The issuer was asked, and the token's key is none of its keys.
  public static var tokenKeyUnknown: Problem {
    Problem(
      status: 401, type: "bad-token", title: "Token refused",
      detail: "The token's key is none of its issuer's.",
      headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
  }

  fileprivate static var missingKey: Problem {
    Problem(
      status: 401, type: "missing-key", title: "Key missing",
      detail: "Send the API key as 'Authorization: Bearer <key>'.",
      headers: [("WWW-Authenticate", "Bearer")])
  }

  fileprivate static func scopeMissing(_ scope: Scope, _ principal: Principal) -> Problem {
    Problem(
      status: 403, type: "scope-missing", title: "Scope missing",
      detail: "This needs the scope '\(scope.rawValue)', which '\(principal.name)' lacks.",
      members: ["scope": .string(scope.rawValue)])
  }

  fileprivate static var tokenNotAllowed: Problem {
    Problem(
      status: 403, type: "token-not-allowed", title: "Not with a customer's token",
      detail: "A customer's own token does not reach this. Ask from your backend, with an API key.")
  }

  fileprivate static var otherCustomer: Problem {
    Problem(
      status: 403, type: "other-customer", title: "Another customer",
      detail: "A customer's own token reaches the customer of its 'sub' alone.")
  }
}
