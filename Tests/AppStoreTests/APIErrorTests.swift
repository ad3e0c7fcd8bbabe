import HTTPClient
import Testing

@testable import AppStore

@Suite("API errors")
struct APIErrorTests {
  /// What a client that tries once makes of an answer.
  private func error(_ response: HTTPResponse) async throws -> APIError {
    try await error(ScriptedApple(response))
  }

  private func error(_ apple: ScriptedApple) async throws -> APIError {
    var world = try APIWorld(apple)
    world.context.retry.attempts = 1
    let client = try world.client()
    return try #require(
      await apiError { () throws(APIError) in
        _ = try await client.answer(to: .transactionInfo("1234"))
      })
  }

  @Test func `every code of Apple's documentation has its name and an advice of its own`()
    async throws
  {
    #expect(appleErrorCodes.count == 64)
    let unknown = APIErrorCode(rawValue: 9_990_000).advice
    for (code, name) in appleErrorCodes {
      let error = try await error(.refusal(code))
      #expect(error.code?.rawValue == code && error.code?.name == name)
      #expect(error.status == Int(code / 10_000) && error.message == "Words.")
      #expect(error.description.contains("\(code) \(name)"))
      #expect(!error.advice.isEmpty && error.advice.prefix(20) != unknown.prefix(20), "\(code)")
    }
  }

  @Test func `only what Apple asks to try again is retryable`() async throws {
    let retryable: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_001, 4_290_000]
    for (code, _) in appleErrorCodes {
      let error = try await error(.refusal(code))
      #expect(error.isRetryable == retryable.contains(code), "\(code)")
      #expect(!(error.isRetryable && error.isVerdict))
    }
    #expect(try await !error(.refusal(5_000_000)).isVerdict)
    #expect(try await error(.refusal(4_040_010)).isVerdict)
    #expect(try await !error(.refusal(4_040_003)).isVerdict)
  }

  @Test(arguments: [
    ("apiException", 500, 5_000_000, "GeneralInternal"),
    ("apiTooManyRequestsException", 429, 4_290_000, "RateLimitExceeded"),
    ("invalidAppAccountTokenUUIDError", 400, 4_000_183, "InvalidAppAccountTokenUUID"),
    ("familyTransactionNotSupportedError", 400, 4_000_185, "FamilyTransactionNotSupported"),
    (
      "transactionIdNotOriginalTransactionId", 400, 4_000_187,
      "TransactionIdIsNotOriginalTransactionId"
    ),
    ("invalidTransactionIdError", 400, 4_000_006, "InvalidTransactionId"),
    ("transactionIdNotFoundError", 404, 4_040_010, "TransactionIdNotFound"),
    ("appTransactionDoesNotExistError", 404, 4_040_019, "AppTransactionDoesNotExist"),
  ])
  func `error answers of Apple's own tests are read`(
    file: String, status: Int, code: Int64, name: String
  ) async throws {
    let error = try await error(.file(file, status: status))
    #expect(error.code?.rawValue == code && error.code?.name == name && error.status == status)
    #expect(error.endpoint == .transactionInfo && error.environment == .localTesting)
  }

  @Test func `an unknown code keeps its number and words`() async throws {
    let error = try await error(.file("apiUnknownError", status: 400))
    #expect(error.code == APIErrorCode(rawValue: 9_990_000) && error.code?.name == nil)
    #expect(error.message == "Testing error." && !error.isRetryable)
    #expect(error.advice.contains("9990000"))
  }

  @Test(arguments: ["", "Unauthenticated\n", "{\"errorCode\":4010000,\"errorMessage\":\"x\"}"])
  func `a refused token is explained in words, whatever the body`(body: String) async throws {
    let error = try await error(HTTPResponse(status: 401, body: Array(body.utf8)))
    #expect(error.kind == .unauthorized && !error.isRetryable && !error.isVerdict)
    for word in ["In-App Purchase key", "issuer", "key id", "never released", "bundle id"] {
      #expect(error.advice.contains(word))
    }
  }

  @Test func `a wrong path is told from an unknown transaction`() async throws {
    for body in ["", "<html>Not found</html>", "{\"message\":\"x\"}", "{\"errorCode\":\"x\"}"] {
      let error = try await error(HTTPResponse(status: 404, body: Array(body.utf8)))
      #expect(error.kind == .status && error.code == nil && !error.isRetryable)
      #expect(!error.isVerdict && error.advice.contains("base URL"))
    }
  }

  @Test(arguments: [408, 500, 502, 503, 504])
  func `a status from whoever stands in between may pass`(status: Int) async throws {
    let error = try await error(HTTPResponse(status: status, body: Array("<html>".utf8)))
    #expect(error.kind == .status && error.isRetryable && error.status == status)
  }

  @Test(arguments: [301, 302, 400, 403, 405])
  func `a status without words that will stay is final`(status: Int) async throws {
    let error = try await error(HTTPResponse(status: status))
    #expect(error.kind == .status && !error.isRetryable && !error.isVerdict)
  }

  @Test(arguments: ["", "{", "{\"signedTransactionInfo\":\"a", "<html>", "null", "[]"])
  func `a garbled answer may pass`(body: String) async throws {
    let error = try await error(.json(body))
    #expect(error.kind == .garbled && error.isRetryable && !error.isVerdict)
  }

  @Test(arguments: ["{}", "{\"signedTransactionInfo\":null}", "{\"signedTransactionInfo\":1}"])
  func `an answer without its one field is unexpected`(body: String) async throws {
    let error = try await error(.json(body))
    #expect(error.kind == .unexpectedAnswer && !error.isRetryable && !error.isVerdict)
    #expect(error.message.contains("signedTransactionInfo"))
  }

  @Test(arguments: [
    (HTTPClientError.Kind.nameUnknown, true), (.cannotConnect, true), (.timedOut, true),
    (.cut, true), (.busy, true), (.tls, false), (.invalidRequest, false), (.tooLarge, false),
    (.closed, false), (.configuration, false), (.other, false),
  ])
  func `no answer at all is retryable by its kind`(
    kind: HTTPClientError.Kind, isRetryable: Bool
  ) async throws {
    let fault = HTTPClientError(kind: kind, origin: "https://a", detail: "d")
    let error = try await error(
      ScriptedApple([.failure(fault)]))
    #expect(error.kind == .transport(fault) && error.isRetryable == isRetryable)
    #expect(!error.isVerdict && !error.advice.isEmpty && error.status == nil)
  }

  @Test func `errors show no token, no query and not more than a few words of a body`()
    async throws
  {
    let words = String(repeating: "x", count: 10_000)
    let json = "{\"errorCode\":4000000,\"errorMessage\":\"\(words)\"}"
    let error = try await error(HTTPResponse(status: 400, body: Array(json.utf8)))
    #expect(error.message.count == 300)
    #expect(!String(reflecting: error).contains("Bearer"))
  }

  @Test func `the time to wait is read in every form that servers use`() {
    let now: Int64 = 784_111_777_000  // Sun, 06 Nov 1994 08:49:37 GMT
    func wait(_ text: String) -> Duration? { RetryAfter.wait(text, now: now) }
    #expect(wait("784111779500") == .milliseconds(2500))
    #expect(wait(" 784111779500 ") == .milliseconds(2500))
    #expect(wait("784111770000") == .zero)
    #expect(wait("7") == .seconds(7) && wait("0") == .zero)
    #expect(wait("Sun, 06 Nov 1994 08:49:47 GMT") == .seconds(10))
    #expect(wait("Sun, 06 Nov 1994 08:00:00 GMT") == .zero)
    #expect(RetryAfter.wait("1700000005", now: 1_700_000_000_000) == .seconds(5))
    #expect(
      RetryAfter.wait("Thu, 29 Feb 2024 00:00:01 GMT", now: 1_709_164_800_000) == .seconds(1))
    // A day is the most that is believed.
    #expect(wait("9223372036854775807") == .seconds(86_400) && wait("999999") == .seconds(86_400))
    for bad in ["", "-1", "soon", "1.5", "Sun, 06 Now 1994 08:49:47 GMT", "Sun, 06 Nov 1994"] {
      #expect(wait(bad) == nil, "\(bad)")
    }
  }

  @Test func `Retry-After of a rate limit reaches the caller`() async throws {
    let error = try await error(
      .refusal(4_290_000, retryAfter: String(APIClock.start + 90_000)))
    #expect(error.retryAfter == .seconds(90) && error.isRetryable && error.status == 429)
  }
}
