import AppStore
import TestSupport
import Testing

/// The values of models/ in testdata/apple/README.md.
@Suite("Payload fields")
struct PayloadTests {
  private func bytes(_ file: String) throws -> [UInt8] {
    try TestData.bytes("apple/models/\(file).json")
  }

  @Test func `every model gives back the JSON it was read from`() throws {
    func expectRoundTrip<Model: Payload & Equatable>(_ type: Model.Type, _ file: String) throws {
      let json = try bytes(file)
      let model = try Model(json: json)
      #expect(try JSONTree(of: model) == JSONTree(json), "\(file)")
    }
    try expectRoundTrip(TransactionPayload.self, "signedTransaction")
    try expectRoundTrip(TransactionPayload.self, "signedTransactionWithRevocation")
    try expectRoundTrip(RenewalInfoPayload.self, "signedRenewalInfo")
    try expectRoundTrip(AppTransactionPayload.self, "appTransaction")
    try expectRoundTrip(RealtimeRequestPayload.self, "decodedRealtimeRequest")
    try expectRoundTrip(NotificationAppData.self, "appData")
    try expectRoundTrip(AdvancedCommerceOffer.self, "advancedCommerceOffer")
    try expectRoundTrip(AdvancedCommerceDescriptors.self, "advancedCommerceDescriptors")
    for form in [
      "", "ConsumptionRequest", "Summary", "ExternalPurchaseToken", "ExternalPurchaseTokenSandbox",
      "RescindConsent",
    ] {
      try expectRoundTrip(NotificationPayload.self, "signed\(form)Notification")
    }
  }

  @Test func `a transaction has every field of Apple's sample`() throws {
    let read = try TransactionPayload(json: bytes("signedTransaction"))
    #expect(read.transactionId == "23456" && read.originalTransactionId == "12345")
    #expect(read.webOrderLineItemId == "34343" && read.bundleId == "com.example")
    #expect(read.productId == "com.example.product")
    #expect(read.subscriptionGroupIdentifier == "55555")
    #expect(read.purchaseDate == 1_698_148_900_000)
    #expect(read.originalPurchaseDate == 1_698_148_800_000)
    #expect(read.expiresDate == 1_698_149_000_000 && read.signedDate == 1_698_148_900_000)
    #expect(read.revocationDate == 1_698_148_950_000)
    #expect(read.revocationReason == .issueWithinApp && read.isUpgraded == true)
    #expect(read.quantity == 1 && read.type == .autoRenewable)
    #expect(read.appAccountToken == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
    #expect(read.inAppOwnershipType == .purchased && read.transactionReason == .purchase)
    #expect(read.offerType == .introductory && read.offerIdentifier == "abc.123")
    #expect(read.offerDiscountType == .payAsYouGo && read.offerPeriod == "P1Y")
    #expect(read.storefront == "USA" && read.storefrontId == "143441")
    #expect(read.environment == .localTesting && read.price == 10990 && read.currency == "USD")
    #expect(read.appTransactionId == "71134" && read.billingPlanType == .monthly)
    #expect(read.commitmentInfo?.billingPeriodNumber == 3)
    #expect(read.commitmentInfo?.totalBillingPeriods == 12)
    #expect(read.commitmentInfo?.commitmentExpiresDate == 1_698_150_000_000)
    #expect(read.commitmentInfo?.commitmentPrice == 119_880)
  }

  @Test func `the Advanced Commerce part of a transaction is read to its last refund`() throws {
    let read = try TransactionPayload(json: bytes("signedTransaction"))
    let info = try #require(read.advancedCommerceInfo)
    #expect(info.descriptors?.description == "Premium Plan")
    #expect(info.descriptors?.displayName == "Premium" && info.estimatedTax == 1500)
    #expect(info.period == .oneMonth && info.requestReferenceId == "ref-12345")
    #expect(info.taxCode == "TAX_CODE_1" && info.taxRate == "0.15")
    #expect(info.taxExclusivePrice == 8490)
    let item = try #require(info.items?.first)
    #expect(info.items?.count == 1 && item.sku == "com.example.sku.premium")
    #expect(item.price == 9990 && item.revocationDate == 1_698_149_200_000)
    let refund = try #require(item.refunds?.first)
    #expect(refund.refundAmount == 5000 && refund.refundDate == 1_698_149_100_000)
    #expect(refund.refundReason == .fulfillmentIssue && refund.refundType == .prorated)
  }

