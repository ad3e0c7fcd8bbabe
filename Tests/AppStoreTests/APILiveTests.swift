import AppStore
import Cryptography
import HTTPClient
import HTTPServer
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

/// The client over real sockets: what libcurl makes of the requests.
@Suite("API over HTTP")
struct APILiveTests {
  /// A server that plays Apple, and a client of it, both stopped when the test ends.
  private func withApple(
    _ router: Router, _ body: (AppStoreServerAPI, APIKey) async throws -> Void
  ) async throws {
    let server = try Server(port: 0, router: router, log: .silent, metrics: Metrics())
    let running = Task { try await server.run() }
    let client = HTTPClient(workers: 1, log: .silent, metrics: Metrics())
    let outcome: Result<Void, any Error>
    do {
      let key = try APIKey(
        issuerId: "issuer", keyId: "key", privateKey: PrivateKey(generate: .p256))
      let context = APIContext(
        bases: try APIBases([.sandbox: "http://127.0.0.1:\(server.port)"]),
        timing: APIClock(random: 0).timing, client: client)
      let api = try AppStoreServerAPI(
        bundleId: "com.example", environment: .sandbox, key: key, context: context)
      outcome = .success(try await body(api, key))
    } catch {
      outcome = .failure(error)
    }
    await client.close(by: .after(.seconds(5)))
    await server.stop(by: .after(.seconds(1)))
    try await running.value
    try outcome.get()
  }

  @Test func `method, path, repeated query, fields and body arrive as meant`() async throws {
    let seen = Mutex<[Request]>([])
    var router = Router()
    let keep: Router.Handler = { request in
      seen.withLock { $0.append(request) }
      return Response(status: request.method == .put ? 202 : 200, body: Array("{}".utf8))
    }
    router.on(.get, "/inApps/v2/history/{id}", scope: nil, handler: keep)
    router.on(.put, "/inApps/v2/transactions/consumption/{id}", scope: nil, handler: keep)
    router.on(.post, "/inApps/v1/transactions/{id}/finish", scope: nil, handler: keep)
    try await withApple(router) { api, key in
      var query = HistoryQuery()
      query.productIds = ["a b", "c&d=e"]
      let page = try await api.answer(to: .transactionHistory("1/2", query, revision: "r+/="))
      #expect(!page.hasMore)
      _ = try await api.answer(
        to: .consumption(
          "7",
          ConsumptionInformation(
            customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered)))
      _ = try await api.answer(to: .finish("7"))

      let requests = seen.withLock { $0 }
      try #require(requests.count == 3)
      #expect(requests[0].parameter("id") == "1/2")
      #expect(requests[0].queryValue("revision") == "r+/=")
      #expect(requests[0].query.all("productId") == ["a b", "c&d=e"])
      #expect(requests[0].headers["Content-Type"] == nil)
      #expect(requests[1].headers["Content-Type"] == "application/json")
      #expect(
        try JSONTree(requests[1].body)
          == .object([
            "customerConsented": .bool(true), "sampleContentProvided": .bool(false),
            "deliveryStatus": .string("DELIVERED"),
          ]))
      #expect(requests[2].headers["Content-Length"] == "0" && requests[2].body.isEmpty)
      for request in requests {
        #expect(request.headers.all("Accept") == ["application/json"])
        #expect(request.headers.all("User-Agent") == ["purser"])
        let bearer = try #require(request.headers["Authorization"])
        _ = try verifiedParts(String(bearer.dropFirst(7)), by: key.publicKey)
      }
    }
  }

  @Test func `errors over the wire are told apart, and what may pass is tried again`()
    async throws
  {
    let count = Mutex(0)
    var router = Router()
    router.on(.get, "/inApps/v1/transactions/{id}", scope: nil) { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if request.parameter("id") == "secret" { return Response(status: 401) }
      let json =
        number < 3
        ? "{\"errorCode\":5000001,\"errorMessage\":\"An unknown error occurred.\"}"
        : "{\"signedTransactionInfo\":\"signed\"}"
      return Response(status: number < 3 ? 500 : 200, body: Array(json.utf8))
    }
    try await withApple(router) { api, _ in
      let answer = try await api.answer(to: .transactionInfo("1"))
      #expect(answer.signedTransactionInfo == "signed" && count.withLock { $0 } == 3)
      let refused = await apiError { () throws(APIError) in
        _ = try await api.answer(to: .transactionInfo("secret"))
      }
      #expect(refused?.kind == .unauthorized)
      let astray = await apiError { () throws(APIError) in
        _ = try await api.answer(to: .orderLookup("1"))
      }
      #expect(astray?.kind == .status && astray?.status == 404)
    }
  }

  @Test func `a host that is away is a retryable failure that names the host`() async throws {
    let client = HTTPClient(workers: 1, log: .silent, metrics: Metrics())
    let clock = APIClock()
    var world = try APIWorld(ScriptedApple(), clock: clock)
    world.context = APIContext(
      bases: try APIBases([.localTesting: "http://127.0.0.1:1"]), timing: clock.timing,
      client: client)
    let api = try world.client()
    let error = await apiError { () throws(APIError) in
      _ = try await api.answer(to: .transactionInfo("1"))
    }
    await client.close(by: .after(.seconds(5)))
    guard case .transport(let fault) = try #require(error).kind else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(fault.isRetryable && error?.isRetryable == true && clock.sleeps.count == 3)
    #expect(error?.description.contains("127.0.0.1") == true)
  }
}
