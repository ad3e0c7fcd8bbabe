import ServiceRuntime
import Synchronization

/// What the threads of libmicrohttpd, the handlers' tasks and the watch share.
final class ServerCore: Sendable {
  /// Requests in their handlers.
  ///
  /// Everything that suspends or resumes a connection holds this lock: so "nobody is suspended"
  /// stays true once it is true, and the daemon can be stopped.
  struct Desk {
    struct Waiting {
      let exchange: Exchange
      let connection: ConnectionHandle
    }

    var waiting: [ObjectIdentifier: Waiting] = [:]
    /// Answers whose bodies are written as things happen, by their exchange.
    var streams: [ObjectIdentifier: OutgoingStream] = [:]
    /// How many streams each group has.
    var streamsOf: [String: Int] = [:]
    /// New requests are refused.
    var isStopping = false
    /// No connection is suspended any more.
    var isClosing = false
  }

  let router: Router
  let limits: ServerLimits
  let tracer: Tracer
  let log: Log
  let metrics: ServerMetrics
  let desk = Mutex(Desk())
  let peers = Mutex<[ObjectIdentifier: Peer]>([:])
  let buffered = Atomic<Int>(0)
  /// The desk's `isStopping`, for those who need nothing else of it: its lock is every request's.
  private let stopping = Atomic<Bool>(false)
  /// Exchanges between request line and last byte.
  ///
  /// In one order with `stopping`: whoever ends the last exchange sees that the server stops, or whoever stops
  /// it sees that none is open.
  private let open = Atomic<Int>(0)
  /// Completes when the server is stopping and no exchange is open.
  let drained = Completion<Void>()

  init(
    router: Router, limits: ServerLimits, tracer: Tracer = .off, log: Log, metrics: Metrics
  ) {
    self.router = router
    self.limits = limits
    self.tracer = tracer
    self.log = log
    self.metrics = ServerMetrics(metrics)
  }

  func connected(_ descriptor: Int32) -> Peer {
    let peer = Peer(descriptor: descriptor)
    peers.withLock { $0[ObjectIdentifier(peer)] = peer }
    metrics.connections.add(1)
    return peer
  }

  func disconnected(_ peer: Peer) {
    peer.closed()
    peers.withLock { $0[ObjectIdentifier(peer)] = nil }
    metrics.connections.add(-1)
  }

  func began(_ peer: Peer, target: String) -> Exchange {
    open.add(1, ordering: .sequentiallyConsistent)
    peer.enter(.reading)
    return Exchange(peer: peer, target: target)
  }

  func ended(_ exchange: Exchange) {
    let (reserved, isStream) = exchange.state.withLock { ($0.reserved, $0.isStream) }
    if isStream { endStream(of: exchange) }
    if reserved > 0 { buffered.wrappingSubtract(reserved, ordering: .relaxed) }
    exchange.peer.enter(.idle)
    let left = open.subtract(1, ordering: .sequentiallyConsistent).newValue
    if left == 0, stopping.load(ordering: .sequentiallyConsistent) { drained.complete(with: ()) }
  }

  var isStopping: Bool { stopping.load(ordering: .acquiring) }

  /// Refuses new requests from now on.
  func beginStopping() {
    desk.withLock { desk in
      desk.isStopping = true
      // They would never end by themselves; their clients come back to another process.
      for stream in desk.streams.values { stream.endAtDesk() }
    }
    stopping.store(true, ordering: .sequentiallyConsistent)
    if open.load(ordering: .sequentiallyConsistent) == 0 { drained.complete(with: ()) }
  }

  /// Answers everything that still waits, and lets nothing be suspended from now on.
  func giveUpWaiting() {
    let count = desk.withLock { desk in
      desk.isClosing = true
      for one in desk.waiting.values {
        // Before the resumption: afterwards the exchange forgets its task.
        one.exchange.cancelTask()
        one.exchange.enter(.ready(Problem.stopping.response))
        one.connection.resume()
      }
      defer { desk.waiting = [:] }
      return desk.waiting.count
    }
    metrics.inFlight.add(-count)
    for _ in 0..<count { metrics.refused(Problem.stopping.type) }
  }
}
