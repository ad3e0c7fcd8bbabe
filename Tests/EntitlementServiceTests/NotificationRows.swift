import Events
import Testing

@testable import entitlement_service

/// One row of the table of Apple's notifications: what was known, what the notification brings, and
/// what the customer then owns and others are told.
struct NotificationRow: Sendable, CustomTestStringConvertible {
  let type: String
  let subtype: String?
  /// What had been told before, if anything.
  let before: LineageState?
  /// What the lineage is after it.
  let after: LineageState
  /// The day of the notification.
  let on: Int64
  /// The rights after it.
  let rights: [String]
  /// What is told of it: `activated pro`, `coins +100 = 100`.
  let told: [String]
  /// What the right `pro`, or else the only one, shows after it.
  let shows: @Sendable (Entitlement) -> Bool

  init(
    _ type: String, before: LineageState? = nil, _ after: LineageState, on: Int64 = 0,
    rights: [String] = [], told: [String] = [],
    shows: @escaping @Sendable (Entitlement) -> Bool = { _ in true }
  ) {
    self.init(
      type, nil, before: before, after, on: on, rights: rights, told: told, shows: shows)
  }

  init(
    _ type: String, _ subtype: String?, before: LineageState? = nil, _ after: LineageState,
    on: Int64 = 0, rights: [String] = [], told: [String] = [],
    shows: @escaping @Sendable (Entitlement) -> Bool = { _ in true }
  ) {
    self.type = type
    self.subtype = subtype
    self.before = before
    self.after = after
    self.on = on
    self.rights = rights
    self.told = told
    self.shows = shows
  }

  var testDescription: String { [type, subtype].compactMap { $0 }.joined(separator: "/") }
}

/// The states from which the rows are made.
private enum Known {
  /// A monthly subscription in its first month, renewing.
  static let active = subscribed(
    [monthly("1", from: 0, to: 30, reason: "PURCHASE")], signed: 0, status: 1)
  static let expired = subscribed(
    [monthly("1", from: 0, to: 30, reason: "PURCHASE")], signed: 30, status: 2
  ) {
    $0.autoRenewStatus = 0
    $0.expirationIntent = 1
  }
  static let off = subscribed(
    [monthly("1", from: 0, to: 30, reason: "PURCHASE")], signed: 10, status: 1
  ) { $0.autoRenewStatus = 0 }
  static let grace = subscribed(
    [monthly("1", from: 0, to: 30, reason: "PURCHASE")], signed: 29, status: 4
  ) {
    $0.isInBillingRetryPeriod = true
    $0.gracePeriodExpiresDate = day(46)
  }
  static let retry = subscribed(
    [monthly("1", from: 0, to: 30, reason: "PURCHASE")], signed: 30, status: 3
  ) { $0.isInBillingRetryPeriod = true }
  static let themes = lineage("9", [transaction("9", "themes.all", "Non-Consumable", on: 0)])
  static let coins = lineage("8", [transaction("8", "coins.100", "Consumable", on: 0)])
  static let refundedCoins = lineage(
    "8",
    [
      transaction("8", "coins.100", "Consumable", on: 0) {
        $0.revocationDate = day(5)
        $0.revocationType = "REFUND_FULL"
      }
    ])
  static let yearly = subscribed(
    [transaction("1", "pro.yearly", "Auto-Renewable Subscription", on: 0, until: 365)], signed: 0,
    status: 1)

  static func subscribed(
    _ periods: [LineageTransaction], signed: Int64, status: Int64,
    _ fill: (inout LineageRenewal) -> Void = { _ in }
  ) -> LineageState {
    lineage("1", periods) {
      $0.renewal = renewal {
        $0.signedDate = day(signed)
        $0.autoRenewProductId = periods.last?.productId
        fill(&$0)
      }
      $0.status = status
      $0.statusDate = day(signed)
    }
  }

  /// The same with something else about what comes next.
  static func active(on: Int64, _ fill: (inout LineageRenewal) -> Void) -> LineageState {
    subscribed(active.transactions, signed: on, status: 1, fill)
  }
}

private let month = [monthly("1", from: 0, to: 30, reason: "PURCHASE")]

