import AppStore
import Events
import TestSupport
import Testing

@testable import verify_service

/// Apple's table of notifications (reference §3.1), row by row.
@Suite("Every notification of Apple's table") struct NotificationTableTests {
  /// A row: what comes after the first purchase and what the lineage's state says then.
  struct Row: CustomTestStringConvertible, Sendable {
    var type: String
    var subtype: String?
    var status: Int32?
    var transaction: @Sendable (inout TransactionPayload) -> Void = { _ in }
    var renewal: @Sendable (inout RenewalInfoPayload) -> Void = { _ in }
    var holds: @Sendable (LineageState) -> Bool

    var testDescription: String { "\(type) \(subtype ?? "")" }
  }

  private static let start = NotificationSamples.start
  private static let day = NotificationSamples.day

  /// A second period, charged when the first one ends.
  private static func nextPeriod(_ payload: inout TransactionPayload) {
    payload.transactionId = "1001"
    payload.purchaseDate = start + 30 * day
    payload.expiresDate = start + 60 * day
    payload.transactionReason = .renewal
  }

  private static func upgrade(_ payload: inout TransactionPayload) {
    payload.transactionId = "1001"
    payload.productId = "pro.yearly"
    payload.purchaseDate = start + 10 * day
    payload.expiresDate = start + 375 * day
  }

  private static func newest(_ state: LineageState) -> LineageTransaction? {
    state.transactions.last
  }

  private static let purchases = [
    Row(type: "SUBSCRIBED", subtype: "INITIAL_BUY", status: 1) {
      $0.status == 1 && $0.transactions.count == 1 && $0.renewal?.autoRenewStatus == 1
    },
    Row(
      type: "SUBSCRIBED", subtype: "RESUBSCRIBE", status: 1,
      transaction: {
        nextPeriod(&$0)
        $0.transactionReason = .purchase
      }
    ) { $0.status == 1 && newest($0)?.expiresDate == start + 60 * day },
    Row(type: "DID_RENEW", status: 1, transaction: nextPeriod) {
      $0.transactions.count == 2 && newest($0)?.transactionReason == "RENEWAL" && $0.status == 1
    },
    Row(
      type: "DID_RENEW", subtype: "BILLING_RECOVERY", status: 1, transaction: nextPeriod,
      renewal: { $0.isInBillingRetryPeriod = false }
    ) {
      $0.status == 1 && $0.renewal?.isInBillingRetryPeriod == false
        && $0.renewal?.gracePeriodExpiresDate == nil
    },
    Row(type: "DID_CHANGE_RENEWAL_PREF", subtype: "UPGRADE", status: 1, transaction: upgrade) {
      newest($0)?.productId == "pro.yearly" && $0.status == 1
    },
    Row(
      type: "DID_CHANGE_RENEWAL_PREF", subtype: "DOWNGRADE", status: 1,
      renewal: { $0.autoRenewProductId = "basic" }
    ) { newest($0)?.productId == "pro.monthly" && $0.renewal?.autoRenewProductId == "basic" },
    Row(type: "DID_CHANGE_RENEWAL_PREF", status: 1) {
      $0.renewal?.autoRenewProductId == "pro.monthly"
    },
    Row(
      type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED", status: 1,
      renewal: { $0.autoRenewStatus = .off }
    ) { $0.status == 1 && $0.renewal?.autoRenewStatus == 0 },
    Row(type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_ENABLED", status: 1) {
      $0.renewal?.autoRenewStatus == 1
    },
    Row(
      type: "DID_CHANGE_RENEWAL_STATUS", status: 1, renewal: { $0.autoRenewStatus = .off }
    ) { $0.renewal?.autoRenewStatus == 0 },
    Row(
      type: "OFFER_REDEEMED", status: 1,
      transaction: {
        $0.offerType = .promotional
        $0.offerIdentifier = "half"
      },
      renewal: {
        $0.offerIdentifier = "next"
        $0.offerPeriod = "P3M"
      }
    ) {
      newest($0)?.offerIdentifier == "half" && $0.renewal?.offerIdentifier == "next"
        && $0.renewal?.offerPeriod == "P3M"
    },
    Row(type: "OFFER_REDEEMED", subtype: "UPGRADE", status: 1, transaction: upgrade) {
      newest($0)?.productId == "pro.yearly"
    },
    Row(
      type: "OFFER_REDEEMED", subtype: "DOWNGRADE", status: 1,
      renewal: { $0.autoRenewProductId = "basic" }
    ) { newest($0)?.productId == "pro.monthly" && $0.renewal?.autoRenewProductId == "basic" },
    Row(
      type: "RENEWAL_EXTENDED", status: 1, transaction: { $0.expiresDate = start + 45 * day }
    ) { $0.transactions.map(\.expiresDate) == [start + 45 * day] },
    Row(type: "RENEWAL_EXTENSION", subtype: "FAILURE", status: 1) {
      $0.transactions.map(\.expiresDate) == [start + 30 * day]
    },
    Row(type: "METADATA_UPDATE", status: 1) { $0.transactions.count == 1 },
    Row(
      type: "MIGRATION", status: 1,
      transaction: { $0.previousOriginalTransactionId = "900" }
    ) { newest($0)?.previousOriginalTransactionId == "900" },
    Row(type: "PRICE_CHANGE", status: 1, renewal: { $0.renewalPrice = 5990 }) {
      $0.renewal?.renewalPrice == 5990
    },
  ]