  @Test func `a prorated refund tells its share`() throws {
    let read = try TransactionPayload(json: bytes("signedTransactionWithRevocation"))
    #expect(read.revocationType == .refundProrated && read.revocationPercentage == 50000)
    #expect(read.advancedCommerceInfo == nil && read.commitmentInfo == nil)
  }

  @Test func `renewal info has every field of Apple's sample`() throws {
    let read = try RenewalInfoPayload(json: bytes("signedRenewalInfo"))
    #expect(read.originalTransactionId == "12345" && read.productId == "com.example.product")
    #expect(read.autoRenewProductId == "com.example.product.2" && read.autoRenewStatus == .on)
    #expect(read.expirationIntent == .customerCancelled && read.isInBillingRetryPeriod == true)
    #expect(read.priceIncreaseStatus == .notAnswered)
    #expect(read.gracePeriodExpiresDate == 1_698_148_900_000)
    #expect(read.offerType == .promotional && read.offerIdentifier == "abc.123")
    #expect(read.offerDiscountType == .payAsYouGo && read.offerPeriod == "P1Y")
    #expect(read.signedDate == 1_698_148_800_000 && read.renewalDate == 1_698_148_850_000)
    #expect(read.recentSubscriptionStartDate == 1_698_148_800_000)
    #expect(read.renewalPrice == 9990 && read.currency == "USD")
    #expect(read.eligibleWinBackOfferIds == ["eligible1", "eligible2"])
    #expect(read.appAccountToken == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
    #expect(read.appTransactionId == "71134" && read.renewalBillingPlanType == .monthly)
    let info = try #require(read.advancedCommerceInfo)
    #expect(info.consistencyToken == "token-abc-123" && info.period == .oneMonth)
    let increase = try #require(info.items?.first?.priceIncreaseInfo)
    #expect(increase.dependentSKUs == ["com.example.sku.1", "com.example.sku.2"])
    #expect(increase.price == 12990 && increase.status == .pending)
    let commitment = try #require(read.commitmentInfo)
    #expect(commitment.commitmentAutoRenewProductId == "com.example.product.commitment")
    #expect(commitment.commitmentAutoRenewStatus == .on)
    #expect(commitment.commitmentRenewalBillingPlanType == .monthly)
    #expect(commitment.commitmentRenewalDate == 1_698_149_500_000)
    #expect(commitment.commitmentRenewalPrice == 9990)
  }

  @Test func `each form of notification has its own part and no other`() throws {
    let purchase = try NotificationPayload(json: bytes("signedNotification"))
    #expect(purchase.notificationType == .subscribed && purchase.subtype == .initialBuy)
    #expect(purchase.notificationUUID == "002e14d5-51f5-4503-b5a8-c3a1af68eb20")
    #expect(purchase.version == "2.0" && purchase.signedDate == 1_698_148_900_000)
    #expect(purchase.data?.environment == .localTesting && purchase.data?.appAppleId == 41234)
    #expect(purchase.data?.bundleVersion == "1.2.3" && purchase.data?.status == .active)
    #expect(purchase.data?.signedTransactionInfo == "signed_transaction_info_value")
    #expect(purchase.data?.signedRenewalInfo == "signed_renewal_info_value")
    #expect(purchase.data?.consumptionRequestReason == nil && purchase.summary == nil)

    let request = try NotificationPayload(json: bytes("signedConsumptionRequestNotification"))
    #expect(request.notificationType == .consumptionRequest && request.subtype == nil)
    #expect(request.data?.consumptionRequestReason == .unintendedPurchase)

    let extended = try NotificationPayload(json: bytes("signedSummaryNotification"))
    #expect(extended.notificationType == .renewalExtension && extended.subtype == .summary)
    #expect(extended.summary?.storefrontCountryCodes == ["CAN", "USA", "MEX"])
    #expect(extended.summary?.succeededCount == 5 && extended.summary?.failedCount == 2)
    #expect(extended.summary?.requestIdentifier == "efb27071-45a4-4aca-9854-2a1e9146f265")
    #expect(extended.data == nil)

    let token = try NotificationPayload(json: bytes("signedExternalPurchaseTokenNotification"))
    #expect(token.notificationType == .externalPurchaseToken && token.subtype == .unreported)
    #expect(token.externalPurchaseToken?.tokenCreationDate == 1_698_148_950_000)
    #expect(token.externalPurchaseToken?.appAppleId == 55555)
    #expect(token.externalPurchaseToken?.environment == .production)
    let sandbox = try NotificationPayload(
      json: bytes("signedExternalPurchaseTokenSandboxNotification"))
    #expect(sandbox.externalPurchaseToken?.environment == .sandbox)

    let rescind = try NotificationPayload(json: bytes("signedRescindConsentNotification"))
    #expect(rescind.notificationType == .rescindConsent && rescind.subtype == nil)
    #expect(rescind.appData?.signedAppTransactionInfo == "signed_app_transaction_info_value")
  }

