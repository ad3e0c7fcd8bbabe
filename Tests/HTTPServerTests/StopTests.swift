import HTTPServer
import ServiceRuntime
import Testing

@Suite("Stopping")
struct StopTests {
  static func waitingRouter(_ gate: Gate) -> Router {
    smallRouter { router in
      router.on(.get, "/wait", scope: nil) { _ in
        await gate.wait()
        return .text("done")
      }
    }
  }

  @Test func `requests in flight are answered, then the port is closed`() async throws {
    let gate = Gate()
    let live = try LiveServer(Self.waitingRouter(gate))
    let clients = try (0..<10).map { _ in try live.connect() }
    for client in clients { client.send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n") }
    #expect(await eventually { gate.arrived == 10 })
    let kept = try live.connect()
    kept.send("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(await kept.answer()?.status == 200)

    let stopping = Task { await live.stop(within: .seconds(10)) }
    #expect(await eventually { RawClient(port: live.port) == nil }, "new connections are refused")
    kept.send("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
    let late = await kept.answer()
    #expect(late?.status == 503 && late?.field("Connection")?.lowercased() == "close")
    gate.open()
    for client in clients {
      let answer = await client.answer()
      #expect(answer?.body == "done")
      #expect(answer?.field("Connection")?.lowercased() == "close")
    }
    await stopping.value
    #expect(RawClient(port: live.port) == nil)
    #expect(live.openConnections == 0)
  }

  @Test func `a long wait is answered 503 shortly before the deadline`() async throws {
    let gate = Gate()
    let live = try LiveServer(Self.waitingRouter(gate))
    let clients = try (0..<50).map { _ in try live.connect() }
    for client in clients { client.send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n") }
    #expect(await eventually { gate.arrived == 50 })
    let began = ContinuousClock.now
    await live.stop(within: .milliseconds(800))
    #expect(ContinuousClock.now - began < .seconds(5))
    for client in clients {
      let answer = await client.answer()
      #expect(answer?.status == 503)
      #expect(answer?.field("Retry-After") == "1")
      #expect(answer?.body.contains("urn:purser:problem:stopping") == true)
    }
    gate.open()
    #expect(live.openConnections == 0)
  }

  @Test func `a handler is cancelled when its request is given up`() async throws {
    let ended = Completion<Bool>()
    let gate = Gate()
    let router = smallRouter { router in
      router.on(.get, "/sleep", scope: nil) { _ in
        gate.open()
        await gate.wait()
        try? await Task.sleep(for: .seconds(60))
        ended.complete(with: Task.isCancelled)
        return .empty()
      }
    }
    let live = try LiveServer(router)
    let client = try live.connect()
    client.send("GET /sleep HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(await eventually { gate.arrived == 1 })
    await live.stop(within: .milliseconds(400))
    #expect(await ended.value())
    #expect(await client.answer()?.status == 503)
  }

  @Test func `half a request does not hold the stop beyond its deadline`() async throws {
    let live = try LiveServer(smallRouter())
    let client = try live.connect()
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nhalf")
    #expect(await eventually { live.openConnections == 1 })
    let began = ContinuousClock.now
    await live.stop(within: .milliseconds(400))
    #expect(ContinuousClock.now - began < .seconds(5))
    #expect(live.openConnections == 0)
  }

  @Test func `an idle server stops at once`() async throws {
    let live = try LiveServer(smallRouter(), threads: 2)
    #expect(await live.answersTo("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")?.status == 200)
    let began = ContinuousClock.now
    await live.stop(within: .seconds(60))
    #expect(ContinuousClock.now - began < .seconds(10))
  }

  @Test func `stopping while clients hammer on never aborts the process`() async throws {
    for _ in 0..<10 {
      let live = try LiveServer(smallRouter(), threads: 2)
      let port = live.port
      #expect(await live.answersTo("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")?.status == 200)
      let clients = (0..<4).map { _ in
        DedicatedThread(name: "hammer") {
          while let client = RawClient(port: port) {
            for _ in 0..<50 {
              client.send("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
              guard client.readAnswer() != nil else { break }
            }
          }
        }
      }
      await live.stop(within: .seconds(4))
      for client in clients { await client.joined() }
      #expect(live.openConnections == 0)
    }
  }

  @Test func `a taken port is reported with its number`() async throws {
    let live = try LiveServer(smallRouter())
    let port = live.port
    let error = #expect(throws: ServerError.self) {
      _ = try Server(port: port, router: Router(), log: .silent, metrics: Metrics())
    }
    #expect(error?.description.contains("127.0.0.1:\(port)") == true)
    #expect(error?.description.contains("Address already in use") == true)
    await live.stop()
  }

  @Test func `a server that never ran can be stopped`() async throws {
    let server = try Server(port: 0, router: Router(), log: .silent, metrics: Metrics())
    let port = server.port
    await server.stop(by: .after(.seconds(1)))
    try await server.run()
    #expect(port > 0)
  }
}
