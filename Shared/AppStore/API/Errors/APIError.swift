public import HTTPClient

/// Why Apple's API gave no usable answer.
///
/// Secrets are never in it: no token, no query, no body.
public struct APIError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of failure; decide by these, never by a text.
  public enum Kind: Sendable, Equatable {
    /// Apple answered with an error code.
    case refused(APIErrorCode)
    /// Apple did not accept the token: 401, mostly without a body.
    case unauthorized
    /// An error status without Apple's error body, from whoever stands in between or a wrong path.
    case status
    /// The answer is not JSON: cut off, or from something that is not Apple.
    case garbled
    /// The answer is JSON, but a field has the wrong type, or one that is needed is missing.
    case unexpectedAnswer
    /// No answer arrived.
    case transport(HTTPClientError)
    /// Our own limiter: the wait would be longer than allowed.
    case limited
    /// The environment has no server, such as Xcode.
    case noServer(AppEnvironment)
    /// The request was not sent, as this part of it can never be accepted.
    case badRequest(field: String)
    /// The token could not be signed.
    case signing
    /// No environment that was asked knows the transaction.
    case unknownTransaction(asked: [AppEnvironment])
    /// More pages than the bound, or pages that lead nowhere.
    case endlessPages
    /// The task was cancelled.
    case cancelled
  }

  /// What happened.
  public let kind: Kind
  /// What was asked for; nil when nothing was asked yet.
  public internal(set) var endpoint: APIEndpoint?
  /// The environment that was asked; nil when nothing was asked yet.
  public internal(set) var environment: AppEnvironment?
  /// The HTTP status; nil without an answer.
  public let status: Int?
  /// Apple's words or ours, at most 300 characters.
  public let message: String
  /// How long to wait before the next try, if that was said.
  public let retryAfter: Duration?

  init(_ kind: Kind, status: Int? = nil, message: String, retryAfter: Duration? = nil) {
    self.kind = kind
    self.status = status
    self.message = String(message.prefix(300))
    self.retryAfter = retryAfter
  }

  /// Apple's code; nil unless Apple sent one.
  public var code: APIErrorCode? {
    guard case .refused(let code) = kind else { return nil }
    return code
  }

  /// Whether the same request may go well within seconds to minutes, by Apple's contract and by
  /// what is known of networks.
  public var isRetryable: Bool {
    switch kind {
    case .refused(let code): code.isRetryable || status == 429
    case .status: status.map { $0 == 408 || $0 == 429 || $0 >= 500 } ?? false
    case .garbled, .limited: true
    case .transport(let error): error.isRetryable
    case .unauthorized, .unexpectedAnswer, .noServer, .badRequest, .signing, .unknownTransaction,
      .endlessPages, .cancelled:
      false
    }
  }

  /// Whether Apple judged the request itself, so that asking again cannot help.
  ///
  /// Everything else says nothing about the transaction that was asked for: a job keeps it and asks
  /// again when `isRetryable`, or when a person has followed `advice`.
  public var isVerdict: Bool {
    switch kind {
    case .unknownTransaction, .badRequest: true
    case .refused(let code):
      switch code {
      case .invalidAppIdentifier, .appNotFound, .serverNotificationURLNotFound,
        .testNotificationNotFound:
        false
      default: !isRetryable && (400..<500).contains(status ?? 0)
      }
    default: false
    }
  }

  /// The fault and the place.
  public var description: String {
    let place = [endpoint?.rawValue, environment?.rawValue].compactMap { $0 }
      .joined(separator: ", ")
    let said = status.map { "HTTP \($0): " } ?? ""
    let named = code.map { "\($0): " } ?? ""
    return (place.isEmpty ? "App Store Server API: " : "App Store Server API (\(place)): ")
      + said + named + message
  }

  func at(_ endpoint: APIEndpoint, _ environment: AppEnvironment) -> APIError {
    var error = self
    error.endpoint = endpoint
    error.environment = environment
    return error
  }
}