  @Test func `app transaction, app data and real-time request are read`() throws {
    let read = try AppTransactionPayload(json: bytes("appTransaction"))
    #expect(read.receiptType == .localTesting && read.appAppleId == 531_412)
    #expect(read.applicationVersion == "1.2.3" && read.versionExternalIdentifier == 512)
    #expect(read.receiptCreationDate == 1_698_148_900_000)
    #expect(read.originalPurchaseDate == 1_698_148_800_000)
    #expect(read.originalApplicationVersion == "1.1.2" && read.originalPlatform == .iOS)
    #expect(read.deviceVerification == "device_verification_value")
    #expect(read.deviceVerificationNonce == "48ccfa42-7431-4f22-9908-7e88983e105a")
    #expect(read.preorderDate == 1_698_148_700_000 && read.appTransactionId == "71134")
    let data = try NotificationAppData(json: bytes("appData"))
    #expect(data.appAppleId == 987_654_321 && data.environment == .sandbox)
    let request = try RealtimeRequestPayload(json: bytes("decodedRealtimeRequest"))
    #expect(request.originalTransactionId == "99371282" && request.userLocale == "en-US")
    #expect(request.requestIdentifier == "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9")
  }

  @Test func `unknown values and fields are kept or passed over, never an error`() throws {
    let read = try TransactionPayload(
      json: Array(
        """
        {"type":"Rental","offerType":99,"new":{"a":[1,{"b":null}]},"transactionReason":null,
        "multiSeatInfo":{"priceTiers":[{"price":990,"quantity":5}],"seatColor":"red"}}
        """.utf8))
    #expect(read.type?.rawValue == "Rental" && read.offerType?.rawValue == 99)
    #expect(read.transactionReason == nil)
    #expect(read.multiSeatInfo?.priceTiers?.first?.quantity == 5)
    let notification = try NotificationPayload(
      json: Array("{\"notificationType\":\"NEW_THING\",\"unclaimInfo\":{}}".utf8))
    #expect(notification.notificationType?.rawValue == "NEW_THING")
    #expect(notification.unclaimInfo != nil)
  }

  @Test func `a field of the wrong type is named with its path`() {
    func path(_ json: String) -> String? {
      do {
        _ = try NotificationPayload(json: Array(json.utf8))
        return nil
      } catch {
        return error.path
      }
    }
    #expect(path("{\"signedDate\":\"1\"}") == "signedDate")
    #expect(path("{\"data\":[]}") == "data")
    #expect(path("{\"data\":{\"status\":\"1\"}}") == "data.status")
    #expect(path("{\"data\":{\"status\":1.5}}") == "data.status")
    #expect(path("{\"data\":{\"appAppleId\":\"blue\"}}") == "data.appAppleId")
    #expect(
      path("{\"summary\":{\"storefrontCountryCodes\":[\"USA\",1]}}")
        == "summary.storefrontCountryCodes[1]")
    #expect(path("{\"notificationType\":5}") == "notificationType")
    #expect(path("[]") == "" && path("{\"a\":}") == "")
  }

  @Test func `the state follows from the dates where no status is given`() {
    var transaction = TransactionPayload()
    var renewal = RenewalInfoPayload()
    func status(_ now: Int64) -> SubscriptionStatus {
      .derived(from: transaction, renewal, now: now)
    }
    transaction.expiresDate = 1000
    #expect(status(999) == .active && status(1000) == .expired)
    renewal.isInBillingRetryPeriod = true
    #expect(status(1000) == .billingRetry)
    renewal.gracePeriodExpiresDate = 2000
    #expect(status(1999) == .gracePeriod && status(2000) == .billingRetry)
    transaction.revocationDate = 500
    #expect(status(0) == .revoked)
  }
}
