import AppStore
import HTTPClient
import TestSupport
import Testing

/// The table of API answers in testdata/apple/README.md: what Apple's own tests send and read.
@Suite("API requests and answers")
struct APIRequestTests {
  /// Sends to a scripted Apple that answers with a file, and checks what arrived there.
  private func ask<Answer>(
    _ file: String, _ request: APIRequest<Answer>, _ method: String, _ target: String,
    body: String? = nil
  ) async throws -> Answer {
    try await ask(.file(file), request, method, target, body: body)
  }

  private func ask<Answer>(
    _ response: HTTPResponse, _ request: APIRequest<Answer>, _ method: String, _ target: String,
    body: String? = nil
  ) async throws -> Answer {
    let world = try APIWorld(ScriptedApple(response))
    let answer = try await world.client().answer(to: request)
    let sent = try #require(world.apple.asked.first)
    #expect(world.apple.asked.count == 1)
    #expect(sent.method == method)
    #expect(sent.url == "https://local-testing-base-url" + target)
    let fields = Dictionary(sent.headers, uniquingKeysWith: { $0 + $1 })
    #expect(fields["Accept"] == "application/json" && fields["User-Agent"] == "purser")
    let bearer = try #require(fields["Authorization"])
    #expect(bearer.hasPrefix("Bearer "))
    _ = try verifiedParts(String(bearer.dropFirst(7)), by: world.key.publicKey)
    if let body {
      #expect(fields["Content-Type"] == "application/json")
      #expect(try JSONTree(#require(sent.body)) == JSONTree(Array(body.utf8)))
    } else {
      #expect(fields["Content-Type"] == nil)
      #expect(sent.body?.isEmpty ?? true)
    }
    return answer
  }

  private let plan = RenewalExtension(
    days: 45, reason: .customerSatisfaction,
    requestIdentifier: "fdf964a4-233b-486c-aac1-97d8d52688ac")

  @Test func `extend renewal dates for all active subscribers`() async throws {
    let answer = try await ask(
      "extendRenewalDateForAllActiveSubscribersResponse",
      .massExtension(of: "com.example.productId", in: ["USA", "MEX"], plan), "POST",
      "/inApps/v1/subscriptions/extend/mass",
      body: """
        {"extendByDays":45,"extendReasonCode":1,"productId":"com.example.productId",
        "requestIdentifier":"fdf964a4-233b-486c-aac1-97d8d52688ac",
        "storefrontCountryCodes":["USA","MEX"]}
        """)
    #expect(answer.requestIdentifier == "758883e8-151b-47b7-abd0-60c4d804c2f5")
  }

  @Test func `all storefronts are meant by leaving them out`() throws {
    let request = try APIRequest.massExtension(of: "p", plan)
    let expected = """
      {"extendByDays":45,"extendReasonCode":1,"productId":"p",
      "requestIdentifier":"fdf964a4-233b-486c-aac1-97d8d52688ac"}
      """
    #expect(try JSONTree(#require(request.body)) == JSONTree(Array(expected.utf8)))
  }

  @Test func `extend one renewal date`() async throws {
    let answer = try await ask(
      "extendSubscriptionRenewalDateResponse", .extendRenewal("4124214", plan), "PUT",
      "/inApps/v1/subscriptions/extend/4124214",
      body: """
        {"extendByDays":45,"extendReasonCode":1,
        "requestIdentifier":"fdf964a4-233b-486c-aac1-97d8d52688ac"}
        """)
    #expect(answer.originalTransactionId == "2312412" && answer.webOrderLineItemId == "9993")
    #expect(answer.success && answer.effectiveDate == 1_698_148_900_000)
  }

  @Test func `state of a mass extension names the product first`() async throws {
    let answer = try await ask(
      "getStatusOfSubscriptionRenewalDateExtensionsResponse",
      .massExtensionStatus(
        of: "com.example.product", requestIdentifier: "20fba8a0-2b80-4a7d-a17f-85c1854727f8"),
      "GET",
      "/inApps/v1/subscriptions/extend/mass/com.example.product/20fba8a0-2b80-4a7d-a17f-85c1854727f8"
    )
    #expect(answer.requestIdentifier == "20fba8a0-2b80-4a7d-a17f-85c1854727f8")
    #expect(answer.complete && answer.completeDate == 1_698_148_900_000)
    #expect(answer.succeededCount == 30 && answer.failedCount == 2)
  }

