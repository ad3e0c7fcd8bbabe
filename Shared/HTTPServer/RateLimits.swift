public import ServiceRuntime
import Synchronization

/// How often somebody may ask: so many requests in so many seconds.
///
/// Requests are let through at an even rate, and after a rest the whole quota at once.
public struct RateQuota: Sendable, Equatable {
  /// How many requests, from 1.
  public let requests: Int
  /// In how many seconds, from 1.
  public let seconds: Int

  /// Makes a quota; nil outside 1 to 1,000,000 requests and 1 to 86,400 seconds.
  public init?(requests: Int, seconds: Int) {
    guard (1...1_000_000).contains(requests), (1...86_400).contains(seconds) else { return nil }
    self.requests = requests
    self.seconds = seconds
  }
}

/// Counts the requests of keys and customers against their quotas.
///
/// A name that was not heard of for long is forgotten, and has its whole quota again; so the memory
/// is bounded.
public final class RateLimits: Sendable {
  let keys: RateTable?
  let customers: RateTable?

  /// Makes limits; nil is no limit.
  ///
  /// - Parameters:
  ///   - now: Monotonic nanoseconds.
  public init(
    perKey: RateQuota?, perCustomer: RateQuota?, metrics: Metrics,
    now: @escaping @Sendable () -> Int64 = RateTable.monotonic
  ) {
    keys = perKey.map { RateTable("key", $0, names: 4096, metrics, now) }
    customers = perCustomer.map { RateTable("customer", $0, names: 100_000, metrics, now) }
  }
}

/// One quota, and where each name stands.
public final class RateTable: Sendable {
  struct Reading {
    let isAdmitted: Bool
    /// Requests that would be let through now.
    let remaining: Int64
    /// Nanoseconds until the whole quota is there again.
    let untilFull: Int64
    /// Nanoseconds until a refused request would be let through.
    let retryAfter: Int64
  }

  let policy: String
  /// What the quota is counted by, in the fields: `key` or `customer`.
  let partition: String
  private let window: Int64
  private let interval: Int64
  /// When the name would have used up nothing, if it asked no more: the cell rate algorithm keeps no
  /// more than this for each name.
  private let idleAt: RecentMemory<String, Int64>
  private let now: @Sendable () -> Int64
  private let refused: Counter

  init(
    _ partition: String, _ quota: RateQuota, names: Int, _ metrics: Metrics,
    _ now: @escaping @Sendable () -> Int64
  ) {
    self.partition = partition
    policy = "\"\(partition)\";q=\(quota.requests);w=\(quota.seconds)"
    window = Int64(quota.seconds) * 1_000_000_000
    interval = max(1, window / Int64(quota.requests))
    idleAt = RecentMemory(limit: names)
    self.now = now
    refused = metrics.counter(
      "http_rate_limited_total", "Requests refused since their key or customer asks too often.",
      labels: ["by": partition])
  }

  /// Nanoseconds of the monotonic clock.
  public static let monotonic: @Sendable () -> Int64 = {
    let time = (ContinuousClock.now - RateTable.origin).components
    return time.seconds * 1_000_000_000 + time.attoseconds / 1_000_000_000
  }

  private static let origin = ContinuousClock.now

  func count(_ name: String) -> Reading {
    let now = now()
    return idleAt.update(name) { known in
      let before = max(known ?? now, now)
      let after = before + interval
      let isAdmitted = after - now <= window
      let idle = isAdmitted ? after : before
      if !isAdmitted { refused.add() }
      let reading = Reading(
        isAdmitted: isAdmitted, remaining: (window - (idle - now)) / interval,
        untilFull: idle - now, retryAfter: isAdmitted ? 0 : after - now - window)
      return (idle, reading)
    }
  }
}

/// What one request was counted against, and the fields that its answer bears for it
/// (draft-ietf-httpapi-ratelimit-headers).
final class RateMeter: Sendable {
  private struct State {
    var counted: [(table: RateTable, reading: RateTable.Reading)] = []
    var hasCustomer = false
  }

  private let limits: RateLimits
  private let state = Mutex(State())

  init(limits: RateLimits) { self.limits = limits }

  func count(key: String) throws(Problem) {
    if let table = limits.keys { try count(key, table) }
  }

  /// Counts once for each request, however often it is asked for.
  func count(customer: String) throws(Problem) {
    guard let table = limits.customers else { return }
    let isFirst = state.withLock { state in
      defer { state.hasCustomer = true }
      return !state.hasCustomer
    }
    if isFirst { try count(customer, table) }
  }

  private func count(_ name: String, _ table: RateTable) throws(Problem) {
    let reading = table.count(name)
    state.withLock { $0.counted.append((table: table, reading: reading)) }
    guard !reading.isAdmitted else { return }
    throw Problem(
      status: 429, type: "rate-limited", title: "Too many requests",
      detail: "This \(table.partition) asks more often than it may (\(table.policy)). Ask again "
        + "after the time in Retry-After.",
      members: ["by": .string(table.partition)],
      retryAfter: .nanoseconds(reading.retryAfter))
  }

  /// `RateLimit-Policy` and `RateLimit`; none where nothing was counted.
  var fields: [(String, String)] {
    let counted = state.withLock { $0.counted }
    guard !counted.isEmpty else { return [] }
    let readings = counted.map { table, reading in
      "\"\(table.partition)\";r=\(reading.remaining);t=\(seconds(reading.untilFull))"
    }
    return [
      ("RateLimit-Policy", counted.map(\.table.policy).joined(separator: ", ")),
      ("RateLimit", readings.joined(separator: ", ")),
    ]
  }

  private func seconds(_ nanoseconds: Int64) -> Int64 {
    (nanoseconds + 999_999_999) / 1_000_000_000
  }
}
