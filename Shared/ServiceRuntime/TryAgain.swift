/// An error that may say: the same request can succeed later, without anyone mending anything.
///
/// The HTTP server answers 503 with `Retry-After` for it, whatever module it comes from.
public protocol Transient: Error {
  /// What to tell the caller; nil when this error is a final one after all.
  var tryAgain: TryAgain? { get }
}

/// What a caller is told who should come again.
public struct TryAgain: Sendable, Equatable {
  /// A stable word, such as `overloaded`.
  public let type: String
  /// What is the matter and what to do, for people.
  public let detail: String
  /// When to come again.
  public let after: Duration

  /// Makes one.
  public init(type: String, detail: String, after: Duration) {
    self.type = type
    self.detail = detail
    self.after = after
  }
}
