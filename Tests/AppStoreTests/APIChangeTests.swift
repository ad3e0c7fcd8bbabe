import AppStore
import HTTPClient
import Testing

/// Requests that change something at Apple's and have no answer, and what is refused unsent.
@Suite("API requests that change something")
struct APIChangeTests {
  private func send(_ request: APIRequest<NoAnswer>, status: Int) async throws -> HTTPRequest {
    let world = try APIWorld(ScriptedApple(HTTPResponse(status: status)))
    _ = try await world.client().answer(to: request)
    return try #require(world.apple.asked.first)
  }

  private func expect(_ sent: HTTPRequest, _ line: String, _ body: String?) throws {
    #expect("\(sent.method) \(sent.url)" == line)
    if let body {
      #expect(try JSONTree(#require(sent.body)) == JSONTree(Array(body.utf8)))
    } else {
      // An empty body, so that Content-Length: 0 is sent.
      #expect(sent.body == [])
    }
  }

  @Test func `consumption information leaves out what is not said`() async throws {
    let whole = try await send(
      .consumption(
        "49571273",
        ConsumptionInformation(
          customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered,
          consumptionPercentage: 50_000, refundPreference: .grantFull)), status: 202)
    try expect(
      whole,
      "PUT https://local-testing-base-url/inApps/v2/transactions/consumption/49571273",
      """
      {"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED",
      "consumptionPercentage":50000,"refundPreference":"GRANT_FULL"}
      """)
    let least = try await send(
      .consumption(
        "1",
        ConsumptionInformation(
          customerConsented: true, sampleContentProvided: true,
          deliveryStatus: .serverOutage)), status: 202)
    try expect(
      least, "PUT https://local-testing-base-url/inApps/v2/transactions/consumption/1",
      """
      {"customerConsented":true,"sampleContentProvided":true,
      "deliveryStatus":"UNDELIVERED_SERVER_OUTAGE"}
      """)
  }

  @Test func `the older consumption information has twelve fields, an absent token is empty`()
    async throws
  {
    var information = ConsumptionInformationV1(
      customerConsented: true, sampleContentProvided: false)
    information.consumptionStatus = 1
    information.platform = 2
    information.deliveryStatus = 3
    information.accountTenure = 4
    information.playTime = 5
    information.lifetimeDollarsRefunded = 6
    information.lifetimeDollarsPurchased = 7
    information.userStatus = 4
    information.refundPreference = 3
    let sent = try await send(.consumptionV1("49571273", information), status: 202)
    try expect(
      sent, "PUT https://local-testing-base-url/inApps/v1/transactions/consumption/49571273",
      """
      {"customerConsented":true,"consumptionStatus":1,"platform":2,"sampleContentProvided":false,
      "deliveryStatus":3,"appAccountToken":"","accountTenure":4,"playTime":5,
      "lifetimeDollarsRefunded":6,"lifetimeDollarsPurchased":7,"userStatus":4,
      "refundPreference":3}
      """)
  }

  @Test func `a token is set in lower case and a transaction finished without body`() async throws {
    let sent = try await send(
      .appAccountToken("49571273", token: "7E3FB20B-4CDB-47CC-936D-99D65F608138"), status: 200)
    try expect(
      sent, "PUT https://local-testing-base-url/inApps/v1/transactions/49571273/appAccountToken",
      "{\"appAccountToken\":\"7e3fb20b-4cdb-47cc-936d-99d65f608138\"}")
    try expect(
      try await send(.finish("1234"), status: 200),
      "POST https://local-testing-base-url/inApps/v1/transactions/1234/finish", nil)
  }

  private func field(_ build: () throws(APIError) -> Void) -> String? {
    do {
      try build()
      return nil
    } catch {
      guard case .badRequest(let field) = error.kind else { return "another error" }
      return error.isVerdict && !error.isRetryable ? field : "not final"
    }
  }

  @Test func `what Apple can never accept is refused before it is sent`() {
    func extend(_ days: Int32, _ id: String = "x") -> String? {
      field { () throws(APIError) in
        _ = try APIRequest.extendRenewal(
          "1", RenewalExtension(days: days, reason: .other, requestIdentifier: id))
      }
    }
    #expect(extend(1) == nil && extend(90) == nil)
    #expect(extend(0) == "extendByDays" && extend(91) == "extendByDays")
    #expect(extend(1, "") == "requestIdentifier")
    #expect(extend(1, String(repeating: "x", count: 129)) == "requestIdentifier")
    let plan = RenewalExtension(days: 1, reason: .other, requestIdentifier: "x")
    #expect(
      field { () throws(APIError) in _ = try APIRequest.massExtension(of: "p", in: [], plan) }
        == "storefrontCountryCodes")
    #expect(
      field { () throws(APIError) in _ = try APIRequest.appAccountToken("1", token: "no") }
        == "appAccountToken")
    func consume(_ consent: Bool, _ percentage: Int32?, _ wish: RefundPreference?) -> String? {
      field { () throws(APIError) in
        _ = try APIRequest.consumption(
          "1",
          ConsumptionInformation(
            customerConsented: consent, sampleContentProvided: true, deliveryStatus: .delivered,
            consumptionPercentage: percentage, refundPreference: wish))
      }
    }
    #expect(consume(false, nil, nil) == "customerConsented")
    #expect(consume(true, 100_001, nil) == "consumptionPercentage")
    #expect(consume(true, 0, .grantProrated) == "consumptionPercentage")
    #expect(consume(true, 1, .grantProrated) == nil)
    func history(_ change: (inout NotificationHistoryQuery) -> Void) -> String? {
      var query = NotificationHistoryQuery(startDate: 1, endDate: 2)
      change(&query)
      return field { () throws(APIError) in _ = try APIRequest.notificationHistory(query) }
    }
    #expect(history { $0.endDate = 1 } == "startDate")
    #expect(history { $0.notificationSubtype = .initialBuy } == "notificationSubtype")
    #expect(
      history {
        $0.notificationType = .test
        $0.transactionId = "1"
      } == "transactionId")
  }

  @Test func `an id cannot lead to another path`() throws {
    for id in ["", ".", "..", String(repeating: "1", count: 257)] {
      #expect(
        field { () throws(APIError) in _ = try APIRequest.transactionInfo(id) } == "transactionId")
    }
    let request = try APIRequest.transactionInfo("../a b?c#d/é%")
    #expect(request.target == "/inApps/v1/transactions/..%2Fa%20b%3Fc%23d%2F%C3%A9%25")
    let query = try APIRequest.refundHistory("1", revision: "a&b=c+d/é")
    #expect(query.target == "/inApps/v2/refund/lookup/1?revision=a%26b%3Dc%2Bd%2F%C3%A9")
  }

  @Test func `an environment without a server is refused`() throws {
    let world = try APIWorld(ScriptedApple())
    for environment in [AppEnvironment.xcode, AppEnvironment(rawValue: "Moon")] {
      #expect {
        try world.client(environment)
      } throws: { error in
        (error as? APIError)?.kind == .noServer(environment)
      }
    }
    #expect(throws: APIError.self) { try APIBases([.xcode: "https://example.com"]) }
    for text in ["", "https://", "api.example.com", "ftp://a", "https://a/?b", "https://a b"] {
      #expect(throws: APIError.self, "\(text)") { try APIBases([.sandbox: text]) }
    }
    #expect(try APIBases.apple.base(of: .production) == "https://api.storekit.apple.com")
    #expect(try APIBases.apple.base(of: .sandbox) == "https://api.storekit-sandbox.apple.com")
    #expect(throws: APIError.self) { try APIBases.apple.base(of: .localTesting) }
  }
}
