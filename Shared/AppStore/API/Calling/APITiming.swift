/// Time and chance as the API client sees them; tests bring their own.
public struct APITiming: Sendable {
  /// UNIX milliseconds, for tokens and for Apple's absolute times.
  public var wallClock: @Sendable () -> Int64
  /// Time that only goes forward, from any start, for limits.
  public var uptime: @Sendable () -> Duration
  /// Waits; throws when the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// A number from 0 up to 1.
  public var random: @Sendable () -> Double

  /// The machine's time that goes forward, its sleep and its chance, beside a given wall clock.
  ///
  /// - Parameter wallClock: UNIX milliseconds.
  public init(wallClock: @escaping @Sendable () -> Int64) {
    self.wallClock = wallClock
    let start = ContinuousClock.now
    uptime = { ContinuousClock.now - start }
    sleep = { try await Task.sleep(for: $0) }
    random = { Double.random(in: 0..<1) }
  }
}

extension Duration {
  /// Seconds as a number, for shares of durations.
  var asSeconds: Double {
    let parts = components
    return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
  }
}
