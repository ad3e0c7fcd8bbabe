/// A code of Apple's error answers; its first three digits are the HTTP status.
///
/// The names are those of Apple's documentation. An unknown code keeps its number.
public struct APIErrorCode: OpenVocabulary {
  /// The number as received.
  public let rawValue: Int64

  /// Wraps a code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The name in Apple's documentation; nil for an unknown code.
  public var name: String? { Self.names[self] }

  /// Whether Apple asks to try the same request again; by contract these four, and the rate limit.
  public var isRetryable: Bool {
    switch self {
    case .accountNotFoundRetryable, .appNotFoundRetryable,
      .originalTransactionIdNotFoundRetryable, .generalInternalRetryable, .rateLimitExceeded:
      true
    default: false
    }
  }

  /// Name and number.
  public var description: String { name.map { "\(rawValue) \($0)" } ?? "\(rawValue)" }
}
