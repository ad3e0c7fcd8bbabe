import Synchronization

/// Keeps each app within Apple's rates, per environment and endpoint, before Apple has to.
///
/// Shared by all clients that use the app's key. A token bucket each: Apple states rates per second
/// and enforces them per hour, so a short burst is allowed and the refill stays a little below.
public final class APILimiter: Sendable {
  private struct Subject: Hashable {
    let bundleId: String
    let environment: AppEnvironment
    let endpoint: APIEndpoint
  }

  private struct Bucket {
    /// Below zero while callers wait for tokens that are promised to them.
    var tokens: Double
    var filledAt: Duration
    /// Apple asked for silence until then.
    var silentUntil: Duration = .zero
  }

  /// No burst is smaller: a person's test notification and the questions after it.
  static let leastBurst = 5.0

  private let share: Double
  private let longestWait: Duration
  private let limit: Int
  private let timing: APITiming
  private let buckets = Mutex<[Subject: Bucket]>([:])

  /// Makes full buckets.
  ///
  /// - Parameters:
  ///   - share: Of Apple's rates that is used, above 0 up to 1.
  ///   - longestWait: A request that would wait longer fails at once as `limited`.
  ///   - limit: Buckets that are kept; beyond, the fullest one is dropped.
  ///   - timing: Time that goes forward, and sleep.
  public init(
    share: Double = 0.95, longestWait: Duration = .seconds(10), limit: Int = 4096,
    timing: APITiming
  ) {
    self.share = share > 0 ? min(share, 1) : 0.95
    self.longestWait = longestWait
    self.limit = max(1, limit)
    self.timing = timing
  }

  /// Waits for a turn.
  ///
  /// - Throws: `APIError` of kind `limited`, with the time to wait, or `cancelled`.
  public func pass(
    _ bundleId: String, _ environment: AppEnvironment, _ endpoint: APIEndpoint
  ) async throws(APIError) {
    let subject = Subject(bundleId: bundleId, environment: environment, endpoint: endpoint)
    let wait = try reserve(subject)
    guard wait > .zero else { return }
    do {
      try await timing.sleep(wait)
    } catch {
      buckets.withLock { $0[subject]?.tokens += 1 }
      throw APIError(.cancelled, message: "cancelled while waiting for a turn")
    }
  }

  /// Keeps silent for a time that Apple asked for.
  public func pause(
    _ bundleId: String, _ environment: AppEnvironment, _ endpoint: APIEndpoint,
    for time: Duration
  ) {
    let subject = Subject(bundleId: bundleId, environment: environment, endpoint: endpoint)
    let now = timing.uptime()
    buckets.withLock { buckets in
      var bucket = filled(buckets[subject], rate(subject), now)
      bucket.silentUntil = max(bucket.silentUntil, now + time)
      // What Apple counts is used up: come back slowly.
      bucket.tokens = min(bucket.tokens, 1)
      buckets[subject] = bucket
    }
  }

  /// Takes a token, perhaps one that is still to come, and answers how long to wait for it.
  private func reserve(_ subject: Subject) throws(APIError) -> Duration {
    let now = timing.uptime()
    let rate = rate(subject)
    let (wait, isTaken) = buckets.withLock { buckets in
      var bucket = filled(buckets[subject], rate, now)
      let missing = max(0, 1 - bucket.tokens)
      let refill = Duration.milliseconds(Int64((missing / rate * 1000).rounded(.up)))
      let wait = max(refill, bucket.silentUntil - now, .zero)
      let isTaken = wait <= longestWait
      if isTaken { bucket.tokens -= 1 }
      buckets[subject] = bucket
      trim(&buckets, keeping: subject)
      return (wait, isTaken)
    }
    guard isTaken else {
      throw APIError(
        .limited,
        message: "this app's rate for this endpoint is used up; a turn comes in \(wait)",
        retryAfter: wait)
    }
    return wait
  }

  private func rate(_ subject: Subject) -> Double {
    let full = subject.endpoint.requestsPerSecond * share
    return subject.environment == .production ? full : full / 10
  }

  private func filled(_ known: Bucket?, _ rate: Double, _ now: Duration) -> Bucket {
    let burst = max(Self.leastBurst, rate)
    guard var bucket = known else { return Bucket(tokens: burst, filledAt: now) }
    bucket.tokens = min(burst, bucket.tokens + (now - bucket.filledAt).asSeconds * rate)
    bucket.filledAt = now
    return bucket
  }

  private func trim(_ buckets: inout [Subject: Bucket], keeping subject: Subject) {
    guard buckets.count > limit else { return }
    let fullest = buckets.filter { $0.key != subject }.max { $0.value.tokens < $1.value.tokens }
    if let fullest { buckets.removeValue(forKey: fullest.key) }
  }
}