  private static let ends = [
    Row(
      type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", status: 4,
      renewal: {
        $0.isInBillingRetryPeriod = true
        $0.gracePeriodExpiresDate = start + 46 * day
      }
    ) {
      $0.status == 4 && $0.renewal?.gracePeriodExpiresDate == start + 46 * day
        && $0.renewal?.isInBillingRetryPeriod == true
    },
    Row(type: "DID_FAIL_TO_RENEW", status: 3, renewal: { $0.isInBillingRetryPeriod = true }) {
      $0.status == 3 && $0.renewal?.gracePeriodExpiresDate == nil
    },
    Row(type: "GRACE_PERIOD_EXPIRED", status: 3, renewal: { $0.isInBillingRetryPeriod = true }) {
      $0.status == 3 && $0.renewal?.gracePeriodExpiresDate == nil
    },
    expired("VOLUNTARY", 1), expired("BILLING_RETRY", 2), expired("PRICE_INCREASE", 3),
    expired("PRODUCT_NOT_FOR_SALE", 4), expired(nil, 5),
    Row(
      type: "PRICE_INCREASE", subtype: "PENDING", status: 1,
      renewal: { $0.priceIncreaseStatus = PriceIncreaseStatus(rawValue: 0) }
    ) { $0.renewal?.priceIncreaseStatus == 0 && $0.status == 1 },
    Row(
      type: "PRICE_INCREASE", subtype: "ACCEPTED", status: 1,
      renewal: { $0.priceIncreaseStatus = PriceIncreaseStatus(rawValue: 1) }
    ) { $0.renewal?.priceIncreaseStatus == 1 },
    Row(
      type: "REFUND", status: 5,
      transaction: {
        $0.revocationDate = start + 5 * day
        $0.revocationReason = RevocationReason(rawValue: 0)
        $0.revocationPercentage = 100_000
      }
    ) {
      newest($0)?.revocationDate == start + 5 * day && newest($0)?.revocationReason == 0
        && $0.status == 5
    },
    Row(type: "REFUND", subtype: "SEATS", status: 1, transaction: { $0.quantity = 4 }) {
      newest($0)?.revocationDate == nil && newest($0)?.quantity == 4 && $0.status == 1
    },
    Row(type: "REFUND_DECLINED", status: 1) {
      newest($0)?.revocationDate == nil && $0.status == 1
    },
    Row(type: "REFUND_REVERSED", status: 1) {
      newest($0)?.revocationDate == nil && newest($0)?.expiresDate == start + 30 * day
    },
    Row(type: "CONSUMPTION_REQUEST", status: 1) {
      $0.cause.notificationType == "CONSUMPTION_REQUEST" && $0.cause.transactionId == "1000"
        && $0.cause.signedDate != nil && $0.status == 1
    },
    Row(
      type: "REVOKE", status: 5,
      transaction: {
        $0.inAppOwnershipType = .familyShared
        $0.revocationDate = start + 5 * day
        $0.revocationType = RevocationType(rawValue: "FAMILY_REVOKE")
      }
    ) { newest($0)?.revocationType == "FAMILY_REVOKE" && $0.status == 5 },
    Row(type: "A_TYPE_OF_TOMORROW", subtype: "UNHEARD_OF", status: 9) {
      $0.status == 9 && $0.cause.notificationType == "A_TYPE_OF_TOMORROW"
    },
  ]