  @Test func `all subscription statuses, some asked for`() async throws {
    let answer = try await ask(
      "getAllSubscriptionStatusesResponse",
      .subscriptionStatuses("4321", in: [.expired, .active]), "GET",
      "/inApps/v1/subscriptions/4321?status=2&status=1")
    #expect(answer.environment == .localTesting && answer.bundleId == "com.example")
    #expect(answer.appAppleId == 5_454_545)
    #expect(answer.data.map(\.subscriptionGroupIdentifier) == ["sub_group_one", "sub_group_two"])
    let entries = answer.data.flatMap(\.lastTransactions)
    #expect(entries.map(\.status) == [.active, .revoked, .expired])
    #expect(entries.map(\.originalTransactionId) == ["3749183", "5314314134", "3413453"])
    #expect(entries[0].signedTransactionInfo == "signed_transaction_one")
    #expect(entries[2].signedRenewalInfo == "signed_renewal_three")
  }

  @Test func `refund history from a revision`() async throws {
    let answer = try await ask(
      "getRefundHistoryResponse", .refundHistory("555555", revision: "revision_input"), "GET",
      "/inApps/v2/refund/lookup/555555?revision=revision_input")
    #expect(answer.signedTransactions == ["signed_transaction_one", "signed_transaction_two"])
    #expect(answer.revision == "revision_output" && answer.hasMore)
  }

  @Test func `the deprecated refund history has no revision`() async throws {
    let answer = try await ask(
      .json("{\"signedTransactions\":[\"a\"]}"), .refundHistoryV1("555555"), "GET",
      "/inApps/v1/refund/lookup/555555")
    #expect(answer.signedTransactions == ["a"] && !answer.hasMore && answer.revision == nil)
  }

  private var query: HistoryQuery {
    var query = HistoryQuery()
    query.startDate = 123_455
    query.endDate = 123_456
    query.productIds = ["com.example.1", "com.example.2"]
    query.productTypes = [.consumable, .autoRenewable]
    query.sort = .ascending
    query.subscriptionGroupIdentifiers = ["sub_group_id", "sub_group_id_2"]
    query.ownership = .familyShared
    query.isRevoked = false
    return query
  }

  private let parameters =
    "?revision=revision_input&startDate=123455&endDate=123456&productId=com.example.1"
    + "&productId=com.example.2&productType=CONSUMABLE&productType=AUTO_RENEWABLE&sort=ASCENDING"
    + "&subscriptionGroupIdentifier=sub_group_id&subscriptionGroupIdentifier=sub_group_id_2"
    + "&inAppOwnershipType=FAMILY_SHARED&revoked=false"

  private func check(_ answer: HistoryAnswer, environment: String = "LocalTesting") {
    #expect(answer.revision == "revision_output" && answer.hasMore)
    #expect(answer.bundleId == "com.example" && answer.appAppleId == 323_232)
    #expect(answer.environment?.rawValue == environment)
    #expect(answer.signedTransactions == ["signed_transaction_value", "signed_transaction_value2"])
  }

  @Test func `transaction history with every parameter, both versions`() async throws {
    check(
      try await ask(
        "transactionHistoryResponse",
        .transactionHistory("1234", query, revision: "revision_input"), "GET",
        "/inApps/v2/history/1234" + parameters))
    check(
      try await ask(
        "transactionHistoryResponse",
        .transactionHistoryV1("1234", query, revision: "revision_input"), "GET",
        "/inApps/v1/history/1234" + parameters))
  }

  @Test func `an unknown environment in an answer is kept`() async throws {
    check(
      try await ask(
        "transactionHistoryResponseWithMalformedEnvironment", .transactionHistory("1234"), "GET",
        "/inApps/v2/history/1234"), environment: "LocalTestingxxx")
  }

