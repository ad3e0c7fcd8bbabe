import ServiceRuntime

/// What came of a request on the thread of its connection.
public enum Attempted: Sendable {
  /// Nothing is left to do.
  case answered(Response)
  /// It was begun, and goes on in a task.
  case begun(rest: Router.Handler)
  /// It was begun, and somebody will tell the answer: what only waits needs no task.
  case waiting(Router.Starter)
  /// It cannot be tried now: the route's handler does all of it.
  case untried
}

/// The routes of a service: from a request to the answer, without a socket.
public struct Router: Sendable {
  /// Answers a request in a task of its own.
  public typealias Handler = @Sendable (Request) async throws -> Response
  /// Answers a request at once, on the thread of its connection; must not block.
  public typealias DirectHandler = @Sendable (Request) throws -> Response

  /// Starts what an answer waits for, on the thread of the request's connection, and must not block; the answer
  /// is told once, from any thread.
  public typealias Starter =
    @Sendable (_ answer: @escaping @Sendable (Result<Response, any Error>) -> Void) -> Void

  /// Begins on the thread of the request's connection; must not block.
  public typealias Attempt = @Sendable (Request) throws -> Attempted

  enum Action: Sendable {
    case task(Handler)
    case direct(DirectHandler)
    case attempt(Attempt, else: Handler)
  }

  struct Route: Sendable {
    let method: Method
    let pattern: RoutePattern
    let scope: Scope?
    let tokens: TokenUse
    var findsDone = false
    var action: Action
  }

  enum Resolution: Sendable {
    case refused(Problem, pattern: String)
    /// A browser's question before its request.
    case answered(Response, pattern: String)
    case found(Route)
  }

  private struct Place: Sendable {
    let pattern: RoutePattern
    var routes: [Method: Route] = [:]

    func route(for method: Method) -> Route? {
      routes[method] ?? (method == .head ? routes[.get] : nil)
    }

    var allowed: [String] {
      let methods = Set(routes.keys).union(routes[.get] == nil ? [] : [.head])
      return methods.map(\.rawValue).sorted()
    }
  }

  /// Who may use routes that need a scope.
  public var access: AccessPolicy
  private let placement: (any Placement)?
  /// Places by their number of segments, literals first.
  private var places: [Int: [Place]] = [:]

  /// Makes a router without routes.
  ///
  /// - Parameter placement: Where there are several processes, finds the one that answers.
  public init(access: AccessPolicy = .insecure, placement: (any Placement)? = nil) {
    self.access = access
    self.placement = placement
  }

  /// Adds a route whose handler runs in a task.
  ///
  /// - Parameters:
  ///   - pattern: Such as `/v1/orders/{id}`.
  ///   - scope: What the caller must hold; nil opens the route to all.
  ///   - tokens: What a customer's own token may do here; when it is left out, a token reads and
  ///     orders where `{customer}` in the path is its own, and all else is denied.
  ///   - home: Which of several processes answers; when it is left out, the one that has the
  ///     `{customer}` in the path, and whichever is asked where there is none.
  ///   - findsDone: Whether a POST or PATCH finds what it did to be done, so that it may be sent again
  ///     without an `Idempotency-Key`.
  public mutating func on(
    _ method: Method, _ pattern: String, scope: Scope?, tokens: TokenUse? = nil,
    home: Home? = nil, findsDone: Bool = false, handler: @escaping Handler
  ) {
    add(method, pattern, scope, tokens, home, findsDone: findsDone, .task(handler))
  }

  /// Adds a route that is answered on the connection's own thread: for what neither waits nor blocks.
  public mutating func direct(
    _ method: Method, _ pattern: String, scope: Scope? = nil, tokens: TokenUse? = nil,
    handler: @escaping DirectHandler
  ) {
    add(method, pattern, scope, tokens, .here, .direct(handler))
  }

  /// Adds a route whose answer mostly needs no wait: it is tried on the connection's own thread, and goes
  /// on in a task where it must.
  ///
  /// Parameters are those of the other routes.
  public mutating func on(
    _ method: Method, _ pattern: String, scope: Scope?, tokens: TokenUse? = nil,
    home: Home? = nil, findsDone: Bool = false,
    atOnce attempt: @escaping Attempt, else handler: @escaping Handler
  ) {
    add(
      method, pattern, scope, tokens, home, findsDone: findsDone, .attempt(attempt, else: handler))
  }

  /// The same for what is always begun on the connection's own thread; its attempts are never `untried`.
  public mutating func on(
    _ method: Method, _ pattern: String, scope: Scope?, atOnce attempt: @escaping Attempt
  ) {
    on(method, pattern, scope: scope, home: .here, atOnce: attempt) { _ in throw NeverTried() }
  }

  /// A route that has no other way did not try.
  private struct NeverTried: Error {}

  private mutating func add(
    _ method: Method, _ text: String, _ scope: Scope?, _ tokens: TokenUse?, _ home: Home?,
    findsDone: Bool = false, _ action: Action
  ) {
    let pattern = RoutePattern(text)
    let isOpenToOwn = pattern.hasCustomer && (scope == .orders || scope == .entitlementsRead)
    let use = tokens ?? (isOpenToOwn ? .ownCustomer : .denied)
    precondition(
      use != .ownCustomer || pattern.hasCustomer, "the route \(text) has no {customer} to compare")
    let named = Self.naming(action, method, pattern, scope)
    let home = home ?? (pattern.hasCustomer ? .customer : .here)
    let route = Route(
      method: method, pattern: pattern, scope: scope, tokens: use, findsDone: findsDone,
      action: placement?.placing(named, home) ?? named)
    var peers = places[pattern.parts.count] ?? []
    let index = peers.firstIndex { $0.pattern == pattern }
    if let index {
      precondition(peers[index].routes[method] == nil, "the route \(method) \(text) exists twice")
      peers[index].routes[method] = route
    } else {
      let spot = peers.firstIndex { pattern.precedes($0.pattern) } ?? peers.endIndex
      peers.insert(Place(pattern: pattern, routes: [method: route]), at: spot)
    }
    places[pattern.parts.count] = peers
  }

