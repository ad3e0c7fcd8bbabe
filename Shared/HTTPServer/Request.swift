public import ServiceRuntime

/// A request, read in full and split into its parts.
public struct Request: Sendable {
  /// The method as sent; a HEAD request reaches the handler of GET.
  public let method: Method
  /// The decoded path, for people; routes match the parts that were split before decoding.
  public var path: String { "/" + segments.joined(separator: "/") }
  /// The parameters after `?`.
  public private(set) var query: Query
  /// Path and query as they came, for who passes the request on.
  public private(set) var target: String
  /// The header fields.
  public let headers: Headers
  /// The body, at most `ServerLimits.bodyBytes`.
  public internal(set) var body: [UInt8]
  /// What the placeholders of the route's pattern stand for.
  public internal(set) var parameters: [String: String] = [:]
  /// `X-Request-Id` when the client sent a sane one, else made here; echoed in the answer.
  public let id: String
  /// Who asks; nil on open routes and without access control.
  public internal(set) var principal: Principal?
  /// Whether the caller would be let in now as well, for answers that last; true where nobody is asked.
  public var isStillAdmitted: Bool { recheck?() ?? true }
  /// The span of this request, or the caller's where none are made; nil outside of any trace.
  public internal(set) var trace: TraceContext?
  /// Whether it may be sent again though it may have been done: by its method, by its key, or because
  /// what it does is found to be done.
  public var isRepeatable: Bool {
    findsDone || (method != .post && method != .patch) || headers["Idempotency-Key"] != nil
  }
  let segments: [String]
  /// Whether its route finds what was done to be done.
  var findsDone = false
  /// Looks at the key or token again.
  var recheck: (@Sendable () -> Bool)?
  /// What the request is counted against; nil without limits.
  var meter: RateMeter?

  /// Makes a request, for tests of routes and handlers.
  ///
  /// - Parameter target: Path and query as on the wire, such as `/v1/orders?limit=5`.
  /// - Throws: `Problem` with status 400 when the target is malformed.
  public init(
    _ method: Method, _ target: String, headers: [(String, String)] = [], body: [UInt8] = [],
    principal: Principal? = nil
  ) throws(Problem) {
    self.init(
      method, try RequestTarget(target), headers: Headers(headers), body: body,
      principal: principal)
  }

  init(
    _ method: Method, _ target: RequestTarget, headers: Headers, body: [UInt8] = [],
    principal: Principal? = nil, id: String? = nil
  ) {
    self.method = method
    segments = target.segments
    query = target.query
    self.target = target.text
    self.headers = headers
    self.body = body
    self.principal = principal
    self.id = id ?? RequestId.taken(from: headers)
    trace = headers["traceparent"].flatMap { TraceContext(traceparent: $0) }
  }

  /// The same request with another body.
  public func with(body: [UInt8]) -> Request {
    var copy = self
    copy.body = body
    return copy
  }

  /// The same request with one parameter of the query replaced, or left out.
  public func with(parameter name: String, _ value: String?) -> Request {
    var copy = self
    var items = query.items.filter { $0.name != name }
    if let value { items.append((name: name, value: value)) }
    copy.query = Query(items: items)
    let path = target.prefix { $0 != "?" }
    let text = items.map { item in
      "\(PercentEncoding.encoded(item.name))=\(PercentEncoding.encoded(item.value))"
    }
    copy.target = items.isEmpty ? String(path) : "\(path)?\(text.joined(separator: "&"))"
    return copy
  }

  /// The first value of a query parameter.
  public func queryValue(_ name: String) -> String? { query[name] }

  /// What a placeholder of the route's pattern stands for; empty when the pattern has none such.
  public func parameter(_ name: String) -> String { parameters[name, default: ""] }
}
