import HTTPClient

/// How an attempt to deliver a notification went, in the words of Apple's notification history.
enum SendAttemptResult: String, Sendable, Encodable {
  case success = "SUCCESS"
  case timedOut = "TIMED_OUT"
  case tlsIssue = "TLS_ISSUE"
  case noResponse = "NO_RESPONSE"
  case socketIssue = "SOCKET_ISSUE"
  case invalidResponse = "INVALID_RESPONSE"
  case prematureClose = "PREMATURE_CLOSE"
  case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
  case other = "OTHER"

  /// Apple counts 200 to 206 as success.
  init(status: Int) {
    self = (200...206).contains(status) ? .success : .unsuccessfulStatus
  }

  init(_ error: HTTPClientError.Kind) {
    self =
      switch error {
      case .timedOut: .timedOut
      case .tls: .tlsIssue
      case .nameUnknown, .cannotConnect: .socketIssue
      case .cut: .prematureClose
      case .tooLarge: .invalidResponse
      case .invalidRequest, .forbiddenAddress, .busy, .cancelled, .closed, .configuration, .other:
        .other
      }
  }
}

/// One attempt.
struct SendAttempt: Sendable, Encodable {
  /// Simulated milliseconds.
  let attemptDate: Int64
  let sendAttemptResult: SendAttemptResult
  /// The HTTP status, if there was an answer.
  let status: Int?
  /// Asked for through the control API, beside Apple's rule.
  let isRedelivery: Bool
}
