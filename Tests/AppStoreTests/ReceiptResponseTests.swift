import AppStore
import FoundationEssentials
import TestSupport
import Testing

@Suite("verifyReceipt")
struct ReceiptResponseTests {
  private func sample() throws -> [UInt8] {
    try TestData.bytes("apple/receipts/sandbox-verifyReceipt-response.json")
  }

  @Test func `the sample answer is read with its expected values`() throws {
    let answer = try VerifyReceiptResponse(json: sample())
    #expect(answer.status == .valid && answer.environment == .sandbox)
    #expect(answer.outcome(from: .sandbox) == .ok)
    let receipt = try #require(answer.receipt)
    #expect(receipt.receiptType == "ProductionSandbox" && receipt.applicationVersion == "4")
    #expect(receipt.requestDate == 1_595_440_486_402)
    #expect(receipt.originalPurchaseDate == 1_375_340_400_000)
    #expect(receipt.originalApplicationVersion == "1.0" && receipt.adamId == 0)
    #expect(receipt.inApp.count == 9 && answer.latestReceiptInfo.count == 9)
    #expect(receipt.transaction == nil)
    let all = answer.latestReceiptInfo
    #expect(all.allSatisfy { $0.originalTransactionId == "1000000692878476" })
    #expect(all.allSatisfy { $0.subscriptionGroupIdentifier == "20662382" })
    #expect(all.count { $0.productId == "com.revenuecat.monthly_4.99.1_week_intro" } == 8)
    let first = try #require(all.first { $0.transactionId == "1000000692878476" })
    #expect(first.isTrialPeriod == true && first.purchaseDate == 1_594_755_206_000)
    let last = try #require(all.max { ($0.purchaseDate ?? 0) < ($1.purchaseDate ?? 0) })
    #expect(last.transactionId == "1000000696553650" && last.expiresDate == 1_595_443_146_000)
    #expect(answer.pendingRenewalInfo.count == 1)
    let renewal = try #require(answer.pendingRenewalInfo.first)
    #expect(renewal.autoRenewStatus == .on && renewal.originalTransactionId == "1000000692878476")
    #expect(renewal.autoRenewProductId == "com.revenuecat.annual_39.99.2_week_intro")
    #expect(renewal.productId == renewal.autoRenewProductId)
  }

  @Test func `written again, the answer is Apple's own JSON, all three forms of dates included`()
    throws
  {
    let bytes = try sample()
    let answer = try VerifyReceiptResponse(json: bytes)
    #expect(try JSONTree(of: answer) == JSONTree(bytes))
  }

  @Test func `text, numbers and flags are read in every form that Apple has used`() throws {
    let text = """
      {"status":"21100","is-retryable":true,"receipt":{"adam_id":"12","in_app":[{"quantity":2,
      "transaction_id":1000,"is_trial_period":true,"cancellation_reason":"1",
      "purchase_date":"2020-07-14 19:33:26 Etc/GMT","expires_date_ms":1594755700000,
      "cancellation_date":"","in_app_ownership_type":"FAMILY_SHARED","is_upgraded":"true",
      "app_account_token":"7e3fb20b-4cdb-47cc-936d-99d65f608138","surprise":{"a":[1]}}]},
      "pending_renewal_info":[{"auto_renew_status":1,"expiration_intent":"2",
      "is_in_billing_retry_period":"1","grace_period_expires_date_ms":"1594755700000",
      "price_consent_status":"0","price_increase_status":"7"}]}
      """
    let answer = try VerifyReceiptResponse(json: Array(text.utf8))
    #expect(answer.status.rawValue == 21100 && answer.isRetryable == true)
    #expect(answer.receipt?.adamId == 12)
    let transaction = try #require(answer.receipt?.inApp.first)
    #expect(transaction.quantity == 2 && transaction.transactionId == "1000")
    #expect(transaction.isTrialPeriod == true && transaction.isUpgraded == true)
    #expect(transaction.cancellationReason == .issueWithinApp)
    #expect(transaction.purchaseDate == 1_594_755_206_000)
    #expect(transaction.expiresDate == 1_594_755_700_000 && transaction.cancellationDate == nil)
    #expect(transaction.inAppOwnershipType == .familyShared)
    let renewal = try #require(answer.pendingRenewalInfo.first)
    #expect(renewal.autoRenewStatus == .on && renewal.expirationIntent == .billingError)
    #expect(renewal.isInBillingRetryPeriod == true && renewal.priceConsentStatus == .notAnswered)
    #expect(renewal.gracePeriodExpiresDate == 1_594_755_700_000)
    #expect(renewal.priceIncreaseStatus == PriceIncreaseStatus(rawValue: 7))
  }

