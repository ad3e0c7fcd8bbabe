import HTTPClient
import HTTPServer
import ServiceRuntime
import Synchronization
import Testing

/// A server and a client of it, both stopped when the test ends.
private func withPair(
  workers: Int = 2, settings: ClientSettings = ClientSettings(), _ router: Router,
  _ body: (HTTPClient, String, Metrics) async throws -> Void
) async throws {
  let metrics = Metrics()
  let server = try Server(port: 0, router: router, log: .silent, metrics: metrics)
  let running = Task { try await server.run() }
  let client = HTTPClient(workers: workers, settings: settings, log: .silent, metrics: metrics)
  let outcome: Result<Void, any Error>
  do {
    outcome = .success(try await body(client, "http://127.0.0.1:\(server.port)", metrics))
  } catch {
    outcome = .failure(error)
  }
  await client.close(by: .after(.seconds(5)))
  await server.stop(by: .after(.seconds(5)))
  try await running.value
  try outcome.get()
}

private func router() -> Router {
  var router = Router()
  router.on(.post, "/echo", scope: nil) { request in
    Response(
      status: 201,
      headers: [("X-Seen", request.headers["X-Sent"] ?? ""), ("Retry-After", "7")],
      body: request.body)
  }
  router.on(.get, "/method", scope: nil) { request in .text(request.method.rawValue) }
  router.on(.put, "/method", scope: nil) { request in
    .text("\(request.method.rawValue) \(request.body.count)")
  }
  router.on(.delete, "/method", scope: nil) { request in
    .text("\(request.method.rawValue) \(request.headers["Content-Length"] ?? "none")")
  }
  router.on(.get, "/slow", scope: nil) { _ in
    try? await Task.sleep(for: .seconds(30))
    return .text("late")
  }
  router.on(.get, "/big", scope: nil) { request in
    let count = request.queryValue("bytes").flatMap { Int($0) } ?? 0
    return Response(status: 200, body: [UInt8](repeating: 0x78, count: count))
  }
  router.on(.get, "/away", scope: nil) { _ in
    Response(status: 302, headers: [("Location", "/method")])
  }
  router.direct(.get, "/n/{n}") { request in .text(request.parameter("n")) }
  return router
}

private func text(_ response: HTTPResponse) -> String {
  String(decoding: response.body, as: UTF8.self)
}

@Suite("HTTP client")
struct HTTPClientTests {
  @Test func `a request and its answer carry method, fields and body`() async throws {
    try await withPair(router()) { client, base, _ in
      let response = try await client.send(
        HTTPRequest(
          method: "POST", url: base + "/echo", headers: [("X-Sent", "é;1"), ("X-Empty", "")],
          body: Array("hello\u{0}world".utf8)))
      #expect(response.status == 201)
      #expect(response.isSuccess)
      #expect(text(response) == "hello\u{0}world")
      #expect(response.header("x-seen") == "é;1")
      #expect(response.retryAfter == .seconds(7))
    }
  }

  @Test func `each method goes as it is`() async throws {
    try await withPair(workers: 1, router()) { client, base, _ in
      for (method, body, expected) in [
        ("GET", nil, "GET"), ("PUT", [1, 2], "PUT 2"), ("PUT", [], "PUT 0"),
        ("DELETE", nil, "DELETE none"), ("HEAD", nil, ""), ("GET", nil, "GET"),
      ] as [(String, [UInt8]?, String)] {
        let response = try await client.send(
          HTTPRequest(method: method, url: base + "/method", body: body))
        #expect(response.status == 200)
        #expect(text(response) == expected)
      }
    }
  }

  @Test func `a redirect is an answer and is not followed`() async throws {
    try await withPair(router()) { client, base, _ in
      let response = try await client.send(HTTPRequest(url: base + "/away"))
      #expect(response.status == 302)
      #expect(response.header("Location") == "/method")
    }
  }

