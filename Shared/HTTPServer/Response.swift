import FoundationEssentials

/// An answer.
///
/// `Content-Length`, `Date` and `X-Request-Id` are added by the server.
public struct Response: Sendable {
  /// The HTTP status, 200 to 599.
  public var status: Int
  /// Header fields.
  ///
  /// Names and values with control characters are left out when sent.
  public var headers: [(String, String)]
  /// The body; not sent for HEAD, 204 and 304.
  public var body: [UInt8]
  /// What writes the body bit by bit; nil for an answer that is there in full.
  public internal(set) var stream: StreamBody?
  /// Set when the body could not be encoded: answered as 500 and logged.
  var failure: String?

  /// Makes an answer.
  public init(status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value as JSON, members in the order of their names.
  public static func json(_ value: some Encodable, status: Int = 200) -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return json(bytes: Array(try encoder.encode(value)), status: status)
    } catch {
      var response = Response(status: 500)
      response.failure = "cannot encode \(type(of: value)): \(error)"
      return response
    }
  }

  /// JSON that was encoded before.
  public static func json(bytes: [UInt8], status: Int = 200) -> Response {
    Response(status: status, headers: [("Content-Type", "application/json")], body: bytes)
  }

  /// An answer without a body.
  public static func empty(_ status: Int = 204) -> Response { Response(status: status) }

  /// Plain text.
  public static func text(
    _ text: String, status: Int = 200, contentType: String = "text/plain; charset=utf-8"
  ) -> Response {
    Response(status: status, headers: [("Content-Type", contentType)], body: Array(text.utf8))
  }

  /// The first value of a header field.
  public func header(_ name: String) -> String? {
    headers.first { Headers.same($0.0, name) }?.1
  }

  /// The same answer with one more header field.
  public func with(_ name: String, _ value: String) -> Response {
    var copy = self
    copy.headers.append((name, value))
    return copy
  }
}
