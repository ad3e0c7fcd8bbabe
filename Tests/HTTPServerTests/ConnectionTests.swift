import HTTPServer
import ServiceRuntime
import Testing

@Suite("Connections")
struct ConnectionTests {
  @Test func `pipelined requests are answered in their order on one connection`() async throws {
    try await LiveServer.with(smallRouter()) { live in
      let port = live.port
      let bodies = await onThread {
        guard let client = RawClient(port: port) else { return [String?]() }
        var text = ""
        for number in 0..<20 {
          text += "GET /things/\(number) HTTP/1.1\r\nHost: t\r\n\r\n"
          text += "GET /direct HTTP/1.1\r\nHost: t\r\n\r\n"
          text += "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n\(10 + number)"
        }
        client.send(text)
        return (0..<60).map { _ in client.readAnswer()?.body }
      }
      #expect(bodies == (0..<20).flatMap { ["\($0)", "direct", "\(10 + $0)"] })
    }
  }

  @Test func `a request may come byte by byte`() async throws {
    try await LiveServer.with(smallRouter()) { live in
      let port = live.port
      let answer = await onThread {
        guard let client = RawClient(port: port) else { return RawAnswer?.none }
        for byte in "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello".utf8 {
          client.send([byte])
        }
        return client.readAnswer()
      }
      #expect(answer?.status == 200)
      #expect(answer?.body == "hello")
    }
  }

  @Test func `a chunked body is put together`() async throws {
    try await LiveServer.with(smallRouter()) { live in
      let answer = await live.answersTo(
        "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: x\r\n\r\n")
      #expect(answer?.body == "hello")
    }
  }

  @Test func `a client that has finished sending still gets its answer`() async throws {
    try await LiveServer.with(smallRouter()) { live in
      let port = live.port
      for path in ["/task", "/direct"] {
        let answer = await onThread {
          guard let client = RawClient(port: port) else { return "" }
          client.send("GET \(path) HTTP/1.1\r\nHost: t\r\n\r\n")
          client.finishSending()
          return client.readToEnd()
        }
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
      }
    }
  }

  @Test func `HTTP 1.0 is answered and closed`() async throws {
    try await LiveServer.with(smallRouter()) { live in
      let port = live.port
      let answer = await onThread {
        guard let client = RawClient(port: port) else { return "" }
        client.send("GET /task HTTP/1.0\r\n\r\n")
        return client.readToEnd()
      }
      #expect(answer.contains(" 200 OK") && answer.hasSuffix("task"))
    }
  }

  @Test func `HEAD carries the length of the answer but not the answer`() async throws {
    try await LiveServer.with(smallRouter()) { live in
      let port = live.port
      let answer = await onThread {
        guard let client = RawClient(port: port) else { return "" }
        client.send("HEAD /task HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
        return client.readToEnd()
      }
      #expect(answer.contains("Content-Length: 4\r\n") && answer.hasSuffix("\r\n\r\n"))
    }
  }

  @Test func `a client that goes while its request waits leaves nothing behind`() async throws {
    let gate = Gate()
    let router = smallRouter { router in
      router.on(.get, "/wait", scope: nil) { _ in
        await gate.wait()
        return .text("too late")
      }
    }
    try await LiveServer.with(router) { live in
      for number in 0..<20 {
        let client = try live.connect()
        client.send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n")
        #expect(await eventually { gate.arrived == number + 1 })
        if number.isMultiple(of: 2) { client.reset() }
      }
      gate.open()
      #expect(await eventually { live.openConnections == 0 })
      #expect(await live.answersTo("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")?.status == 200)
    }
  }

  @Test func `two thousand connections reset in the middle of a request leave the server whole`()
    async throws
  {
    try await LiveServer.with(smallRouter(), threads: 2) { live in
      let port = live.port
      await onThread {
        for number in 0..<2000 {
          guard let client = RawClient(port: port) else { continue }
          let parts = [
            "GET /ta", "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nhalf",
            "GET /task HTTP/1.1\r\nHost: t\r\n\r\n",
            "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
          ]
          client.send(parts[number % parts.count])
          client.reset()
        }
      }
      #expect(await eventually { live.openConnections == 0 })
      #expect(await live.answersTo("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")?.status == 200)
    }
  }

  @Test func `two hundred clients at a time each get their own answer`() async throws {
    try await LiveServer.with(smallRouter(), threads: 2) { live in
      let wrong = await withTaskGroup(of: Int.self) { group in
        for client in 0..<8 {
          group.addTask {
            var wrong = 0
            for number in 0..<25 {
              let text = "\(client)-\(number)"
              let answer = await live.answersTo(
                "GET /things/\(text) HTTP/1.1\r\nHost: t\r\nX-Request-Id: \(text)\r\n\r\n")
              if answer?.body != text || answer?.field("X-Request-Id") != text { wrong += 1 }
            }
            return wrong
          }
        }
        return await group.reduce(0, +)
      }
      #expect(wrong == 0)
    }
  }
}