/// Every row of `app-store.md` §3.1 that reaches a lineage, in its order.
let subscriptionRows: [NotificationRow] = [
  NotificationRow(
    "SUBSCRIBED", "INITIAL_BUY", Known.active, rights: ["pro"], told: ["activated pro"],
    shows: {
      $0.status == "active" && $0.willRenew == true && $0.expiresAt == day(30)
        && $0.periodType == "normal" && $0.startedAt == day(0)
    }),
  NotificationRow(
    "SUBSCRIBED", "INITIAL_BUY",
    Known.subscribed(
      [
        monthly("1", from: 0, to: 7, reason: "PURCHASE") {
          $0.offerType = 1
          $0.offerDiscountType = "FREE_TRIAL"
        }
      ], signed: 0, status: 1), rights: ["pro"], told: ["activated pro"],
    shows: { $0.periodType == "trial" && $0.expiresAt == day(7) }),
  NotificationRow(
    "SUBSCRIBED", "RESUBSCRIBE", before: Known.expired,
    Known.subscribed(
      month + [
        monthly("2", from: 90, to: 120, reason: "PURCHASE") {
          $0.offerType = 4
          $0.offerIdentifier = "come-back"
        }
      ], signed: 90, status: 1), on: 90, rights: ["pro"], told: ["activated pro"],
    shows: {
      $0.periodType == "win-back" && $0.offerId == "come-back" && $0.willRenew == true
        && $0.unsubscribeDetectedAt == nil
    }),
  NotificationRow(
    "DID_RENEW", before: Known.active,
    Known.subscribed(month + [monthly("2", from: 30, to: 60)], signed: 30, status: 1), on: 30,
    rights: ["pro"], told: ["updated pro"], shows: { $0.expiresAt == day(60) }),
  NotificationRow(
    "DID_RENEW", "BILLING_RECOVERY", before: Known.retry,
    Known.subscribed(month + [monthly("2", from: 40, to: 70)], signed: 40, status: 1), on: 40,
    rights: ["pro"], told: ["activated pro"],
    shows: { $0.status == "active" && $0.billingIssueDetectedAt == nil && $0.expiresAt == day(70) }),
  NotificationRow(
    "DID_RENEW", "BILLING_RECOVERY", before: Known.grace,
    // Paid within grace: the billing date is unchanged, and Apple's grace date may still stand there.
    Known.subscribed(month + [monthly("2", from: 30, to: 60)], signed: 35, status: 1) {
      $0.gracePeriodExpiresDate = day(46)
    }, on: 35, rights: ["pro"], told: ["updated pro"],
    shows: { $0.status == "active" && $0.gracePeriodExpiresAt == nil && $0.expiresAt == day(60) }),
  NotificationRow(
    "DID_CHANGE_RENEWAL_PREF", "UPGRADE", before: Known.active,
    Known.subscribed(
      [
        monthly("1", from: 0, to: 30, reason: "PURCHASE") { $0.isUpgraded = true },
        transaction("2", "pro.yearly", "Auto-Renewable Subscription", on: 10, until: 375),
      ], signed: 10, status: 1), on: 10, rights: ["extra", "pro"],
    told: ["activated extra", "updated pro"],
    shows: { $0.productId == "pro.yearly" && $0.expiresAt == day(375) }),
  NotificationRow(
    "DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", before: Known.yearly,
    Known.subscribed(Known.yearly.transactions, signed: 5, status: 1) {
      $0.autoRenewProductId = "pro.monthly"
    }, on: 5, rights: ["extra", "pro"], told: ["updated extra", "updated pro"],
    shows: { $0.productId == "pro.yearly" && $0.pendingProductId == "pro.monthly" }),
  NotificationRow(
    "DID_CHANGE_RENEWAL_PREF",
    before: Known.subscribed(Known.yearly.transactions, signed: 5, status: 1) {
      $0.autoRenewProductId = "pro.monthly"
    }, Known.subscribed(Known.yearly.transactions, signed: 6, status: 1), on: 6,
    rights: ["extra", "pro"], told: ["updated extra", "updated pro"],
    shows: { $0.pendingProductId == nil }),
  NotificationRow(
    "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", before: Known.active, Known.off, on: 10,
    rights: ["pro"], told: ["updated pro"],
    shows: {
      $0.willRenew == false && $0.unsubscribeDetectedAt == day(10) && $0.expiresAt == day(30)
    }),
  NotificationRow(
    "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", before: Known.off,
    Known.active(on: 12) { _ in }, on: 12, rights: ["pro"], told: ["updated pro"],
    shows: { $0.willRenew == true && $0.unsubscribeDetectedAt == nil }),
  NotificationRow(
    "DID_CHANGE_RENEWAL_STATUS", before: Known.active,
    Known.active(on: 8) { $0.autoRenewStatus = 0 },
    on: 8, rights: ["pro"], told: ["updated pro"], shows: { $0.willRenew == false }),
  NotificationRow(
    "OFFER_REDEEMED", before: Known.active,
    Known.active(on: 9) {
      $0.offerType = 3
      $0.offerIdentifier = "half"
    }, on: 9, rights: ["pro"], shows: { $0.periodType == "normal" }),
  NotificationRow(
    "OFFER_REDEEMED", "UPGRADE", before: Known.active,
    Known.subscribed(
      month + [
        transaction("2", "pro.yearly", "Auto-Renewable Subscription", on: 10, until: 375) {
          $0.offerType = 2
          $0.offerIdentifier = "first-year"
        }
      ], signed: 10, status: 1), on: 10, rights: ["extra", "pro"],
    told: ["activated extra", "updated pro"],
    shows: { $0.periodType == "promotional" && $0.offerId == "first-year" }),
  NotificationRow(
    "OFFER_REDEEMED", "DOWNGRADE", before: Known.yearly,
    Known.subscribed(Known.yearly.transactions, signed: 5, status: 1) {
      $0.autoRenewProductId = "pro.monthly"
      $0.offerType = 3
    }, on: 5, rights: ["extra", "pro"], told: ["updated extra", "updated pro"],
    shows: { $0.productId == "pro.yearly" && $0.pendingProductId == "pro.monthly" }),
  NotificationRow(
    "DID_FAIL_TO_RENEW", "GRACE_PERIOD", before: Known.active, Known.grace, on: 29,
    rights: ["pro"], told: ["updated pro"],
    shows: {
      $0.status == "grace-period" && $0.gracePeriodExpiresAt == day(46)
        && $0.billingIssueDetectedAt == day(29)
    }),
  NotificationRow(
    "DID_FAIL_TO_RENEW", before: Known.active, Known.retry, on: 30, told: ["deactivated pro"],
    shows: {
      $0.status == "billing-retry" && $0.willRenew == true && $0.billingIssueDetectedAt == day(30)
    }),
  NotificationRow(
    "GRACE_PERIOD_EXPIRED", before: Known.grace,
    Known.subscribed(month, signed: 46, status: 3) {
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = day(46)
    }, on: 46, told: ["deactivated pro"],
    shows: { $0.status == "billing-retry" && $0.billingIssueDetectedAt == day(29) }),
  NotificationRow(
    "EXPIRED", "VOLUNTARY", before: Known.off, Known.expired, on: 30, told: ["deactivated pro"],
    shows: { $0.status == "expired" && $0.willRenew == false }),
  NotificationRow(
    "EXPIRED", "BILLING_RETRY", before: Known.grace,
    Known.subscribed(month, signed: 90, status: 2) {
      $0.autoRenewStatus = 0
      $0.expirationIntent = 2
    }, on: 90,
    // The right ended with the grace period; now it is known that nothing comes of it any more.
    told: ["deactivated pro"],
    shows: { !$0.isActive && $0.status == "expired" && $0.willRenew == false }),
  NotificationRow(
    "EXPIRED", "PRICE_INCREASE",
    before: Known.active(on: 20) { $0.priceIncreaseStatus = 0 },
    Known.subscribed(month, signed: 30, status: 2) { $0.expirationIntent = 3 }, on: 30,
    told: ["deactivated pro"], shows: { $0.status == "expired" }),
  NotificationRow(
    "EXPIRED", "PRODUCT_NOT_FOR_SALE", before: Known.active,
    Known.subscribed(month, signed: 30, status: 2) { $0.expirationIntent = 4 }, on: 30,
    told: ["deactivated pro"]),
  NotificationRow(
    "EXPIRED", before: Known.active,
    Known.subscribed(month, signed: 30, status: 2) { $0.expirationIntent = 5 }, on: 30,
    told: ["deactivated pro"]),
  NotificationRow(
    "PRICE_INCREASE", "PENDING", before: Known.active,
    Known.active(on: 20) { $0.priceIncreaseStatus = 0 }, on: 20, rights: ["pro"],
    told: ["updated pro"], shows: { $0.priceConsent == "pending" }),
  NotificationRow(
    "PRICE_INCREASE", "ACCEPTED", before: Known.active(on: 20) { $0.priceIncreaseStatus = 0 },
    Known.active(on: 21) { $0.priceIncreaseStatus = 1 }, on: 21, rights: ["pro"],
    told: ["updated pro"], shows: { $0.priceConsent == "accepted" }),
  NotificationRow(
    "REFUND", before: Known.active,
    Known.subscribed(
      [
        monthly("1", from: 0, to: 30, reason: "PURCHASE") {
          $0.revocationDate = day(5)
          $0.revocationType = "REFUND_FULL"
        }
      ], signed: 5, status: 5), on: 5, told: ["deactivated pro"],
    shows: { $0.status == "refunded" && $0.refundedAt == day(5) && $0.willRenew == false }),
  NotificationRow(
    "REFUND_DECLINED", before: Known.active, Known.active, on: 6, rights: ["pro"]),
  NotificationRow(
    "REFUND_REVERSED",
    before: Known.subscribed(
      [monthly("1", from: 0, to: 30, reason: "PURCHASE") { $0.revocationDate = day(5) }],
      signed: 5, status: 5), Known.subscribed(month, signed: 8, status: 1), on: 8,
    rights: ["pro"], told: ["activated pro"],
    shows: { $0.refundedAt == nil && $0.expiresAt == day(30) && $0.status == "active" }),
  NotificationRow(
    "CONSUMPTION_REQUEST", before: Known.active, Known.active, on: 6, rights: ["pro"],
    told: ["consumption.reported"]),
  NotificationRow(
    "REVOKE",
    before: lineage(
      "1", [monthly("1", from: 0, to: 30) { $0.inAppOwnershipType = "FAMILY_SHARED" }]),
    lineage(
      "1",
      [
        monthly("1", from: 0, to: 30) {
          $0.inAppOwnershipType = "FAMILY_SHARED"
          $0.revocationDate = day(7)
          $0.revocationType = "FAMILY_REVOKE"
        }
      ]), on: 7, told: ["deactivated pro"], shows: { $0.status == "revoked" }),
  NotificationRow(
    "RENEWAL_EXTENDED", before: Known.active,
    Known.subscribed(
      [monthly("1", from: 0, to: 37, reason: "PURCHASE")], signed: 20, status: 1), on: 20,
    rights: ["pro"], told: ["updated pro"], shows: { $0.expiresAt == day(37) }),
  NotificationRow(
    "RENEWAL_EXTENSION", "FAILURE", before: Known.active, Known.active, on: 20, rights: ["pro"]),
  NotificationRow(
    "METADATA_UPDATE", before: Known.active, Known.active, on: 20, rights: ["pro"]),
  NotificationRow("MIGRATION", before: Known.active, Known.active, on: 20, rights: ["pro"]),
  NotificationRow("PRICE_CHANGE", before: Known.active, Known.active, on: 20, rights: ["pro"]),
  // A seat-based refund sets no revocationDate: the purchaser keeps what is left.
  NotificationRow("REFUND", "SEATS", before: Known.active, Known.active, on: 6, rights: ["pro"]),
]

