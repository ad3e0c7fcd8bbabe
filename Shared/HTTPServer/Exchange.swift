import ServiceRuntime
import Synchronization

/// One request and its answer, from the request line to the last byte sent.
///
/// Libmicrohttpd holds the one strong reference between the calls; the thread of the connection
/// moves it through its stages, and only `ready` is set from elsewhere.
final class Exchange: Sendable {
  enum Stage: Sendable {
    /// The request line was read.
    case head
    /// The body is arriving.
    case body(Request, Router.Route)
    /// The answer stands, but the body is read first so that the client can hear it.
    case draining(Response, read: Int)
    /// All is read; the next call suspends the connection.
    case due(Request, Router.Route)
    /// The same for what was begun and only waits.
    case begun(Request, Router.Starter)
    /// The handler works; the connection is suspended.
    case suspended
    /// The answer stands.
    case ready(Response)
    /// The answer was handed to libmicrohttpd.
    case answered
  }

  struct State {
    var stage = Stage.head
    var body: [UInt8] = []
    /// Bytes counted against `ServerLimits.bufferedBytes`.
    var reserved = 0
    var id = ""
    var method = Method.get
    var pattern = "none"
    var task: Task<Void, Never>?
    /// Of a request that may wait: told when its client has gone.
    var presence: ClientPresence?
    /// Whether the desk has a stream of it.
    var isStream = false
    /// What is told of it to a collector of traces.
    var span: Span?
    /// What the answer's fields for browsers, other shards and limits are made of.
    var fields: Fields?
  }

  struct Fields: Sendable {
    /// Those that every answer bears.
    let always: [(String, String)]
    var meter: RateMeter?
  }

  let peer: Peer
  let target: String
  let began = ContinuousClock.now
  let state = Mutex(State())

  init(peer: Peer, target: String) {
    self.peer = peer
    self.target = target
  }

  var stage: Stage { state.withLock { $0.stage } }

  func enter(_ stage: Stage) { state.withLock { $0.stage = stage } }

  /// Keeps the handler's task, so that it can be told to give up.
  func attach(_ task: Task<Void, Never>) { state.withLock { $0.task = task } }

  func cancelTask() { state.withLock { $0.task }?.cancel() }
}
