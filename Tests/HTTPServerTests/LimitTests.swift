import HTTPServer
import ServiceRuntime
import Testing

@Suite("Limits")
struct LimitTests {
  static func limits(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
    var limits = ServerLimits()
    change(&limits)
    return limits
  }

  @Test func `a body of the greatest length is taken and one byte more is answered 413`()
    async throws
  {
    try await LiveServer.with(smallRouter(), limits: Self.limits { $0.bodyBytes = 1000 }) { live in
      for (length, status) in [(1000, 200), (1001, 413)] {
        let answer = await live.answersTo(
          "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: \(length)\r\n\r\n"
            + String(repeating: "x", count: length))
        #expect(answer?.status == status)
      }
    }
  }

  @Test func `a body that is streamed beyond the limit is answered 413`() async throws {
    try await LiveServer.with(smallRouter(), limits: Self.limits { $0.bodyBytes = 1000 }) { live in
      let port = live.port
      let (first, second) = await onThread {
        guard let client = RawClient(port: port) else { return (RawAnswer?.none, RawAnswer?.none) }
        client.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<20 { client.send("64\r\n" + String(repeating: "x", count: 100) + "\r\n") }
        client.send("0\r\n\r\n")
        let first = client.readAnswer()
        client.send("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
        return (first, client.readAnswer())
      }
      #expect(first?.status == 413)
      #expect(first?.body.contains("urn:purser:problem:body-too-large") == true)
      #expect(second?.body == "task", "the connection lives on")
      #expect(live.refusals("body-too-large") == 1)
    }
  }

  @Test func `a client that streams without end is cut off`() async throws {
    try await LiveServer.with(smallRouter(), limits: Self.limits { $0.bodyBytes = 1000 }) { live in
      let port = live.port
      let sent = await onThread {
        guard let client = RawClient(port: port) else { return 0 }
        client.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n"
        for number in 0..<4000 where !client.send(chunk) { return number }
        return 4000
      }
      #expect(sent < 4000, "64 MB were not taken")
    }
  }

  @Test func `a length far beyond the limit is refused before the body is sent`() async throws {
    try await LiveServer.with(smallRouter(), limits: Self.limits { $0.bodyBytes = 1000 }) { live in
      let answer = await live.answersTo(
        "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 900000000\r\n\r\n")
      #expect(answer?.status == 413)
      #expect(answer?.field("Connection")?.lowercased() == "close")
      let asked = await live.answersTo(
        "POST /echo HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n")
      #expect(asked?.status == 413)
    }
  }

  @Test(arguments: [1, 40])
  func `header fields beyond the limit are answered 431`(_ times: Int) async throws {
    try await LiveServer.with(smallRouter(), limits: Self.limits { $0.headerBytes = 4096 }) {
      live in
      let fine = await live.answersTo(
        "GET /task HTTP/1.1\r\nHost: t\r\nX-Big: \(String(repeating: "x", count: 3000))\r\n\r\n")
      #expect(fine?.status == 200)
      let answer = await live.answersTo(
        "GET /task HTTP/1.1\r\nHost: t\r\nX-Big: \(String(repeating: "x", count: 5000 * times))"
          + "\r\n\r\n")
      #expect(answer?.status == 431)
    }
  }

  @Test func `bodies that together pass the bound are answered 503`() async throws {
    let limits = Self.limits { $0.bufferedBytes = 5000 }
    try await LiveServer.with(smallRouter(), limits: limits) { live in
      let holder = try live.connect()
      holder.send(
        "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5000\r\n\r\n"
          + String(repeating: "x", count: 4900))
      let big =
        "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 4000\r\n\r\n"
        + String(repeating: "y", count: 4000)
      var answer: RawAnswer?
      // The holder's bytes may arrive a moment later.
      for _ in 0..<200 where answer?.status != 503 { answer = await live.answersTo(big) }
      #expect(answer?.status == 503)
      #expect(answer?.field("Retry-After") == "1")
      holder.send(String(repeating: "x", count: 100))
      #expect(await holder.answer()?.status == 200)
      #expect(await live.answersTo(big)?.status == 200)
    }
  }

  @Test func `more requests in flight than allowed are answered 503 with Retry-After`()
    async throws
  {
    let gate = Gate()
    let router = smallRouter { router in
      router.on(.get, "/wait", scope: nil) { _ in
        await gate.wait()
        return .text("done")
      }
    }
    try await LiveServer.with(router, limits: Self.limits { $0.requestsInFlight = 3 }) { live in
      let waiting = try (0..<3).map { _ in try live.connect() }
      for client in waiting { client.send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n") }
      #expect(await eventually { gate.arrived == 3 })
      let refused = await live.answersTo("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(refused?.status == 503)
      #expect(refused?.field("Retry-After") == "1")
      #expect(refused?.body.contains("urn:purser:problem:overloaded") == true)
      #expect(await live.answersTo("GET /direct HTTP/1.1\r\nHost: t\r\n\r\n")?.status == 200)
      gate.open()
      for client in waiting { #expect(await client.answer()?.body == "done") }
    }
  }

  @Test(arguments: [
    "GET /task HTTP/1.1\r\nHost: t\r\nX: ",
    "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n",
    "POST /nowhere HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n", "",
  ])
  func `a client that sends a byte now and then is cut off`(_ start: String) async throws {
    try await LiveServer.with(
      smallRouter(), limits: Self.limits { $0.readTime = .milliseconds(400) }
    ) { live in
      let port = live.port
      let (answer, time) = await onThread {
        let began = ContinuousClock.now
        guard let client = RawClient(port: port) else { return ("none", Duration.zero) }
        client.send(start)
        var sent = 0
        while sent < 500, client.send("x") {
          sent += 1
          _ = Completion<Void>().wait(by: .after(.milliseconds(20)))
        }
        return (client.readToEnd(), ContinuousClock.now - began)
      }
      #expect(!answer.contains(" 200 ") && answer != "none")
      #expect(time < .seconds(8), "cut off rather than waited for")
      #expect(await eventually { live.refusals("slow-request") == 1 })
    }
  }

  @Test func `a connection that rests too long is closed`() async throws {
    try await LiveServer.with(
      smallRouter(), limits: Self.limits { $0.idleTime = .milliseconds(300) }
    ) { live in
      let client = try live.connect()
      client.send("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(await client.answer()?.status == 200)
      #expect(await client.answer() == nil)
      #expect(await eventually { live.refusals("idle") >= 1 })
    }
  }

  @Test func `a client that does not take its answer is cut off`() async throws {
    let router = smallRouter { router in
      router.on(.get, "/big", scope: nil) { _ in
        Response(status: 200, body: [UInt8](repeating: 0x78, count: 32 * 1024 * 1024))
      }
    }
    try await LiveServer.with(router, limits: Self.limits { $0.writeTime = .milliseconds(300) }) {
      live in
      let client = try live.connect()
      client.send("GET /big HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(await eventually { live.refusals("slow-reader") == 1 })
      #expect(await eventually { live.openConnections == 0 })
    }
  }

  @Test func `a handler that takes too long is answered for`() async throws {
    let gate = Gate()
    let router = smallRouter { router in
      router.on(.get, "/wait", scope: nil) { _ in
        await gate.wait()
        return .text("too late")
      }
    }
    try await LiveServer.with(router, limits: Self.limits { $0.handlerTime = .milliseconds(200) }) {
      live in
      let answer = await live.answersTo("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(answer?.status == 503)
      #expect(answer?.body.contains("urn:purser:problem:timeout") == true)
      gate.open()
    }
  }

  @Test func `connections beyond the bound wait until one is closed`() async throws {
    try await LiveServer.with(smallRouter(), limits: Self.limits { $0.connections = 2 }) { live in
      var held = try (0..<2).map { _ in try live.connect() }
      for client in held {
        client.send("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
        #expect(await client.answer()?.status == 200)
      }
      let third = try live.connect()
      third.send("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(live.openConnections == 2)
      held.removeLast()
      #expect(await third.answer()?.status == 200)
    }
  }
}
