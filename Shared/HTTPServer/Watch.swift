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
        if rounds.isMultiple(of: 10) { lookForGone() }
      }
    }
  }

  /// Cuts connections whose clients have finished sending while the server waits for them.
  ///
  /// Libmicrohttpd 0.9.75 uses epoll edge-triggered and takes a short read for an empty socket, so an
  /// end that arrives together with the last bytes is never seen.
  private func lookForGone() {
    let now = ContinuousClock.now
    var waiting: [(peer: Peer, descriptor: Int32)] = []
    for peer in core.peers.withLock({ Array($0.values) }) {
      if let descriptor = peer.waitingDescriptor(at: now, patience: .seconds(1)) {
        waiting.append((peer, descriptor))
      }
    }
    var polled = waiting.map {
      pollfd(fd: $0.descriptor, events: Int16(truncatingIfNeeded: Self.finished), revents: 0)
    }
    guard unsafe poll(&polled, nfds_t(polled.count), 0) > 0 else { return }
    // A descriptor may have been closed and given to another meanwhile: then its peer knows.
    var gone: Set<ObjectIdentifier> = []
    for (one, result) in zip(waiting, polled) where Int32(result.revents) & Self.finished != 0 {
      _ = one.peer.cut()
      gone.insert(ObjectIdentifier(one.peer))
    }
    core.endStreams { gone.contains(ObjectIdentifier($0)) }
  }

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