  @Test func `an answer for a receipt of iOS 6 holds its one transaction`() throws {
    let text = """
      {"status":21006,"receipt":{"bid":"com.example","transaction_id":"9","product_id":"p",
      "original_transaction_id":"8","purchase_date_ms":"1000","expires_date":"2000",
      "quantity":"1"},"latest_receipt_info":{"transaction_id":"9","expires_date":"2000"}}
      """
    let answer = try VerifyReceiptResponse(json: Array(text.utf8))
    #expect(answer.outcome(from: .production) == .ok)
    #expect(answer.receipt?.bundleId == "com.example" && answer.receipt?.inApp.isEmpty == true)
    #expect(answer.receipt?.transaction?.originalTransactionId == "8")
    #expect(answer.receipt?.transaction?.expiresDate == 2000)
    #expect(answer.latestReceiptInfo.map(\.transactionId) == ["9"])
    let again = try VerifyReceiptResponse(json: [UInt8](JSONEncoder().encode(answer)))
    #expect(again == answer)
  }

  @Test func `a date as text is read where the milliseconds are missing`() throws {
    func date(_ text: String) throws -> Int64? {
      let json = "{\"purchase_date\":\"\(text)\"}"
      return try VerifyReceiptTransaction(json: Array(json.utf8)).purchaseDate
    }
    let cases: [(String, Int64?)] = [
      ("1970-01-01 00:00:00 Etc/GMT", 0), ("2020-07-14 19:33:26 Etc/GMT", 1_594_755_206_000),
      ("2024-02-29T23:59:59Z", 1_709_251_199_000), ("2000-02-29T00:00:00Z", 951_782_400_000),
      ("0001-01-01T00:00:00Z", -62_135_596_800_000), ("2020-07-14T19:33:26.5Z", 1_594_755_206_500),
      ("2020-07-14T19:33:26.0009Z", 1_594_755_206_000),
      ("2020-07-14T21:33:26+02:00", 1_594_755_206_000),
      ("2020-07-14T12:03:26-07:30", 1_594_755_206_000), ("", nil),
    ]
    for (text, expected) in cases { #expect(try date(text) == expected, "\(text)") }
    for text in [
      "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2020-13-01T00:00:00Z",
      "2020-00-10T00:00:00Z", "2020-04-31T00:00:00Z", "2020-01-01T24:00:00Z",
      "2020-01-01T00:60:00Z", "2020-01-01T00:00:00", "2020-01-01T00:00:00Zx",
      "2020-01-01T00:00:00.Z", "2020-1-1T00:00:00Z", "2020-01-01 00:00:00 America/Los_Angeles",
      "yesterday",
    ] {
      #expect(throws: PayloadFault.self, "\(text)") { try date(text) }
    }
  }

  @Test func `dates are written in the three forms, with summer time in Los Angeles`() throws {
    func texts(_ milliseconds: Int64) throws -> JSONTree {
      var transaction = VerifyReceiptTransaction()
      transaction.expiresDate = milliseconds
      return try JSONTree(of: transaction)
    }
    let cases: [(Int64, String, String)] = [
      // The second Sunday of March and the first of November 2024, each second around the change.
      (1_710_064_799_000, "2024-03-10 09:59:59", "2024-03-10 01:59:59"),
      (1_710_064_800_000, "2024-03-10 10:00:00", "2024-03-10 03:00:00"),
      (1_730_624_399_000, "2024-11-03 08:59:59", "2024-11-03 01:59:59"),
      (1_730_624_400_000, "2024-11-03 09:00:00", "2024-11-03 01:00:00"),
      (-1000, "1969-12-31 23:59:59", "1969-12-31 15:59:59"),
      (951_868_799_999, "2000-02-29 23:59:59", "2000-02-29 15:59:59"),
    ]
    for (milliseconds, greenwich, pacific) in cases {
      let expected: [String: JSONTree] = [
        "expires_date": .string(greenwich + " Etc/GMT"),
        "expires_date_ms": .string("\(milliseconds)"),
        "expires_date_pst": .string(pacific + " America/Los_Angeles"),
      ]
      #expect(try texts(milliseconds) == .object(expected))
    }
  }

  @Test func `what cannot be understood is a fault with its field`() {
    let cases = [
      ("{}", "status"), ("{\"status\":\"x\"}", "status"), ("{\"status\":0,\"receipt\":[]}", ""),
      ("{\"status\":0,\"latest_receipt_info\":[{\"quantity\":\"two\"}]}", "quantity"),
      ("{\"status\":0,\"receipt\":{\"expiration_date\":\"soon\"}}", "expiration_date"),
      ("{\"status\":0,\"receipt\":{\"in_app\":[{\"is_trial_period\":\"maybe\"}]}}", "trial"),
      ("{\"status\":0,\"receipt\":{\"bundle_id\":{}}}", "bundle_id"),
    ]
    for (text, path) in cases {
      let fault = #expect(throws: PayloadFault.self, "\(text)") {
        try VerifyReceiptResponse(json: Array(text.utf8))
      }
      #expect(path.isEmpty || fault?.path.contains(path) == true, "\(text)")
    }
  }

