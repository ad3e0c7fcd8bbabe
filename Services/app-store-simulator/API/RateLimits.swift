import AppStore
import Synchronization

/// Rates per endpoint: given per second, enforced per hour, in the sandbox a tenth of them.
final class RateLimits: Sendable {
  private struct Count {
    let hour: Int64
    var requests = 0
  }

  private let share: Double
  private let counts = Mutex<[APIEndpoint: Count]>([:])

  /// - Parameter percent: Of Apple's rates; 0 switches them off.
  init(isSandbox: Bool, percent: Int) {
    share = (isSandbox ? 0.1 : 1) * Double(percent) / 100
  }

  /// Counts a request of this hour, simulated UNIX milliseconds.
  func take(_ endpoint: APIEndpoint, now: Int64) throws(APIRefusal) {
    guard share > 0 else { return }
    let hour = now / 3_600_000
    let most = max(1, Int(endpoint.requestsPerSecond * 3_600 * share))
    let isWithin = counts.withLock { counts in
      var count = counts[endpoint] ?? Count(hour: hour)
      if count.hour != hour { count = Count(hour: hour) }
      count.requests += 1
      counts[endpoint] = count
      return count.requests <= most
    }
    guard isWithin else {
      throw APIRefusal(.rateLimitExceeded, retryAt: (hour + 1) * 3_600_000)
    }
  }
}
