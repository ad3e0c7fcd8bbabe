import HTTPServer
import ServiceRuntime
import Synchronization
import Testing

/// Routes that are tried on the connection's own thread before they go to a task.
@Suite("Routes that are tried at once") struct AttemptTests {
  private static func router() -> Router {
    var router = Router()
    router.on(
      .get, "/try/{what}", scope: nil,
      atOnce: { request in
        switch request.parameter("what") {
        case "now": return .answered(.text("at once").tagged("1", for: request))
        case "begun":
          return .begun { again in .text("goes on: \(again.parameter("what"))") }
        case "told":
          return .waiting { answer in
            _ = DedicatedThread(name: "teller") {
              answer(.success(.text("told")))
              answer(.success(.text("told twice")))
            }
          }
        case "told bad":
          return .waiting { answer in
            answer(.failure(Problem(status: 422, type: "bad", title: "Bad", detail: "")))
          }
        case "never": return .waiting { _ in }
        case "bad": throw Problem(status: 422, type: "bad", title: "Bad", detail: "")
        default: return .untried
        }
      }, else: { request in .text("in a task: \(request.parameter("what"))") })
    return router
  }

  @Test(arguments: [
    ("now", 200, "at once"), ("later", 200, "in a task: later"),
    ("begun", 200, "goes on: begun"), ("bad", 422, "urn:purser"), ("told", 200, "told"),
    ("told%20bad", 422, "urn:purser"),
  ])
  func `what can be answered at once is, and the rest goes to a task`(
    what: String, status: Int, text: String
  ) async throws {
    let answer = await Self.router().respond(to: try Request(.get, "/try/\(what)"))
    #expect(answer.status == status)
    #expect(String(decoding: answer.body, as: UTF8.self).contains(text))
  }

  @Test func `both ways are answered in turn on one connection`() async throws {
    try await LiveServer.with(Self.router()) { server in
      let port = server.port
      let bodies = await onThread { () -> [String] in
        guard let client = RawClient(port: port) else { return [] }
        return ["now", "later", "bad", "told", "now", "told%20bad", "later"].map { what in
          client.send("GET /try/\(what) HTTP/1.1\r\nHost: t\r\n\r\n")
          let answer = client.readAnswer()
          return "\(answer?.status ?? 0) \(answer?.body.prefix(7) ?? "")"
        }
      }
      #expect(
        bodies.map { String($0.prefix(3)) } == ["200", "200", "422", "200", "200", "422", "200"])
    }
  }

  @Test
  func `an answer that nobody tells is 503 after the handler's time, and the connection lives`()
    async throws
  {
    var limits = ServerLimits()
    limits.handlerTime = .milliseconds(300)
    try await LiveServer.with(Self.router(), limits: limits) { server in
      let port = server.port
      let answers = await onThread { () -> [Int] in
        guard let client = RawClient(port: port) else { return [] }
        return ["never", "now"].map { what in
          client.send("GET /try/\(what) HTTP/1.1\r\nHost: t\r\n\r\n")
          return client.readAnswer()?.status ?? 0
        }
      }
      #expect(answers == [503, 200])
    }
  }
}
