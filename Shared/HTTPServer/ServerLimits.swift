/// The bounds of a server.
///
/// What passes them is refused with words, never queued.
public struct ServerLimits: Sendable {
  /// Longest body, in bytes; longer ones are answered 413.
  public var bodyBytes = 512 * 1024
  /// Longest request line and header fields together, in bytes; longer ones are answered 431.
  public var headerBytes = 16 * 1024
  /// Bodies that are being received, all together, in bytes; beyond it 503.
  public var bufferedBytes = 64 * 1024 * 1024
  /// Open connections; more wait in the kernel's backlog.
  public var connections = 4096
  /// Open connections of one address; 0 for no bound, as behind a proxy all come from one.
  public var connectionsPerClient = 0
  /// Requests in their handlers; more are answered 503.
  public var requestsInFlight = 1024
  /// Open streams; more are answered 429.
  public var streams = 512
  /// What a stream keeps for a client that does not read, in bytes; beyond it the stream ends.
  public var streamBytes = 64 * 1024
  /// How long a connection may rest between two requests, whole seconds.
  public var idleTime: Duration = .seconds(60)
  /// How long head and body of a request may take to arrive, however busily.
  public var readTime: Duration = .seconds(15)
  /// How long an answer may take to leave, however busily.
  public var writeTime: Duration = .seconds(30)
  /// How long a handler may take; then 503 `timeout`.
  ///
  /// Longer than any `Prefer: wait`.
  public var handlerTime: Duration = .seconds(60)
  /// How long stopping may take; then what is still in flight has been answered 503.
  public var stopTime: Duration = .seconds(3)

  /// The defaults.
  public init() {}

  /// How much of a body that will be refused is read all the same, so that the client hears why.
  var drainBytes: Int { max(bodyBytes, 64 * 1024) * 4 }
}
