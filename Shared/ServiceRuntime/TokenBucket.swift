import Synchronization

/// Lets so many things a second pass, and a burst of them after a rest.
public final class TokenBucket: Sendable {
  private struct State {
    var tokens: Double
    var filledAt: ContinuousClock.Instant
  }

  private let perSecond: Double
  private let burst: Double
  private let state: Mutex<State>

  /// Makes a full bucket.
  public init(perSecond: Double, burst: Double) {
    self.perSecond = perSecond
    self.burst = burst
    state = Mutex(State(tokens: burst, filledAt: ContinuousClock.now))
  }

  /// Takes a token; false when there is none.
  public func take() -> Bool {
    let now = ContinuousClock.now
    return state.withLock { state in
      let refill = (now - state.filledAt).inSeconds * perSecond
      state.tokens = min(burst, state.tokens + refill)
      state.filledAt = now
      guard state.tokens >= 1 else { return false }
      state.tokens -= 1
      return true
    }
  }
}
