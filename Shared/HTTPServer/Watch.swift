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
      while stop.wait(by: .after(Self.interval)) == nil { look() }
    }
  }

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
    case .handling: nil
    }
  }
}
