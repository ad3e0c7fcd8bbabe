import Events
import FoundationEssentials
import HTTPServer
import Pipeline
import TestSupport
import Testing

@testable import entitlement_service

@Suite("What may be asked of webhooks") struct WebhookInputTests {
  @Test(arguments: [
    "http://example.com/hook", "https://user:secret@example.com/", "ftp://example.com/",
    "https://example.com/a b", "not a url", "https://", "https:///hook", "https://:8443/hook",
    "https://example.com/hook#part", "https://example.com:0/", "https://example.com:x/",
    "https://example.com:/", "https://a..b/", "https://-a.com/", "https://[::1/", "https://[x]/",
    "https://exa\\\\mple.com/", "https://exämple.com/",
  ])
  func `an address that cannot be is refused`(url: String) async throws {
    let service = try TestService()
    let routes = WebhookRoutes(
      store: service.store, queue: service.hooks, allowsPrivate: false,
      apps: service.rules.current.apps)
    var router = Router()
    routes.add(to: &router)
    let answer = await router.respond(
      to: try Request(
        .post, "/v1/webhooks", headers: [("Idempotency-Key", "w")],
        body: Array(#"{"url": "\#(url)"}"#.utf8)))
    #expect(answer.status == 422)
    #expect(!String(decoding: answer.body, as: UTF8.self).contains("secret"))
  }
  @Test(arguments: [
    "https://example.com", "https://example.com/hooks/1?shop=a", "https://sub.example.com:8443/x",
    "https://[2001:db8::1]:443/hook", "HTTPS://EXAMPLE.COM/hook", "https://192.0.2.7/hook",
  ])
  func `an address that can be is taken`(url: String) {
    #expect(WebhookInput.fault(url: url, allowsPrivate: false) == nil)
  }

  @Test(arguments: [
    (#""types": ["purser.entitlement.activated"]"#, "types"), (#""types": ["*"]"#, "types"),
    (#""types": ["purser.order.changed.v1"]"#, "types"),
    (#""types": ["purser.balance.changed.v1", "purser.balance.changed.v1"]"#, "types"),
    (#""bundleIds": ["com.example.other"]"#, "bundleIds"),
    (#""environments": ["production"]"#, "environments"),
    (#""description": "\#(String(repeating: "x", count: 201))""#, "description"),
  ])
  func `a filter that would never let anything pass is refused, at POST and at PUT`(
    member: String, path: String
  ) async throws {
    let service = try TestService()
    let made = try await service.request(
      .post, "/v1/webhooks", #"{"url": "http://127.0.0.1:9/hook"}"#, key: "w")
    struct Made: Decodable { let id: String }
    let id = try EventJSON.decode(Made.self, from: made.body).id
    let body = #"{"url": "http://127.0.0.1:9/hook", \#(member)}"#
    for answer in [
      try await service.request(.post, "/v1/webhooks", body, key: "x"),
      try await service.request(.put, "/v1/webhooks/\(id)", body),
    ] {
      #expect(answer.status == 422)
      #expect(String(decoding: answer.body, as: UTF8.self).contains("\"$.\(path)\""))
    }
  }

  @Test func `deliveries are listed of an endpoint that there is, by a state that there is`()
    async throws
  {
    let service = try TestService()
    let made = try await service.request(
      .post, "/v1/webhooks", #"{"url": "http://127.0.0.1:9/hook"}"#, key: "w")
    struct Made: Decodable { let id: String }
    let path = "/v1/webhooks/\(try EventJSON.decode(Made.self, from: made.body).id)/deliveries"
    for state in ["pending", "behind", "delivered", "failed"] {
      #expect(try await service.request(.get, "\(path)?state=\(state)").status == 200)
    }
    let wrong = try await service.request(.get, "\(path)?state=foo")
    #expect(wrong.status == 400)
    #expect(String(decoding: wrong.body, as: UTF8.self).contains("pending, behind, delivered"))
    #expect(try await service.request(.get, "/v1/webhooks/none/deliveries").status == 404)
  }

  @Test func `every event of the contract can be asked for, and no other`() throws {
    let page = try String(
      contentsOf: URL(filePath: "\(TestData.packageRoot)/docs/events/reference.md"),
      encoding: .utf8)
    let listed = page.split(separator: "On `iap.entitlements`:").dropFirst()
      .flatMap { $0.split(separator: "\n").prefix { !$0.hasPrefix("|") } }
      .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
    #expect(listed.count > 5 && Set(listed) == Set(WebhookInput.types.map(\.rawValue)))
  }
}
