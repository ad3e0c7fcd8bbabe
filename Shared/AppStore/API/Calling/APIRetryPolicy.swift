/// How often and after which pauses a request is sent again.
public struct APIRetryPolicy: Sendable, Equatable {
  /// Tries altogether, at least one.
  public var attempts = 4
  /// The longest first pause; each next one may be twice as long.
  public var firstPause: Duration = .milliseconds(250)
  /// No pause of ours is longer.
  public var longestPause: Duration = .seconds(8)
  /// A longer `Retry-After` is not waited for but handed to the caller in the error.
  public var longestRetryAfter: Duration = .seconds(30)
  /// No further try begins later than so long after the first.
  public var longestTime: Duration = .seconds(60)

  /// The defaults: four tries within at most 1.75 seconds of pauses.
  public init() {}

  /// The pause before the next try, or nil if there is none.
  ///
  /// Full jitter: evenly spread between nothing and the bound, which doubles; so clients that failed
  /// together do not come back together. What the server asked for is the least.
  ///
  /// - Parameters:
  ///   - tries: Made so far, from 1.
  ///   - elapsed: Since the first try began.
  ///   - random: From 0 up to 1.
  func pause(
    after error: APIError, tries: Int, elapsed: Duration = .zero, random: Double
  ) -> Duration? {
    guard error.isRetryable, tries < attempts else { return nil }
    let pause = pause(after: error, tries: tries, random: random)
    return pause.flatMap { elapsed + $0 <= longestTime ? $0 : nil }
  }

  private func pause(after error: APIError, tries: Int, random: Double) -> Duration? {
    let bound = min(firstPause * (1 << min(tries - 1, 20)), longestPause)
    let jittered = Duration.nanoseconds(Int64(bound.asSeconds * random * 1e9))
    guard let asked = error.retryAfter else { return jittered }
    guard asked <= longestRetryAfter else { return nil }
    return asked + jittered
  }
}
