import HTTPServer
import Testing

@Suite("Conventions of requests")
struct ConventionTests {
  static func request(_ headers: (String, String)...) throws -> Request {
    try Request(.get, "/", headers: headers)
  }

  @Test(arguments: [
    ("wait=5", 5), ("Wait=5", 5), ("respond-async, wait=7", 7), ("wait=\"4\"", 4), ("wait=900", 20),
    ("wait = 3 ; x=y", 3), ("respond-async", nil), ("wait", nil), ("wait=", nil), ("wait=-1", nil),
    ("wait=1.5", nil), ("wait=99999999999999999999", nil), ("await=3", nil), ("wait=0", 0),
  ] as [(String, Int?)])
  func `a wait is read and bounded`(_ header: String, _ seconds: Int?) throws {
    let wait = try Self.request(("Prefer", header)).preferredWait(atMost: .seconds(20))
    #expect(wait == seconds.map { .seconds($0) })
  }

  @Test func `an Idempotency-Key is taken with and without quotes`() throws {
    #expect(try Self.request().idempotencyKey() == nil)
    #expect(try Self.request(("Idempotency-Key", "abc")).idempotencyKey() == "abc")
    #expect(try Self.request(("Idempotency-Key", "\"abc\"")).idempotencyKey() == "abc")
    let longest = String(repeating: "k", count: 255)
    #expect(try Self.request(("Idempotency-Key", longest)).idempotencyKey() == longest)
  }

  @Test(arguments: ["", "\"\"", "a b", "é", "a\"b", String(repeating: "k", count: 256)])
  func `an Idempotency-Key that cannot be kept is refused`(_ key: String) throws {
    let request = try Self.request(("Idempotency-Key", key))
    let problem = #expect(throws: Problem.self) { _ = try request.idempotencyKey() }
    #expect(problem?.type == "invalid-idempotency-key")
  }

  @Test func `two Idempotency-Keys are refused`() throws {
    let request = try Self.request(("Idempotency-Key", "a"), ("Idempotency-Key", "b"))
    #expect(throws: Problem.self) { _ = try request.idempotencyKey() }
  }

  @Test(arguments: [
    ("\"v7\"", true), ("W/\"v7\"", true), ("\"v6\", \"v7\"", true), ("*", true), ("v7", false),
    ("\"v70\"", false), ("", false),
  ])
  func `a client that holds the state is answered 304`(_ header: String, _ holds: Bool) throws {
    let request = try Self.request(("If-None-Match", header))
    let response = Response.text("state").tagged("v7", for: request)
    #expect(response.status == (holds ? 304 : 200))
    #expect(response.body.isEmpty == holds)
    #expect(response.header("ETag") == "\"v7\"")
  }

  @Test func `a change is never answered 304`() throws {
    let request = try Request(.post, "/", headers: [("If-None-Match", "*")])
    #expect(Response.text("state").tagged("v7", for: request).status == 200)
  }

  @Test(arguments: [
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
    ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
    ("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
    ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-011", false), ("x", false),
  ])
  func `a traceparent is passed on only when well formed`(_ header: String, _ isGood: Bool) throws {
    #expect(try Self.request(("traceparent", header)).traceparent == (isGood ? header : nil))
  }

  @Test func `header fields that would split an answer are not sent`() async throws {
    let router = smallRouter { router in
      router.direct(.get, "/split") { _ in
        Response.text("ok").with("X-A", "1\r\nX-Evil: 2").with("X B", "3").with("X-C", "4")
      }
    }
    try await LiveServer.with(router) { live in
      let answer = await live.answersTo("GET /split HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(answer?.field("X-Evil") == nil && answer?.field("X-A") == nil)
      #expect(answer?.field("X-C") == "4")
      #expect(answer?.body == "ok")
    }
  }
}
