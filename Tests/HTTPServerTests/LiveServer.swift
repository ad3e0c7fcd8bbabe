import HTTPServer
import ServiceRuntime
import Synchronization
import Testing

/// A server on a free port that runs while a test runs.
struct LiveServer {
  let server: Server
  let metrics: Metrics
  private let running: Task<Void, any Error>

  var port: Int { server.port }

  init(
    _ router: Router, limits: ServerLimits = ServerLimits(), threads: Int = 1,
    log: Log = .silent
  ) throws {
    let metrics = Metrics()
    let server = try Server(
      port: 0, threads: threads, router: router, limits: limits, log: log, metrics: metrics)
    self.server = server
    self.metrics = metrics
    running = Task { try await server.run() }
  }

  /// Runs a test against a server and stops it whatever happens.
  static func with(
    _ router: Router, limits: ServerLimits = ServerLimits(), threads: Int = 1,
    log: Log = .silent, _ body: (LiveServer) async throws -> Void
  ) async throws {
    let live = try LiveServer(router, limits: limits, threads: threads, log: log)
    do {
      // The listening socket takes connections before run() does; wait for the daemon.
      try #require(await live.answersTo("GET /none HTTP/1.1\r\nHost: t\r\n\r\n") != nil)
      try await body(live)
    } catch {
      await live.stop()
      throw error
    }
    await live.stop()
    #expect(live.openConnections == 0, "every connection was given back")
    #expect(live.metrics.text().contains("http_requests_in_flight 0\n"))
  }

  func stop(within time: Duration = .seconds(5)) async {
    await server.stop(by: .after(time))
    _ = try? await running.value
  }

  func connect() throws -> RawClient {
    try #require(RawClient(port: port), "the server does not accept connections")
  }

  /// Sends bytes on a connection of their own and takes the first answer, off the cooperative pool.
  func answersTo(_ text: String) async -> RawAnswer? {
    let port = port
    return await onThread {
      guard let client = RawClient(port: port) else { return nil }
      client.send(text)
      return client.readAnswer()
    }
  }

  var openConnections: Int {
    metrics.gauge("http_connections", "").value
  }

  func refusals(_ reason: String) -> Int {
    metrics.counter("http_refused_total", "", labels: ["reason": reason]).value
  }
}

/// Runs blocking work on a thread of its own.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
  let done = Completion<Value>()
  _ = DedicatedThread(name: "test-socket") { done.complete(with: work()) }
  return await done.value()
}

/// Waits for a condition, at most ten seconds; whether it came true.
func eventually(_ condition: @Sendable () -> Bool) async -> Bool {
  let deadline = Deadline.after(.seconds(10))
  while !condition() {
    if deadline.hasPassed { return false }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return true
}

/// A gate that handlers wait at until the test opens it.
final class Gate: Sendable {
  private let opened = Completion<Void>()
  private let count = Atomic<Int>(0)

  var arrived: Int { count.load(ordering: .acquiring) }

  func wait() async {
    count.wrappingAdd(1, ordering: .acquiringAndReleasing)
    await opened.value()
  }

  func open() { opened.complete(with: ()) }
}
