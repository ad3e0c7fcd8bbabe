import Glibc
import Synchronization

/// One connection, watched for time: libmicrohttpd's own time-out begins anew with each byte, so a
/// client that sends a byte now and then would hold a connection for ever.
final class Peer: Sendable {
  enum Phase: Sendable {
    /// Accepted; nothing read yet.
    case fresh
    /// Between two requests.
    case idle
    /// Head or body is arriving.
    case reading
    /// The handler works.
    case handling
    /// The answer leaves.
    case writing
    /// An event stream waits for something to send.
    case streaming
  }

  private struct State {
    /// -1 once the connection is closed.
    var descriptor: Int32
    var phase = Phase.fresh
    var since = ContinuousClock.now
    var isCut = false
  }

  private let state: Mutex<State>

  init(descriptor: Int32) { state = Mutex(State(descriptor: descriptor)) }

  func enter(_ phase: Phase) {
    state.withLock { state in
      state.phase = phase
      state.since = ContinuousClock.now
    }
  }

  /// What the connection has been doing, and for how long.
  func standing(at now: ContinuousClock.Instant) -> (phase: Phase, time: Duration) {
    state.withLock { ($0.phase, now - $0.since) }
  }

  /// The descriptor of a connection whose client's end would not be seen otherwise; nil while a
  /// handler works, unless that waits on behalf of the client.
  ///
  /// - Parameters:
  ///   - patience: Connections that did something lately are left alone.
  ///   - isWaiting: Whether the handler of the request may be waiting.
  func waitingDescriptor(
    at now: ContinuousClock.Instant, patience: Duration, isWaiting: Bool = false
  ) -> Int32? {
    state.withLock { state in
      guard state.descriptor >= 0, now - state.since > patience else { return nil }
      switch state.phase {
      case .fresh, .idle, .reading, .streaming: return isWaiting ? nil : state.descriptor
      case .handling: return isWaiting ? state.descriptor : nil
      case .writing: return nil
      }
    }
  }

  /// Must be called before the descriptor is closed, as its number may then belong to another.
  func closed() { state.withLock { $0.descriptor = -1 } }

  /// Ends both directions; libmicrohttpd then sees the end and closes.
  ///
  /// - Returns: False when it was cut or closed already.
  func cut() -> Bool {
    state.withLock { state in
      guard state.descriptor >= 0, !state.isCut else { return false }
      state.isCut = true
      return shutdown(state.descriptor, Int32(SHUT_RDWR)) == 0
    }
  }
}
