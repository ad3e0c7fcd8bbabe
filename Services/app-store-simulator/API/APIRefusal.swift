import AppStore
import HTTPServer

/// An error of the App Store Server API, as the simulator answers it.
struct APIRefusal: Error, Sendable {
  private struct Body: Encodable {
    let errorCode: Int64
    let errorMessage: String
  }

  let code: APIErrorCode
  /// UNIX milliseconds at which a limited caller may come again.
  var retryAt: Int64?

  init(_ code: APIErrorCode, retryAt: Int64? = nil) {
    self.code = code
    self.retryAt = retryAt
  }

  /// The first three digits are the HTTP status.
  var response: Response {
    let body = Body(errorCode: code.rawValue, errorMessage: APIMessages.message(code))
    let response = Response.json(body, status: Int(code.rawValue / 10_000))
    // An absolute time in milliseconds, unlike HTTP's own field.
    return retryAt.map { response.with("Retry-After", String($0)) } ?? response
  }

  /// What Apple answers to a token that it does not accept: no code, no JSON.
  static let unauthenticated = Response.text(
    "Unauthenticated\n\nRequest ID: SIMULATED.0.0", status: 401)
}
