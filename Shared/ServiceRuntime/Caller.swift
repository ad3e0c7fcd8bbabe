/// Who asked over HTTP for what is being done, for the log of writes.
///
/// The HTTP server sets it around the handlers of routes that write; the store reads it. It passes
/// through tasks by itself, so that no handler can forget to hand it on.
public struct Caller: Sendable, Equatable {
  /// The caller of the task at hand; nil in everything that no request stands behind.
  @TaskLocal public static var current: Caller?

  /// The name of the key, or the subject of the token behind `token:`.
  public let name: String
  /// Method and pattern of the route, such as `POST /v1/orders`.
  public let action: String
  /// The decoded path.
  public let path: String
  /// The customer in the path; nil where the route has none.
  public let customer: String?
  /// The request's id, as in its answer and in logs.
  public let requestId: String

  /// Makes a caller.
  public init(
    name: String, action: String, path: String, customer: String? = nil, requestId: String
  ) {
    self.name = name
    self.action = action
    self.path = path
    self.customer = customer
    self.requestId = requestId
  }
}
