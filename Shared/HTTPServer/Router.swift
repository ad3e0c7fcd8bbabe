/// The routes of a service: from a request to the answer, without a socket.
public struct Router: Sendable {
  /// Answers a request in a task of its own.
  public typealias Handler = @Sendable (Request) async throws -> Response
  /// Answers a request at once, on the thread of its connection; must not block.
  public typealias DirectHandler = @Sendable (Request) throws -> Response

  enum Action: Sendable {
    case task(Handler)
    case direct(DirectHandler)
  }

  struct Route: Sendable {
    let method: Method
    let pattern: RoutePattern
    let scope: Scope?
    let action: Action
  }

  enum Resolution: Sendable {
    case refused(Problem, pattern: String)
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
  /// Places by their number of segments, literals first.
  private var places: [Int: [Place]] = [:]

  /// Makes a router without routes.
  public init(access: AccessPolicy = .insecure) { self.access = access }

  /// Adds a route whose handler runs in a task.
  ///
  /// - Parameters:
  ///   - pattern: Such as `/v1/orders/{id}`.
  ///   - scope: What the caller must hold; nil opens the route to all.
  public mutating func on(
    _ method: Method, _ pattern: String, scope: Scope?, handler: @escaping Handler
  ) {
    add(method, pattern, scope, .task(handler))
  }

  /// Adds a route that is answered on the connection's own thread: for what neither waits nor blocks.
  public mutating func direct(
    _ method: Method, _ pattern: String, scope: Scope? = nil, handler: @escaping DirectHandler
  ) {
    add(method, pattern, scope, .direct(handler))
  }

  private mutating func add(
    _ method: Method, _ text: String, _ scope: Scope?, _ action: Action
  ) {
    let pattern = RoutePattern(text)
    let route = Route(method: method, pattern: pattern, scope: scope, action: action)
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

  /// Methods and patterns of all routes, sorted; for checks against the API description.
  public var routes: [(method: Method, pattern: String, scope: Scope?)] {
    places.values.joined().flatMap { place in place.routes.values }
      .map { (method: $0.method, pattern: $0.pattern.text, scope: $0.scope) }
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
      return .refused(
        .methodNotAllowed(request.method, allowed: allowed), pattern: first.pattern.text)
    }
    if let scope = route.scope {
      do throws(Problem) {
        // Without access control a test's own principal stays; from the network there is none.
        if let principal = try access.authorize(request.headers, scope: scope) {
          request.principal = principal
        }
      } catch {
        return .refused(error, pattern: route.pattern.text)
      }
    }
    request.parameters = route.pattern.parameters(request.segments)
    return .found(route)
  }

  /// The answer to a request, never an error; bodies of answers to HEAD are left out.
  public func respond(to request: Request) async -> Response {
    var request = request
    var response: Response
    switch resolve(&request) {
    case .refused(let problem, _): response = problem.response
    case .found(let route):
      switch route.action {
      case .direct(let handler): response = Outcome.of(request) { try handler($0) }.response
      case .task(let handler):
        response = await Outcome.of(request) { try await handler($0) }.response
      }
    }
    if request.method == .head { response.body = [] }
    return response.with("X-Request-Id", request.id)
  }
}
