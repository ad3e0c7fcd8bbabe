import HTTPServer
import ServiceRuntime
import Synchronization
import Testing

@Suite("Streams")
struct StreamTests {
  /// Hands lines to every stream that is open.
  private final class Source: Sendable {
    private struct State {
      var writers: [Int: StreamWriter] = [:]
      var next = 0
      var ended = 0
    }

    private let state = Mutex(State())

    var open: Int { state.withLock { $0.writers.count } }
    var ended: Int { state.withLock { $0.ended } }

    /// Whether every stream took it.
    func write(_ text: String) -> Bool {
      state.withLock { Array($0.writers.values) }.allSatisfy { $0.write(text) }
    }

    /// Runs a stream until its task is cancelled.
    func run(_ writer: StreamWriter) async {
      let number = state.withLock { state in
        state.next += 1
        state.writers[state.next] = writer
        return state.next
      }
      while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
      state.withLock { state in
        state.writers[number] = nil
        state.ended += 1
      }
    }
  }

  private static func router(_ source: Source) -> Router {
    smallRouter { router in
      router.on(.get, "/events", scope: nil) { request in
        .stream(
          contentType: "text/event-stream",
          shares: [.init(request.queryValue("who") ?? "all", limit: 3)]
        ) { await source.run($0) }
      }
      router.on(.get, "/short", scope: nil) { _ in
        .stream(contentType: "text/plain", shares: []) { writer in
          for number in 1...1000 { _ = writer.write("\(number)\n") }
        }
      }
    }
  }

  private static func ask(_ live: LiveServer, _ target: String = "/events") throws -> RawClient {
    let client = try live.connect()
    client.send("GET \(target) HTTP/1.1\r\nHost: t\r\n\r\n")
    return client
  }

  @Test func `what is written arrives while the answer goes on`() async throws {
    let source = Source()
    try await LiveServer.with(Self.router(source)) { live in
      let client = try Self.ask(live)
      #expect(await eventually { source.open == 1 })
      for line in ["one", "two"] {
        #expect(source.write("\(line)\n"))
        #expect(await client.reads("\(line)\n"))
      }
      #expect(live.metrics.text().contains("http_streams 1\n"))
      // Requests go on beside it.
      #expect(await live.answersTo("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")?.status == 200)
    }
  }