/// The rows of purchases that are no subscriptions.
let oneTimeRows: [NotificationRow] = [
  NotificationRow(
    "ONE_TIME_CHARGE", Known.themes, rights: ["themes"], told: ["activated themes"],
    shows: { $0.expiresAt == nil && $0.willRenew == nil }),
  NotificationRow(
    "ONE_TIME_CHARGE",
    lineage("7", [transaction("7", "season.pass", "Non-Renewing Subscription", on: 0)]),
    rights: ["season"], told: ["activated season"], shows: { $0.expiresAt == day(90) }),
  NotificationRow(
    "ONE_TIME_CHARGE",
    lineage("8", [transaction("8", "coins.100", "Consumable", on: 0) { $0.quantity = 3 }]),
    told: ["coins +300 = 300"]),
  NotificationRow(
    "ONE_TIME_CHARGE",
    lineage(
      "9",
      [
        transaction("9", "themes.all", "Non-Consumable", on: 0) {
          $0.inAppOwnershipType = "FAMILY_SHARED"
        }
      ]), rights: ["themes"], told: ["activated themes"],
    shows: { $0.ownershipType == "FAMILY_SHARED" }),
  NotificationRow(
    "REFUND", before: Known.themes,
    lineage(
      "9", [transaction("9", "themes.all", "Non-Consumable", on: 0) { $0.revocationDate = day(4) }]),
    on: 4, told: ["deactivated themes"], shows: { $0.status == "refunded" }),
  NotificationRow(
    "REFUND", before: Known.coins, Known.refundedCoins, on: 5, told: ["coins -100 = 0"]),
  NotificationRow(
    "REFUND_REVERSED", before: Known.refundedCoins, Known.coins, on: 9,
    told: ["coins +100 = 100"]),
  NotificationRow(
    "CONSUMPTION_REQUEST", before: Known.coins, Known.coins, on: 3, told: ["consumption.reported"]),
  NotificationRow(
    "REVOKE",
    before: lineage(
      "9",
      [
        transaction("9", "themes.all", "Non-Consumable", on: 0) {
          $0.inAppOwnershipType = "FAMILY_SHARED"
        }
      ]),
    lineage(
      "9",
      [
        transaction("9", "themes.all", "Non-Consumable", on: 0) {
          $0.inAppOwnershipType = "FAMILY_SHARED"
          $0.revocationDate = day(7)
        }
      ]), on: 7, told: ["deactivated themes"], shows: { $0.status == "revoked" }),
]
