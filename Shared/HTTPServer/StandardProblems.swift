import ServiceRuntime

extension Problem {
  /// 404: nothing stands at this path.
  public static func notFound(_ detail: String = "There is nothing at this path.") -> Problem {
    Problem(status: 404, type: "not-found", title: "Not found", detail: detail)
  }

  /// 405, with `Allow`.
  public static func methodNotAllowed(_ method: Method, allowed: [String]) -> Problem {
    Problem(
      status: 405, type: "method-not-allowed", title: "Method not allowed",
      detail: "\(method) does not work here; use \(allowed.joined(separator: ", ")).",
      headers: [("Allow", allowed.joined(separator: ", "))])
  }

  /// 503 with `Retry-After`, for an error that passes by itself.
  static func tryAgain(_ reason: TryAgain) -> Problem {
    Problem(
      status: 503, type: reason.type, title: "Try again", detail: reason.detail,
      retryAfter: reason.after)
  }

  /// 400: the request breaks the rules of HTTP; the connection is closed.
  static func malformedRequest(_ detail: String) -> Problem {
    Problem(status: 400, type: "malformed-request", title: "Malformed request", detail: detail)
  }

  /// 413.
  static func bodyTooLarge(limit: Int) -> Problem {
    Problem(
      status: 413, type: "body-too-large", title: "Body too large",
      detail: "The body is longer than \(limit) bytes.", members: ["limit": .integer(Int64(limit))])
  }

  /// 431.
  static func headersTooLarge(limit: Int) -> Problem {
    Problem(
      status: 431, type: "headers-too-large", title: "Header fields too large",
      detail: "The request line and header fields are longer than \(limit) bytes.",
      members: ["limit": .integer(Int64(limit))])
  }

  /// 503: too much is going on; come again.
  public static func overloaded(
    retryAfter: Duration = .seconds(1),
    _ detail: String = "The server works on as many requests as it takes. Try again."
  ) -> Problem {
    Problem(
      status: 503, type: "overloaded", title: "Overloaded", detail: detail, retryAfter: retryAfter)
  }

  /// 429: the customer, the key or the server has as many open streams as it may have.
  static let tooManyStreams = Problem(
    status: 429, type: "too-many-streams", title: "Too many streams",
    detail: "So many event streams are open already. Close one, or read with Prefer: wait.",
    retryAfter: .seconds(5))

  /// 503: the process is about to end.
  public static let stopping = Problem(
    status: 503, type: "stopping", title: "Stopping",
    detail: "The server is stopping. Try again: another one will answer.",
    retryAfter: .seconds(1))

  /// 503: the handler took too long; what it does may still come to pass.
  static let late = Problem(
    status: 503, type: "timeout", title: "Timed out",
    detail: "No answer was found in time. Repeat the request with the same Idempotency-Key.",
    retryAfter: .seconds(1))

  /// 500: something that is not the client's fault, told in the log only.
  static func `internal`(requestId: String) -> Problem {
    Problem(
      status: 500, type: "internal", title: "Internal error",
      detail: "Something went wrong inside. The log says more under this request id.",
      members: ["requestId": .string(requestId)])
  }
}
