/// A request to another server.
public struct HTTPRequest: Sendable {
  /// The method, such as `POST`.
  public var method: String
  /// An absolute `http` or `https` URL.
  public var url: String
  /// Header fields; `Content-Length` and `Host` are added.
  public var headers: [(String, String)]
  /// The body; nil for none.
  public var body: [UInt8]?
  /// The whole time, connecting included; nil for the client's own.
  public var timeout: Duration?

  /// Makes a request.
  public init(
    method: String = "GET", url: String, headers: [(String, String)] = [], body: [UInt8]? = nil,
    timeout: Duration? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }
}

/// An answer, whatever its status.
public struct HTTPResponse: Sendable {
  /// The HTTP status.
  public let status: Int
  /// Header fields in the order of arrival.
  public let headers: [(String, String)]
  /// The body.
  public let body: [UInt8]

  /// Makes an answer, for tests.
  public init(status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first value of a header field, without regard to case.
  public func header(_ name: String) -> String? {
    headers.first { $0.0.lowercased() == name.lowercased() }?.1
  }

  /// Whether the status is 200 to 299.
  public var isSuccess: Bool { (200...299).contains(status) }

  /// `Retry-After` in seconds; nil when absent or a date.
  public var retryAfter: Duration? {
    header("Retry-After").flatMap { Int64($0) }.flatMap { $0 >= 0 ? .seconds($0) : nil }
  }
}
