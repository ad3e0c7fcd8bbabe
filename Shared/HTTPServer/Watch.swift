import Glibc
import ServiceRuntime
import Synchronization

/// The thread `http-watch`: cuts connections and ends handlers that take too long.
struct Watch: Sendable {
  let core: ServerCore
  let stop = Completion<Void>()

  /// How exact the bounds are kept.
  static let interval: Duration = .milliseconds(100)

  func start() -> DedicatedThread {
    DedicatedThread(name: "http-watch") { [self] in
      var rounds = 0
      while stop.wait(by: .after(Self.interval)) == nil {
        look()
        rounds += 1
        if rounds.isMultiple(of: 5) { lookForGone() }
      }
    }
  }

  /// Cuts connections whose clients have finished sending while the server waits for them, and ends the
  /// waits of requests whose clients have: nobody reads from a suspended connection.
  ///
  /// Libmicrohttpd 0.9.75 uses epoll edge-triggered and takes a short read for an empty socket, so an
  /// end that arrives together with the last bytes is never seen.
  private func lookForGone() {
    let now = ContinuousClock.now
    var watched: [Watched] = []
    for peer in core.peers.withLock({ Array($0.values) }) {
      if let descriptor = peer.waitingDescriptor(at: now, patience: Self.patience) {
        watched.append(Watched(descriptor: descriptor, peer: peer, presence: nil))
      }
    }
    for exchange in core.desk.withLock({ $0.waiting.values.map(\.exchange) }) {
      if let presence = exchange.state.withLock({ $0.presence }),
        let descriptor = exchange.peer.waitingDescriptor(
          at: now, patience: Self.patience, isWaiting: true)
      {
        watched.append(
          Watched(descriptor: descriptor, peer: exchange.peer, presence: presence))
      }
    }
    var polled = watched.map {
      pollfd(fd: $0.descriptor, events: Int16(truncatingIfNeeded: Self.finished), revents: 0)
    }
    guard unsafe poll(&polled, nfds_t(polled.count), 0) > 0 else { return }
    // A descriptor may have been closed and given to another meanwhile: then its peer knows.
    var gone: Set<ObjectIdentifier> = []
    for (one, result) in zip(watched, polled)
    where Int32(result.revents) & (Self.finished | Self.broken) != 0 {
      if let presence = one.presence {
        // It may only have finished sending, so it is answered: at once, with what is known.
        presence.left()
      } else {
        _ = one.peer.cut()
        gone.insert(ObjectIdentifier(one.peer))
      }
    }
    core.endStreams { gone.contains(ObjectIdentifier($0)) }
  }

  /// A connection that is looked at; one with a presence is that of a request whose handler works.
  private struct Watched {
    let descriptor: Int32
    let peer: Peer
    let presence: ClientPresence?
  }

  /// Connections that did something in this time are left alone.
  private static let patience: Duration = .milliseconds(500)

  /// POLLERR and POLLHUP of poll(2), which are told without being asked for.
  private static let broken: Int32 = 0x8 | 0x10

  /// POLLRDHUP of poll(2): the other side has finished sending.
  private static let finished: Int32 = 0x2000

  private func look() {
    let now = ContinuousClock.now
    for peer in core.peers.withLock({ Array($0.values) }) {
      let (phase, time) = peer.standing(at: now)
      if let (bound, reason) = bound(phase), time > bound, peer.cut() {
        core.metrics.refused(reason)
      }
    }
    let late = core.desk.withLock { desk in
      desk.waiting.values.map(\.exchange).filter { now - $0.began > core.limits.handlerTime }
    }
    for exchange in late {
      core.metrics.refused(Problem.late.type)
      exchange.cancelTask()
      core.finish(exchange, Problem.late.response)
    }
  }

  private func bound(_ phase: Peer.Phase) -> (Duration, String)? {
    switch phase {
    case .fresh, .reading: (core.limits.readTime, "slow-request")
    case .idle: (core.limits.idleTime, "idle")
    case .writing: (core.limits.writeTime, "slow-reader")
    case .handling, .streaming: nil
    }
  }
}