  /// Around handlers of writes that somebody must be let in for: who that is, for the log of writes.
  private static func naming(
    _ action: Action, _ method: Method, _ pattern: RoutePattern, _ scope: Scope?
  ) -> Action {
    guard scope != nil, method != .get, method != .head else { return action }
    let name = "\(method) \(pattern.text)"
    let caller = { @Sendable (request: Request) -> Caller in
      Caller(
        name: request.principal?.name ?? Principal.nobody, action: name, path: request.path,
        customer: request.parameters["customer"], requestId: request.id)
    }
    let named = { @Sendable (handler: @escaping Handler) -> Handler in
      { request in
        try await Caller.$current.withValue(caller(request)) { try await handler(request) }
      }
    }
    return switch action {
    case .direct: action
    case .task(let handler): .task(named(handler))
    case .attempt(let attempt, else: let handler):
      .attempt(
        { request in
          switch try attempt(request) {
          case .begun(let rest): return .begun(rest: named(rest))
          case .waiting(let start):
            return .waiting { answer in
              Caller.$current.withValue(caller(request)) { start(answer) }
            }
          case let attempted: return attempted
          }
        }, else: named(handler))
    }
  }

  /// Methods and patterns of all routes, sorted; for checks against the API description.
  public var routes: [(method: Method, pattern: String, scope: Scope?, tokens: TokenUse)] {
    places.values.joined().flatMap { place in place.routes.values }
      .map { (method: $0.method, pattern: $0.pattern.text, scope: $0.scope, tokens: $0.tokens) }
      .sorted { ($0.pattern, $0.method.rawValue) < ($1.pattern, $1.method.rawValue) }
  }

  /// Finds the route and checks access; fills in the request's parameters and principal.
  func resolve(_ request: inout Request) -> Resolution {
    let fitting = (places[request.segments.count] ?? []).filter {
      $0.pattern.matches(request.segments)
    }
    guard let first = fitting.first else { return .refused(.notFound(), pattern: "none") }
    guard let place = fitting.first(where: { $0.route(for: request.method) != nil }),
      let route = place.route(for: request.method)
    else {
      let allowed = Set(fitting.flatMap(\.allowed)).sorted()
      if request.method == .options,
        let answer = access.crossOrigin?.preflight(request, allowed: allowed)
      {
        return .answered(answer, pattern: first.pattern.text)
      }
      return .refused(
        .methodNotAllowed(request.method, allowed: allowed), pattern: first.pattern.text)
    }
    request.parameters = route.pattern.parameters(request.segments)
    request.findsDone = route.findsDone
    do throws(Problem) {
      try access.admit(&request, route)
    } catch {
      guard let arrival = access.arrival, error.type == Problem.tokenKeysMissing.type else {
        return .refused(error, pattern: route.pattern.text)
      }
      return .found(deferred(route, after: arrival))
    }
    return .found(route)
  }

  /// The route, behind a wait for the keys by which is said who asks; nothing is done before.
  private func deferred(_ route: Route, after arrival: @escaping AccessPolicy.Arrival) -> Route {
    let access = access
    return Route(
      method: route.method, pattern: route.pattern, scope: route.scope, tokens: route.tokens,
      action: .task { request in
        let hasCome = await arrival()
        var request = request
        do throws(Problem) {
          try access.admit(&request, route)
        } catch {
          let isMissing = error.type == Problem.tokenKeysMissing.type
          throw isMissing && hasCome ? Problem.tokenKeyUnknown : error
        }
        return switch route.action {
        case .direct(let handler): try handler(request)
        case .task(let handler), .attempt(_, else: let handler): try await handler(request)
        }
      })
  }

  /// The fields that every answer bears, whatever it says: for browsers, and for those who pass requests on.
  func fields(for headers: Headers) -> [(String, String)] {
    (access.crossOrigin?.fields(headers) ?? []) + (placement?.identification(headers) ?? [])
  }

  /// The answer to a request, never an error; bodies of answers to HEAD are left out.
  public func respond(to request: Request) async -> Response {
    var request = request
    var response: Response
    switch resolve(&request) {
    case .refused(let problem, _): response = problem.response
    case .answered(let answer, _): response = answer
    case .found(let route):
      switch route.action {
      case .direct(let handler): response = Outcome.of(request) { try handler($0) }.response
      case .task(let handler):
        response = await Outcome.of(request) { try await handler($0) }.response
      case .attempt(let attempt, else: let handler):
        switch Outcome.of(request, attempt: attempt, else: handler) {
        case .outcome(let outcome): response = outcome.response
        case .rest(let rest): response = await Outcome.of(request, rest).response
        case .waiting(let start):
          let told = Completion<Outcome>()
          start { [request] result in told.complete(with: Outcome.of(request, result)) }
          response = await told.value().response
        }
      }
    }
    if request.method == .head { response.body = [] }
    response.headers += fields(for: request.headers)
    response.headers += request.meter?.fields ?? []
    return response.with("X-Request-Id", request.id)
  }
}