  @Test func `an answer that takes too long is a retryable error`() async throws {
    try await withPair(router()) { client, base, metrics in
      let error = await #expect(throws: HTTPClientError.self) {
        _ = try await client.send(
          HTTPRequest(url: base + "/slow?token=secret", timeout: .milliseconds(200)))
      }
      #expect(error?.kind == .timedOut)
      #expect(error?.isRetryable == true)
      #expect(error?.mayHaveReached == true)
      #expect(error?.description.contains("secret") == false)
      #expect(error?.origin == base)
      #expect(metrics.text().contains(#"outcome="timedOut"} 1"#))
    }
  }

  @Test func `a refused connection is retryable and reached nobody`() async throws {
    let server = try Server(port: 0, router: Router(), log: .silent, metrics: Metrics())
    let port = server.port
    await server.stop(by: .after(.seconds(1)))
    try await withPair(router()) { client, _, _ in
      // The socket is bound until the server is gone; port 1 belongs to nobody.
      _ = port
      let error = await #expect(throws: HTTPClientError.self) {
        _ = try await client.send(HTTPRequest(url: "http://user:pw@127.0.0.1:1/"))
      }
      #expect(error?.kind == .cannotConnect)
      #expect(error?.isRetryable == true)
      #expect(error?.mayHaveReached == false)
      #expect(error?.origin == "http://127.0.0.1:1")
    }
  }

  @Test(arguments: [
    "file:///etc/passwd", "ftp://127.0.0.1/", "127.0.0.1/", "", "http://a b/", "http://x/\r\nY: z",
    "http://[::1/",
  ])
  func `what is no http URL is refused`(_ url: String) async throws {
    try await withPair(router()) { client, _, _ in
      let error = await #expect(throws: HTTPClientError.self) {
        _ = try await client.send(HTTPRequest(url: url))
      }
      #expect(error?.kind == .invalidRequest)
      #expect(error?.isRetryable == false)
    }
  }

  @Test func `header fields that would split a request are refused`() async throws {
    try await withPair(router()) { client, base, _ in
      for field in [("X-A", "1\r\nX-B: 2"), ("X\r\n", "1"), ("", "1"), ("X:Y", "1")] {
        let error = await #expect(throws: HTTPClientError.self) {
          _ = try await client.send(HTTPRequest(url: base + "/method", headers: [field]))
        }
        #expect(error?.kind == .invalidRequest)
      }
    }
  }

  @Test func `an answer of the greatest length is taken and one byte more refused`() async throws {
    var settings = ClientSettings()
    settings.bodyBytes = 100_000
    try await withPair(settings: settings, router()) { client, base, _ in
      let fine = try await client.send(HTTPRequest(url: base + "/big?bytes=100000"))
      #expect(fine.body.count == 100_000)
      let error = await #expect(throws: HTTPClientError.self) {
        _ = try await client.send(HTTPRequest(url: base + "/big?bytes=100001"))
      }
      #expect(error?.kind == .tooLarge)
      #expect(error?.isRetryable == false)
    }
  }

  @Test func `many requests at a time each get their own answer`() async throws {
    try await withPair(workers: 4, router()) { client, base, metrics in
      let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<200 {
          group.addTask {
            let response = try await client.send(HTTPRequest(url: base + "/n/\(number)"))
            return text(response) == "\(number)" ? 0 : 1
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(wrong == 0)
      #expect(metrics.gauge("http_connections", "").value <= 4, "connections are kept")
    }
  }

  @Test func `more requests than may wait are refused as busy`() async throws {
    var settings = ClientSettings()
    settings.waiting = 2
    try await withPair(workers: 1, settings: settings, router()) { client, base, _ in
      let kinds = await withTaskGroup(of: HTTPClientError.Kind?.self) { group in
        for _ in 0..<10 {
          group.addTask {
            do throws(HTTPClientError) {
              _ = try await client.send(
                HTTPRequest(url: base + "/slow", timeout: .milliseconds(300)))
              return nil
            } catch {
              return error.kind
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(kinds.contains(.busy))
      #expect(kinds.contains(.timedOut))
      #expect(kinds.allSatisfy { $0 == .busy || $0 == .timedOut })
    }
  }

  @Test func `cancelling the task gives the request up`() async throws {
    try await withPair(workers: 1, router()) { client, base, _ in
      let tasks = (0..<3).map { _ in
        Task { () -> HTTPClientError.Kind? in
          do throws(HTTPClientError) {
            _ = try await client.send(HTTPRequest(url: base + "/slow"))
            return nil
          } catch {
            return error.kind
          }
        }
      }
      for task in tasks { task.cancel() }
      let began = ContinuousClock.now
      for task in tasks { #expect(await task.value == .cancelled) }
      #expect(ContinuousClock.now - began < .seconds(10))
    }
  }

  @Test func `closing gives up what is under way and refuses what comes later`() async throws {
    try await withPair(workers: 1, router()) { client, base, _ in
      let tasks = (0..<3).map { _ in
        Task { () -> HTTPClientError.Kind? in
          do throws(HTTPClientError) {
            _ = try await client.send(HTTPRequest(url: base + "/slow"))
            return nil
          } catch {
            return error.kind
          }
        }
      }
      try await Task.sleep(for: .milliseconds(100))
      await client.close(by: .after(.milliseconds(100)))
      for task in tasks { #expect(await task.value == .closed) }
      let error = await #expect(throws: HTTPClientError.self) {
        _ = try await client.send(HTTPRequest(url: base + "/method"))
      }
      #expect(error?.kind == .closed)
    }
  }

  @Test func `a thread of ours may wait for the answer`() async throws {
    try await withPair(router()) { client, base, _ in
      let answer = Completion<String?>()
      _ = DedicatedThread(name: "test-wait") {
        answer.complete(
          with: (try? client.sendAndWait(HTTPRequest(url: base + "/n/5"))).map(text))
      }
      #expect(await answer.value() == "5")
    }
  }
}
