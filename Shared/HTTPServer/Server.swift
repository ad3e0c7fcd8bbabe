public import ServiceRuntime
import Synchronization

/// Serves a router over HTTP/1.1; TLS is the business of the proxy in front.
///
/// The address is bound when the server is made, so that a fault shows early; connections are
/// answered from `run()` on. A handler cannot know that its client has gone.
public final class Server: Service {
  private enum State {
    case bound
    case running(Daemon, Watch, DedicatedThread)
    case stopped
  }

  /// The name that logs show.
  public let name = "http"
  /// The port that was bound.
  public var port: Int { listening.port }
  /// What it serves; for checks against the API description.
  public var routes: [(method: Method, pattern: String, scope: Scope?, tokens: TokenUse)] {
    core.router.routes
  }

  private let listening: ListeningSocket
  private let threads: Int
  let core: ServerCore
  private let log: Log
  private let state = Mutex(State.bound)
  private let ended = Completion<Void>()

  /// Binds the address.
  ///
  /// - Parameters:
  ///   - host: A name or address; empty for all addresses.
  ///   - port: 0 takes any that is free.
  ///   - threads: Of libmicrohttpd, `http-0` and so on; connections are spread over them.
  ///   - tracer: Makes a span of each request to a route that does work.
  ///   - log: Faults of handlers; each request at level debug.
  /// - Throws: `ServerError.cannotListen`.
  public init(
    host: String = "127.0.0.1", port: Int, threads: Int = 1, router: Router,
    limits: ServerLimits = ServerLimits(), tracer: Tracer = .off, log: Log, metrics: Metrics
  ) throws(ServerError) {
    listening = try ListeningSocket(host: host, port: port)
    self.threads = threads
    self.log = log
    core = ServerCore(
      router: router, limits: limits, tracer: tracer, log: log, metrics: metrics)
  }

  /// Serves until stopped.
  ///
  /// - Throws: `ServerError.cannotStart`.
  public func run() async throws(ServerError) {
    let started = state.withLock { state -> Bool? in
      guard case .bound = state else { return nil }
      OpenFiles.allow(core.limits.connections, log)
      guard let daemon = Daemon(core: core, listening: listening, threads: threads) else {
        state = .stopped
        return false
      }
      let watch = Watch(core: core)
      state = .running(daemon, watch, watch.start())
      return true
    }
    switch started {
    case nil: return
    case false?: throw .cannotStart
    case true?:
      log.info("listening", ["port": LogValue(port)])
      await ended.value()
    }
  }

  /// Stops: no new connections; what is in flight is answered with `Connection: close` until shortly
  /// before the deadline; the rest gets 503; then the threads end.
  public func stop(by deadline: Deadline) async {
    let deadline = min(deadline, .after(core.limits.stopTime))
    let before = state.withLock { state in
      let before = state
      state = .stopped
      return before
    }
    guard case .running(let daemon, let watch, let watchThread) = before else {
      ended.complete(with: ())
      return
    }
    core.beginStopping()
    daemon.quiesce()
    listening.refuse()
    // The last part of the time is for telling those who would wait longer.
    let margin = min(.milliseconds(500), deadline.remaining / 4)
    let last = DedicatedThread(name: "http-stop") { [core] in
      _ = core.drained.wait(by: .after(deadline.remaining - margin))
      core.giveUpWaiting()
      _ = core.drained.wait(by: .after(margin / 2))
      daemon.stop()
      watch.stop.complete(with: ())
      watchThread.join()
    }
    await last.joined()
    ended.complete(with: ())
  }
}
