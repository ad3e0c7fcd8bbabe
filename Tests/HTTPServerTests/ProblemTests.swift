import FoundationEssentials
import HTTPServer
import JSON
import ServiceRuntime
import Synchronization
import Testing

@Suite("Problems")
struct ProblemTests {
  struct Order: Codable {
    struct Line: Codable {
      var product: String
      var count: Int
    }
    var customer: String
    var lines: [Line]
    var gift: Bool?
  }

  @Test func `a problem is written exactly as RFC 9457 says`() {
    let problem = Problem(
      status: 409, type: "balance-too-low", title: "Balance too low",
      detail: "3 coins are there, \"5\" are asked for.",
      members: ["balance": 3, "line": "a\nb", "status": 1, "list": [true, .null, ["x": "y"]]],
      retryAfter: .milliseconds(1500))
    let response = problem.response
    #expect(response.status == 409)
    #expect(response.header("Content-Type") == "application/problem+json")
    #expect(response.header("Retry-After") == "2")
    #expect(
      String(decoding: response.body, as: UTF8.self)
        == #"{"type":"urn:purser:problem:balance-too-low","title":"Balance too low","status":409,"#
        + #""detail":"3 coins are there, \"5\" are asked for.","balance":3,"line":"a\u000ab","#
        + #""list":[true,null,{"x":"y"}]}"#)
  }

  struct Secretive: Error { let password = "hunter2" }

  @Test func `an unknown error tells the log and not the client`() async throws {
    let lines = Mutex<[String]>([])
    // The log writes from the handler's task.
    let log = Log(program: "test") { line in lines.withLock { $0.append(line) } }
    let router = smallRouter { router in
      router.on(.get, "/broken", scope: nil) { _ in throw Secretive() }
      router.direct(.get, "/broken-direct") { _ in throw Secretive() }
      router.on(.get, "/nan", scope: nil) { _ in .json(["x": Double.nan]) }
      router.on(.get, "/status", scope: nil) { _ in .empty(99) }
    }
    try await LiveServer.with(router, log: log) { live in
      for path in ["/broken", "/broken-direct", "/nan", "/status"] {
        let answer = await live.answersTo(
          "GET \(path) HTTP/1.1\r\nHost: t\r\nX-Request-Id: id\(path.dropFirst())\r\n\r\n")
        #expect(answer?.status == 500)
        #expect(answer?.field("Content-Type") == "application/problem+json")
        #expect(answer?.body.contains("urn:purser:problem:internal") == true)
        #expect(answer?.body.contains("\"requestId\":\"id\(path.dropFirst())\"") == true)
        #expect(answer?.body.contains("hunter2") == false)
        #expect(
          lines.withLock { $0.contains { $0.contains("\"request\":\"id\(path.dropFirst())\"") } })
      }
      #expect(lines.withLock { $0.contains { $0.contains("hunter2") } })
    }
  }

  @Test(
    arguments: [
      (#"{"lines":[]}"#, "invalid-field", "$.customer", "missing"),
      (#"{"customer":5,"lines":[]}"#, "invalid-field", "$.customer", "a string"),
      (#"{"customer":null,"lines":[]}"#, "invalid-field", "$.customer", "null"),
      (#"{"customer":"c","lines":{}}"#, "invalid-field", "$.lines", "an array"),
      (
        #"{"customer":"c","lines":[{"product":"p","count":1},{"product":"p","count":"1"}]}"#,
        "invalid-field", "$.lines[1].count", "a whole number"
      ),
      (
        #"{"customer":"c","lines":[{"product":"p"}]}"#, "invalid-field", "$.lines[0].count",
        "missing"
      ),
      (#"{"customer":"c","lines":[],"gift":1}"#, "invalid-field", "$.gift", "true or false"),
      (#"[]"#, "invalid-field", "$", "an object"),
      (#"{"customer":"c","lines":[],"#, "invalid-json", nil, "not JSON"),
      ("", "invalid-json", nil, "not JSON"), ("hello", "invalid-json", nil, "not JSON"),
    ] as [(String, String, String?, String)])
  func `a body that cannot be used is named by its JSON path`(
    _ body: String, _ type: String, _ path: String?, _ words: String
  ) throws {
    let request = try Request(.post, "/", body: Array(body.utf8))
    let problem = #expect(throws: Problem.self) { _ = try request.json(Order.self) }
    #expect(problem?.status == 400)
    #expect(problem?.type == type)
    #expect(problem?.members["path"] == path.map { .string($0) })
    #expect(problem?.detail.contains(words) == true)
  }

  @Test(
    arguments: [
      (#"{"lines":[]}"#, "invalid-field", "$.customer", "missing"),
      (#"{"customer":5}"#, "invalid-field", "$.customer", "text"),
      (#"{"customer":null}"#, "invalid-field", "$.customer", "missing"),
      (
        #"{"customer":"c","lines":[{"count":1},{}]}"#, "invalid-field", "$.lines[1].count",
        "missing"
      ),
      ("[]", "invalid-json", nil, "no object"), ("", "invalid-json", nil, "not JSON"),
    ] as [(String, String, String?, String)])
  func `a body whose members are read by hand is refused in the same words`(
    _ body: String, _ type: String, _ path: String?, _ words: String
  ) throws {
    let request = try Request(.post, "/", body: Array(body.utf8))
    let problem = #expect(throws: Problem.self) {
      _ = try request.fields { (body) throws(JSONFieldFault) in
        _ = try body.text("customer")
        return try body.objects("lines") { (line) throws(JSONFieldFault) in
          try line.number("count")
        }
      }
    }
    #expect(problem?.status == 400 && problem?.type == type)
    #expect(problem?.members["path"] == path.map { .string($0) })
    #expect(problem?.detail.contains(words) == true)
  }

  @Test func `a body that fits is decoded, and an answer encoded in a fixed order`() throws {
    let body = #"{"lines":[{"product":"a/b","count":2}],"customer":"c"}"#
    let order = try Request(.post, "/", body: Array(body.utf8)).json(Order.self)
    #expect(order.lines.first?.count == 2)
    let response = Response.json(order, status: 201)
    #expect(
      String(decoding: response.body, as: UTF8.self)
        == #"{"customer":"c","lines":[{"count":2,"product":"a/b"}]}"#)
    #expect(response.header("content-type") == "application/json")
  }
}
