import FoundationEssentials
import Glibc
import Synchronization

/// Tells the time in UTC milliseconds.
///
/// Injected wherever a rule depends on the time.
public protocol WallClock: Sendable {
  /// UTC milliseconds since 1970.
  func now() -> Int64

  /// The longest that a timer may sleep before it looks at this clock again.
  var longestSleep: Duration { get }
}

extension WallClock {
  /// One second: a stepped clock is noticed within that time.
  public var longestSleep: Duration { .seconds(1) }
}

/// The machine's clock.
public struct SystemClock: WallClock {
  /// Makes a clock that reads `CLOCK_REALTIME`.
  public init() {}

  /// UTC milliseconds since 1970.
  public func now() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// A clock that tests set by hand.
public final class ManualClock: WallClock {
  private let time: Atomic<Int64>

  /// Short, as this clock is moved by hand.
  public var longestSleep: Duration { .milliseconds(5) }

  /// Makes a clock that stands at the given UTC milliseconds.
  public init(_ now: Int64) { time = Atomic(now) }

  /// The time that was set.
  public func now() -> Int64 { time.load(ordering: .acquiring) }

  /// Sets the time.
  public func set(_ now: Int64) { time.store(now, ordering: .releasing) }

  /// Moves the time.
  public func advance(by milliseconds: Int64) {
    time.wrappingAdd(milliseconds, ordering: .acquiringAndReleasing)
  }
}

/// The machine's clock shifted by milliseconds that stand in a file; development and tests only.
///
/// The simulator writes the file when its clock is moved, so that months pass for the whole stack at
/// once. The file is read again at most every 20 ms. A missing file means no shift.
public final class ShiftedClock: WallClock {
  private struct Reading {
    var offset: Int64 = 0
    var validUntil: Int64 = 0
  }

  private let path: String
  private let reading = Mutex(Reading())

  /// Short, as this clock is moved by hand.
  public var longestSleep: Duration { .milliseconds(20) }

  /// Makes a clock shifted by the file at `path`.
  public init(path: String) { self.path = path }

  /// UTC milliseconds since 1970, shifted.
  public func now() -> Int64 {
    let real = SystemClock().now()
    return reading.withLock { reading in
      if real >= reading.validUntil || real < reading.validUntil - 1000 {
        reading.offset = offsetInFile() ?? reading.offset
        reading.validUntil = real + 20
      }
      return real + reading.offset
    }
  }

  private func offsetInFile() -> Int64? {
    guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
    return Int64(String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace })
  }
}

/// Writes a time as RFC 3339 in UTC with milliseconds, for people.
public func rfc3339(_ milliseconds: Int64) -> String {
  Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
}