  @Test func `every status has its outcome`() {
    func outcome(
      _ status: Int32, _ isRetryable: Bool? = nil, _ server: VerifyReceiptServer = .production
    ) -> VerifyReceiptOutcome {
      VerifyReceiptStatus(rawValue: status).outcome(isRetryable: isRetryable, from: server)
    }
    #expect(outcome(0) == .ok && outcome(21006) == .ok)
    #expect(outcome(21000) == .final(.unreadableRequest))
    for status: Int32 in [21002, 21005, 21009] { #expect(outcome(status) == .retry) }
    #expect(outcome(21003) == .final(.notAuthentic))
    #expect(outcome(21004) == .final(.wrongSharedSecret))
    #expect(outcome(21007) == .switchToSandbox)
    #expect(outcome(21007, nil, .sandbox) == .final(.noServer))
    #expect(outcome(21008, nil, .sandbox) == .switchToProduction)
    #expect(outcome(21008) == .final(.noServer))
    #expect(outcome(21010) == .neverPurchased)
    for status: Int32 in [21100, 21150, 21199] {
      #expect(outcome(status) == .retry && outcome(status, true) == .retry)
      #expect(outcome(status, false) == .final(.internalFault))
    }
    for status: Int32 in [21001, 21099, 21200, -1, 99] {
      #expect(outcome(status) == .final(.unknownStatus))
      #expect(outcome(status, true) == .retry)
    }
  }

  @Test func `a request is Apple's JSON, and its secret is told to nobody else`() throws {
    let secret = try #require(SharedSecret(" 0123456789abcdef\n"))
    let request = VerifyReceiptRequest(
      receipt: [0xFB, 0xFF, 0xFE], password: secret, excludesOldTransactions: true)
    let json = try String(decoding: request.json(), as: UTF8.self)
    #expect(
      json
        == "{\"exclude-old-transactions\":true,\"password\":\"0123456789abcdef\","
        + "\"receipt-data\":\"+//+\"}")
    var dumped = ""
    dump(request, to: &dumped)
    for told in ["\(request)", "\(secret)", String(reflecting: request), dumped] {
      #expect(!told.contains("0123"))
    }
    #expect(SharedSecret(" \n") == nil)
    let plain = try VerifyReceiptRequest(receipt: [1], password: nil).json()
    #expect(
      String(decoding: plain, as: UTF8.self)
        == "{\"exclude-old-transactions\":false,\"receipt-data\":\"AQ==\"}")
    #expect(
      ReceiptSamples.code { _ = try VerifyReceiptRequest(text: "123", password: nil) }
        == .wrongKind)
  }
}