  @Test func `a stream that ends by itself is a whole answer, and the connection lives on`()
    async throws
  {
    try await LiveServer.with(Self.router(Source())) { live in
      let client = try Self.ask(live, "/short")
      #expect(await client.reads("1000\n"))
      #expect(await client.reads("0\r\n\r\n"))
      client.send("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(await client.reads("200 OK"))
      #expect(await eventually { live.metrics.text().contains("http_streams 0\n") })
    }
  }

  @Test(arguments: [false, true])
  func `a client that goes away ends its stream, though nothing is sent`(halfClosed: Bool)
    async throws
  {
    let source = Source()
    try await LiveServer.with(Self.router(source)) { live in
      var client: RawClient? = try Self.ask(live)
      #expect(await eventually { source.open == 1 })
      if halfClosed { client?.finishSending() } else { client = nil }
      #expect(await eventually { source.ended == 1 })
      #expect(await eventually { live.metrics.text().contains("http_streams 0\n") })
      _ = client
    }
  }

  /// How long it takes until nobody waits any more after a client has gone.
  private static func leaving(_ waiters: Waiters<String>, _ client: inout RawClient?) async throws
    -> Duration
  {
    #expect(await eventually { waiters.count == 1 })
    // Longer than what is left alone as it has just begun.
    try await Task.sleep(for: .milliseconds(100))
    let began = ContinuousClock.now
    client = nil
    #expect(await eventually { waiters.count == 0 })
    return ContinuousClock.now - began
  }

  private static func waitingRouter(_ waiters: Waiters<String>) -> Router {
    smallRouter { router in
      router.on(.get, "/told", scope: nil) { _ in
        .stream(contentType: "text/event-stream", shares: []) { writer in
          while !Task.isCancelled {
            let ticket = waiters.enter("it")
            if await waiters.wait(ticket, atMost: .seconds(60)) != .notified { return }
            guard writer.write("told\n") else { return }
          }
        }
      }
      router.on(.get, "/asked", scope: nil) { request in
        let wait = request.preferredWait(atMost: .seconds(25)) ?? .zero
        let ticket = waiters.enter("it")
        return .text("\(await waiters.wait(ticket, atMost: wait))")
      }
    }
  }

  @Test(arguments: ["/told", "/asked"])
  func `whoever waits for a client that has gone gives up within two seconds`(target: String)
    async throws
  {
    let waiters = Waiters<String>()
    try await LiveServer.with(Self.waitingRouter(waiters)) { live in
      var client = try? live.connect()
      client?.send("GET \(target) HTTP/1.1\r\nHost: t\r\nPrefer: wait=25\r\n\r\n")
      let time = try await Self.leaving(waiters, &client)
      #expect(time < .seconds(2), "\(time)")
      #expect(await eventually { live.openConnections == 0 })
    }
  }

  @Test func `a client that has finished sending is answered at once instead of late`() async throws
  {
    let waiters = Waiters<String>()
    try await LiveServer.with(Self.waitingRouter(waiters)) { live in
      let client = try live.connect()
      client.send("GET /asked HTTP/1.1\r\nHost: t\r\nPrefer: wait=25\r\n\r\n")
      #expect(await eventually { waiters.count == 1 })
      client.finishSending()
      #expect(await client.reads("left"))
    }
  }

  @Test func `a group has no more streams than it may, and others go on`() async throws {
    let source = Source()
    try await LiveServer.with(Self.router(source)) { live in
      var clients = try (0..<3).map { _ in try Self.ask(live, "/events?who=a") }
      #expect(await eventually { source.open == 3 })
      let refused = await live.answersTo("GET /events?who=a HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(refused?.status == 429 && refused?.field("Retry-After") == "5")
      #expect(refused?.body.contains("urn:purser:problem:too-many-streams") == true)
      clients.append(try Self.ask(live, "/events?who=b"))
      #expect(await eventually { source.open == 4 })
      clients.removeFirst()
      #expect(await eventually { source.open == 3 })
      clients.append(try Self.ask(live, "/events?who=a"))
      #expect(await eventually { source.open == 4 })
    }
  }

  @Test func `the server has no more streams than it may`() async throws {
    var limits = ServerLimits()
    limits.streams = 2
    let source = Source()
    try await LiveServer.with(Self.router(source), limits: limits) { live in
      let clients = try ["a", "b"].map { try Self.ask(live, "/events?who=\($0)") }
      #expect(await eventually { source.open == 2 })
      let refused = await live.answersTo("GET /events?who=c HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(refused?.status == 429)
      _ = clients.count
    }
  }

  @Test func `a client that does not read loses its stream, and no memory is kept for it`()
    async throws
  {
    var limits = ServerLimits()
    limits.streamBytes = 100_000
    limits.writeTime = .milliseconds(300)
    let source = Source()
    try await LiveServer.with(Self.router(source), limits: limits) { live in
      let client = try Self.ask(live)
      #expect(await eventually { source.open == 1 })
      let line = String(repeating: "x", count: 10_000) + "\n"
      var isRefused = false
      for _ in 0..<10_000 where !isRefused { isRefused = !source.write(line) }
      #expect(isRefused)
      #expect(await eventually { source.ended == 1 })
      #expect(live.refusals("slow-stream-reader") == 1)
      _ = client
    }
  }

  @Test func `stopping ends open streams at once, and they end whole`() async throws {
    let source = Source()
    let live = try LiveServer(Self.router(source))
    let clients = try (0..<20).map { try Self.ask(live, "/events?who=\($0)") }
    #expect(await eventually { source.open == 20 })
    let began = ContinuousClock.now
    await live.stop(within: .seconds(5))
    #expect(ContinuousClock.now - began < .seconds(8))
    for client in clients { #expect(await client.reads("0\r\n\r\n")) }
    #expect(await eventually { source.ended == 20 })
    #expect(live.openConnections == 0)
  }

  @Test func `streams that open and are left while the server stops break nothing`() async throws {
    for _ in 0..<10 {
      let source = Source()
      let live = try LiveServer(Self.router(source), threads: 2)
      let opening = Task {
        for number in 0..<60 {
          guard let client = RawClient(port: live.port) else { return }
          client.send("GET /events?who=\(number) HTTP/1.1\r\nHost: t\r\n\r\n")
          if number % 3 == 0 { _ = source.write("x\n") }
        }
      }
      #expect(await eventually { source.open > 5 })
      await live.stop(within: .seconds(5))
      await opening.value
      #expect(live.openConnections == 0)
      #expect(await eventually { source.open == 0 })
    }
  }

  @Test func `HEAD asks for no stream`() async throws {
    let source = Source()
    try await LiveServer.with(Self.router(source)) { live in
      let answer = await live.answersTo(
        "HEAD /events HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
      #expect(answer?.status == 200 && source.open == 0)
    }
  }
}

extension RawClient {
  /// Reads until a text has come; false at the end or in vain.
  fileprivate func reads(_ text: String) async -> Bool {
    await onThread { self.readUntil(text) }
  }
}
