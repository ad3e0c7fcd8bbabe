import HTTPServer
import Testing

/// Heads that two readers may understand differently must be refused, and the connection closed.
@Suite("Malformed requests")
struct MalformedRequestTests {
  static let heads = [
    "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "GET /task HTTP/1.1\r\n\r\n",
    "GET /task HTTP/1.1\r\nHost: t\r\nHost: u\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length : 5\r\n\r\nhello",
    "GET /task HTTP/1.1\r\nHost: t\r\nX Y: 5\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: +5\r\n\r\nhello",
    "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: -1\r\n\r\nhello",
    "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5, 5\r\n\r\nhello",
    "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "POST /echo HTTP/1.0\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET /a b HTTP/1.1\r\nHost: t\r\n\r\n",
  ]

  @Test(arguments: heads)
  func `a head that can be read in two ways is answered 400 and the connection closed`(
    _ head: String
  ) async throws {
    try await LiveServer.with(smallRouter()) { live in
      let port = live.port
      let answer = await onThread {
        guard let client = RawClient(port: port) else { return "" }
        client.send(head + "GET /direct HTTP/1.1\r\nHost: t\r\n\r\n")
        return client.readToEnd()
      }
      #expect(answer.hasPrefix("HTTP/1.1 400 ") || answer.hasPrefix("HTTP/1.0 400 "))
      #expect(!answer.contains(" 200 "), "what is smuggled behind is not answered")
    }
  }

  @Test func `nonsense does not harm the server`() async throws {
    try await LiveServer.with(smallRouter()) { live in
      for nonsense in [
        "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
        "GET /task HTTP/9.9\r\nHost: t\r\n\r\n", "GET task HTTP/1.1\r\nHost: t\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ": x\r\n\r\n", "GET /task HTTP/1.1\r\n: x\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999999999999999\r\n\r\n",
      ] {
        let port = live.port
        let answer = await onThread {
          guard let client = RawClient(port: port) else { return "none" }
          client.send(nonsense)
          client.finishSending()
          return client.readToEnd()
        }
        #expect(!answer.contains(" 200 OK") && answer != "none", "\(nonsense.debugDescription)")
      }
      let answer = await live.answersTo("GET /task HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(answer?.body == "task")
    }
  }
}
