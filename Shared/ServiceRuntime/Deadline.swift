import Dispatch

/// A moment on the monotonic clock by which something must have ended.
public struct Deadline: Sendable, Comparable {
  private let instant: ContinuousClock.Instant

  /// The moment that lies the given time ahead.
  public static func after(_ duration: Duration) -> Deadline {
    Deadline(instant: ContinuousClock.now + duration)
  }

  /// The time that is left; zero when the deadline has passed.
  public var remaining: Duration {
    max(.zero, instant - ContinuousClock.now)
  }

  /// Whether the moment has come.
  public var hasPassed: Bool { instant <= ContinuousClock.now }

  /// Orders by time.
  public static func < (left: Deadline, right: Deadline) -> Bool { left.instant < right.instant }

  var dispatchTime: DispatchTime {
    .now() + .nanoseconds(Int(clamping: remaining.wholeNanoseconds))
  }
}

extension Duration {
  /// The duration in milliseconds, rounded down, never negative.
  public var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    return max(0, seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000)
  }

  /// The duration in seconds, for metrics.
  public var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return max(0, min(seconds, 1 << 32) &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
  }
}
