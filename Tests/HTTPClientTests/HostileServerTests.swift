import HTTPClient
import ServiceRuntime
import Testing

@Suite("HTTP client against strange servers")
struct HostileServerTests {
  private static func outcome(
    of answer: String, method: String = "GET", settings: ClientSettings = ClientSettings()
  ) async throws -> Result<HTTPResponse, HTTPClientError> {
    let server = try #require(RawServer(answer: Array(answer.utf8)))
    return await ask("http://127.0.0.1:\(server.port)/", method, settings)
  }

  private static func ask(
    _ url: String, _ method: String = "GET", _ settings: ClientSettings
  ) async -> Result<HTTPResponse, HTTPClientError> {
    let client = HTTPClient(workers: 1, settings: settings, log: .silent, metrics: Metrics())
    let outcome: Result<HTTPResponse, HTTPClientError>
    do throws(HTTPClientError) {
      outcome = .success(
        try await client.send(HTTPRequest(method: method, url: url, timeout: .seconds(10))))
    } catch {
      outcome = .failure(error)
    }
    await client.close(by: .after(.seconds(2)))
    return outcome
  }

  private static func kind(_ outcome: Result<HTTPResponse, HTTPClientError>)
    -> HTTPClientError.Kind?
  {
    if case .failure(let error) = outcome { error.kind } else { nil }
  }

  @Test(arguments: [
    "", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
  ])
  func `a connection that breaks is a retryable error`(_ answer: String) async throws {
    let outcome = try await Self.outcome(of: answer)
    #expect(Self.kind(outcome) == .cut)
  }

  @Test func `what is no HTTP is an error and never an answer`() async throws {
    let outcome = try await Self.outcome(of: "SSH-2.0-OpenSSH_9.2\r\n")
    #expect(Self.kind(outcome) != nil)
  }

  @Test func `a head without end is refused`() async throws {
    let line = "X-Filler: \(String(repeating: "x", count: 1000))\r\n"
    let outcome = try await Self.outcome(
      of: "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 200) + "\r\n")
    #expect(Self.kind(outcome) == .tooLarge)
  }

  @Test func `an interim answer is passed over with its fields`() async throws {
    let outcome = try await Self.outcome(
      of: "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
        + "HTTP/1.1 200 OK\r\nX-Late: 2 \r\nContent-Length: 2\r\n\r\nok")
    let response = try outcome.get()
    #expect(response.status == 200)
    #expect(response.header("X-Early") == nil)
    #expect(response.header("x-late") == "2")
  }

  @Test func `only the configured authority is trusted`() async throws {
    let server = try await TLSServer()
    let url = "https://localhost:\(server.port)/"
    var settings = ClientSettings()
    let stranger = await Self.ask(url, "GET", settings)
    #expect(Self.kind(stranger) == .tls)
    settings.caPEM = server.authority
    let known = await Self.ask(url, "GET", settings)
    #expect(try known.get().status == 200)
    settings.caPEM = nil
    settings.caFile = "/nonexistent/ca.pem"
    let broken = await Self.ask(url, "GET", settings)
    #expect(Self.kind(broken) == .configuration)
  }
}