  @Test func `an app id that is text is an unexpected answer`() async throws {
    let world = try APIWorld(
      ScriptedApple(.file("transactionHistoryResponseWithMalformedAppAppleId")))
    let client = try world.client()
    let error = await apiError { () throws(APIError) in
      _ = try await client.answer(to: .transactionHistory("1234"))
    }
    #expect(error?.kind == .unexpectedAnswer && error?.message.contains("appAppleId") == true)
    #expect(world.apple.asked.count == 1)
  }

  @Test func `transaction and app transaction`() async throws {
    let transaction = try await ask(
      "transactionInfoResponse", .transactionInfo("1234"), "GET", "/inApps/v1/transactions/1234")
    #expect(transaction.signedTransactionInfo == "signed_transaction_info_value")
    let app = try await ask(
      "appTransactionInfoResponse", .appTransactionInfo("1234"), "GET",
      "/inApps/v1/transactions/appTransactions/1234")
    #expect(app.signedAppTransactionInfo == "signed_app_transaction_info_value")
  }

  @Test func `order look-up`() async throws {
    let answer = try await ask(
      "lookupOrderIdResponse", .orderLookup("W002182"), "GET", "/inApps/v1/lookup/W002182")
    #expect(answer.status == .invalid)
    #expect(answer.signedTransactions == ["signed_transaction_one", "signed_transaction_two"])
    let invalid = try await ask(
      .json("{\"status\":1}"), .orderLookup("W1"), "GET", "/inApps/v1/lookup/W1")
    #expect(invalid.signedTransactions.isEmpty)
  }

  @Test func `notification history, a later page`() async throws {
    var query = NotificationHistoryQuery(
      startDate: 1_698_148_900_000, endDate: 1_698_148_950_000)
    query.notificationType = .subscribed
    query.notificationSubtype = .initialBuy
    query.isOnlyFailures = true
    let answer = try await ask(
      "getNotificationHistoryResponse",
      .notificationHistory(query, paginationToken: "a036bc0e-52b8-4bee-82fc-8c24cb6715d6"),
      "POST",
      "/inApps/v1/notifications/history?paginationToken=a036bc0e-52b8-4bee-82fc-8c24cb6715d6",
      body: """
        {"startDate":1698148900000,"endDate":1698148950000,"notificationType":"SUBSCRIBED",
        "notificationSubtype":"INITIAL_BUY","onlyFailures":true}
        """)
    #expect(answer.paginationToken == "57715481-805a-4283-8499-1c19b5d6b20a" && answer.hasMore)
    let history = answer.notificationHistory
    #expect(history.map(\.signedPayload) == ["signed_payload_one", "signed_payload_two"])
    #expect(history.map(\.sendAttempts.count) == [2, 1])
    #expect(history[1].sendAttempts[0].sendAttemptResult == .circularRedirect)
    #expect(history[1].sendAttempts[0].attemptDate == 1_698_148_800_000)
  }

  @Test func `notifications of one transaction`() throws {
    var query = NotificationHistoryQuery(startDate: 1, endDate: 2)
    query.transactionId = "999733843"
    let body = try #require(APIRequest.notificationHistory(query).body)
    let expected = "{\"startDate\":1,\"endDate\":2,\"transactionId\":\"999733843\"}"
    #expect(try JSONTree(body) == JSONTree(Array(expected.utf8)))
  }

  @Test func `a test notification and its outcome`() async throws {
    let asked = try await ask(
      "requestTestNotificationResponse", .testNotification(), "POST",
      "/inApps/v1/notifications/test")
    #expect(asked.testNotificationToken == "ce3af791-365e-4c60-841b-1674b43c1609")
    let outcome = try await ask(
      "getTestNotificationStatusResponse",
      .testNotificationStatus("8cd2974c-f905-492a-bf9a-b2f47c791d19"), "GET",
      "/inApps/v1/notifications/test/8cd2974c-f905-492a-bf9a-b2f47c791d19")
    #expect(outcome.signedPayload == "signed_payload")
    #expect(outcome.sendAttempts.map(\.sendAttemptResult) == [.noResponse, .success])
    #expect(
      outcome.sendAttempts.map(\.attemptDate) == [1_698_148_900_000, 1_698_148_950_000])
  }
}