  private static func expired(_ subtype: String?, _ intent: Int32) -> Row {
    Row(
      type: "EXPIRED", subtype: subtype, status: 2,
      renewal: {
        $0.autoRenewStatus = .off
        $0.expirationIntent = ExpirationIntent(rawValue: intent)
      }
    ) { $0.status == 2 && $0.renewal?.expirationIntent == Int64(intent) }
  }

  @Test(arguments: purchases + ends)
  func `it is read and becomes the state that it speaks of`(row: Row) async throws {
    let samples = try NotificationSamples()
    let books = try TestLedger()
    try await books.token("t", of: "alice")
    let first = try samples.notification(
      "SUBSCRIBED", "INITIAL_BUY", at: Self.start, NotificationSamples.transaction(),
      NotificationSamples.renewal(), status: 1)
    try await books.tell(try #require(try samples.read(first)))
    if row.type == "REFUND_REVERSED" {
      let refund = try samples.notification(
        "REFUND", at: Self.start + Self.day,
        NotificationSamples.transaction { $0.revocationDate = Self.start + Self.day }, status: 5)
      try await books.tell(try #require(try samples.read(refund)))
    }
    let signed = try samples.notification(
      row.type, row.subtype, at: Self.start + 31 * Self.day,
      NotificationSamples.transaction(row.transaction), NotificationSamples.renewal(row.renewal),
      status: row.status)
    let fact = try #require(try samples.read(signed))
    // Apple repeats itself.
    try await books.tell(fact, fact)
    let states = try await books.states()
    let state = try #require(states.last)
    #expect(row.holds(state), "\(state)")
    #expect(states.allSatisfy { $0.customer == "alice" && $0.holding == .held })
    #expect(states.map(\.revision) == (1...Int64(states.count)).map { $0 })
    // The same notification again was no news, not even a request for consumption data.
    #expect(states.count == (row.type == "REFUND_REVERSED" ? 3 : 2))
  }

  @Test func `one-time charges of every kind are lineages of their own`() async throws {
    let samples = try NotificationSamples()
    let books = try TestLedger()
    let types: [ProductType] = [.consumable, .nonConsumable, .nonRenewing]
    for (number, type) in types.enumerated() {
      let signed = try samples.notification(
        "ONE_TIME_CHARGE", at: Self.start,
        NotificationSamples.transaction {
          $0.transactionId = "5\(number)"
          $0.originalTransactionId = "5\(number)"
          $0.type = type
          $0.quantity = 3
          $0.expiresDate = nil
          $0.offerDiscountType = OfferDiscountType(rawValue: "ONE_TIME")
        })
      try await books.tell(try #require(try samples.read(signed)))
    }
    let states = try await books.states()
    #expect(states.map(\.transactions.first?.type) == types.map(\.rawValue))
    #expect(states.allSatisfy { $0.renewal == nil && $0.status == nil })
    #expect(states.allSatisfy { $0.transactions.first?.quantity == 3 })
  }

  /// What bears no transaction: its type, its subtype, and what it bears instead.
  private static let withoutLineage:
    [(type: String, subtype: String?, change: @Sendable (inout NotificationPayload) -> Void)] = [
      ("TEST", nil, { _ in }),
      (
        "RENEWAL_EXTENSION", "SUMMARY",
        {
          $0.data = nil
          $0.summary = NotificationSummary()
          $0.summary?.bundleId = "com.example.app"
          $0.summary?.environment = .sandbox
        }
      ),
      ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", externalPurchase),
      ("EXTERNAL_PURCHASE_TOKEN", "CREATED", externalPurchase),
      ("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER", externalPurchase),
      (
        "RESCIND_CONSENT", nil,
        {
          $0.data = nil
          $0.appData = NotificationAppData()
          $0.appData?.bundleId = "com.example.app"
          $0.appData?.environment = .sandbox
        }
      ),
      (
        "UNCLAIM_SEATS", nil,
        {
          $0.data = nil
          $0.unclaimInfo = UnclaimInfo()
          $0.unclaimInfo?.bundleId = "com.example.app"
          $0.unclaimInfo?.environment = .sandbox
        }
      ),
    ]

  private static func externalPurchase(_ payload: inout NotificationPayload) {
    payload.data = nil
    payload.externalPurchaseToken = ExternalPurchaseToken()
    payload.externalPurchaseToken?.bundleId = "com.example.app"
    payload.externalPurchaseToken?.externalPurchaseId = "SANDBOX-1"
  }

  @Test func `what concerns no lineage is kept and changes none`() throws {
    let samples = try NotificationSamples()
    for (type, subtype, change) in Self.withoutLineage {
      let signed = try samples.notification(type, subtype, at: Self.start, change: change)
      #expect(try samples.read(signed) == nil, "\(type) \(subtype ?? "")")
    }
  }

  /// Reference §3.1, as it is written there.
  private static let table = """
    SUBSCRIBED: INITIAL_BUY RESUBSCRIBE
    DID_RENEW: - BILLING_RECOVERY
    DID_CHANGE_RENEWAL_PREF: UPGRADE DOWNGRADE -
    DID_CHANGE_RENEWAL_STATUS: AUTO_RENEW_DISABLED AUTO_RENEW_ENABLED -
    OFFER_REDEEMED: - UPGRADE DOWNGRADE
    DID_FAIL_TO_RENEW: GRACE_PERIOD -
    GRACE_PERIOD_EXPIRED: -
    EXPIRED: VOLUNTARY BILLING_RETRY PRICE_INCREASE PRODUCT_NOT_FOR_SALE -
    PRICE_INCREASE: PENDING ACCEPTED
    REFUND: - SEATS
    REFUND_DECLINED: -
    REFUND_REVERSED: -
    CONSUMPTION_REQUEST: -
    REVOKE: -
    RENEWAL_EXTENDED: -
    RENEWAL_EXTENSION: SUMMARY FAILURE
    ONE_TIME_CHARGE: -
    TEST: -
    EXTERNAL_PURCHASE_TOKEN: UNREPORTED CREATED ACTIVE_TOKEN_REMINDER
    RESCIND_CONSENT: -
    METADATA_UPDATE: -
    MIGRATION: -
    PRICE_CHANGE: -
    UNCLAIM_SEATS: -
    """

  @Test func `every row of Apple's table has its test here`() {
    let wanted = Self.table.split(separator: "\n").flatMap { line -> [String] in
      let words = line.split(separator: " ")
      return words.dropFirst().map { "\(words[0].dropLast()) \($0)" }
    }
    var tested = Set((Self.purchases + Self.ends).map { "\($0.type) \($0.subtype ?? "-")" })
    tested.formUnion(Self.withoutLineage.map { "\($0.type) \($0.subtype ?? "-")" })
    // Each kind of product has its own test above.
    tested.insert("ONE_TIME_CHARGE -")
    #expect(wanted.count == 42)
    #expect(Set(wanted).subtracting(tested).isEmpty)
  }
}
