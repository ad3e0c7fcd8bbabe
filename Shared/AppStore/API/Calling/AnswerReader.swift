import HTTPClient

/// Turns an HTTP answer into what was asked for, or into the error that it is.
enum AnswerReader {
  /// `now` in UNIX milliseconds, for times of `Retry-After`.
  static func read<Answer>(
    _ response: HTTPResponse, of request: APIRequest<Answer>, now: Int64
  ) throws(APIError) -> Answer {
    guard response.isSuccess else { throw error(response, now: now) }
    do {
      return try request.read(response.body)
    } catch {
      // No path: the text as a whole is no JSON object.
      throw APIError(
        error.path.isEmpty ? .garbled : .unexpectedAnswer, status: response.status,
        message: "the answer cannot be read: \(error)")
    }
  }

  private static func error(_ response: HTTPResponse, now: Int64) -> APIError {
    let wait = response.header("Retry-After").flatMap { RetryAfter.wait($0, now: now) }
    let status = response.status
    guard status != 401 else {
      return APIError(
        .unauthorized, status: status, message: "Apple does not accept the token", retryAfter: wait)
    }
    guard let body = try? ErrorBody(json: response.body), let code = body.errorCode else {
      let message =
        response.body.isEmpty
        ? "an error without a body" : "an error without Apple's error code"
      return APIError(.status, status: status, message: message, retryAfter: wait)
    }
    return APIError(
      .refused(APIErrorCode(rawValue: code)), status: status,
      message: body.errorMessage ?? "no message", retryAfter: wait)
  }
}

/// The body of Apple's error answers.
private struct ErrorBody: Payload {
  var errorCode: Int64?
  var errorMessage: String?

  init(_ fields: PayloadFields) throws(PayloadFault) {
    errorCode = try fields.int64("errorCode")
    errorMessage = try fields.string("errorMessage")
  }
}
