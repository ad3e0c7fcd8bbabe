/// One try of a request, as metrics and logs see it.
public struct APITry: Sendable {
  /// The app.
  public let bundleId: String
  /// The environment that was asked.
  public let environment: AppEnvironment
  /// What was asked for.
  public let endpoint: APIEndpoint
  /// 1 for the first try.
  public let number: Int
  /// How long it took, the wait for a turn included.
  public let time: Duration
  /// Why it gave no answer; nil if it did.
  public let failure: APIError?
  /// The pause before the next try; nil if there is none.
  public let pause: Duration?
}
