import Catalog
import Events

extension Entitlements {
  /// The rights that an auto-renewable subscription gives.
  ///
  /// Grace period keeps access until Apple's date, billing retry gives none (App Store Server
  /// Notifications, `DID_FAIL_TO_RENEW`).
  static func subscriptionClaims(_ state: LineageState, _ rules: Rules, at now: Int64) -> [Claim] {
    let lineage = state.lineage
    let policies = rules.policies(lineage.bundleId, lineage.environment)
    guard rules.grants(lineage.bundleId, lineage.environment),
      let period = currentPeriod(state, policies), let expires = period.expiresDate,
      let product = rules.product(period.productId, of: lineage.bundleId)
    else { return [] }
    let renewal = state.renewal
    let endsAt = end(of: period, expires, state, policies)
    return Claim.claims(product, period, lineage, endsAt: endsAt) { entitlement in
      entitlement.expiresAt = expires
      entitlement.startedAt = renewal?.recentSubscriptionStartDate ?? entitlement.startedAt
      entitlement.periodType = PeriodType.of(period)
      entitlement.willRenew = renewal?.autoRenewStatus.map { $0 == 1 }
      if let grace = renewal?.gracePeriodExpiresDate, grace > expires {
        entitlement.gracePeriodExpiresAt = grace
      }
      if let next = renewal?.autoRenewProductId, next != period.productId,
        renewal?.autoRenewStatus == 1
      {
        entitlement.pendingProductId = next
      }
    }
  }

  /// The period that lasts longest among those that count.
  private static func currentPeriod(_ state: LineageState, _ policies: Policies)
    -> LineageTransaction?
  {
    let subscriptions = state.transactions.filter {
      $0.type == ProductKind.autoRenewable.appStoreType && $0.expiresDate != nil
    }
    return
      subscriptions
      .filter { period in !subscriptions.contains { $0.replaces(period) } }
      .filter { $0.isUpgraded != true && !$0.isTakenBack(by: policies, hasEnd: true) }
      .max { ($0.expiresDate ?? 0, $0.transactionId) < ($1.expiresDate ?? 0, $1.transactionId) }
  }

  private static func end(
    of period: LineageTransaction, _ expires: Int64, _ state: LineageState, _ policies: Policies
  ) -> Int64 {
    let renewal = state.renewal
    if let grace = renewal?.gracePeriodExpiresDate, grace > expires { return grace }
    let isNewest = state.transactions.last?.transactionId == period.transactionId
    // Status 1 and 4 are entitled; 2, 3 and 5 are Apple's word that no renewal is coming in time.
    let saysEnded = [2, 3, 5].contains(state.status) || renewal?.isInBillingRetryPeriod == true
    let mayRenew = renewal?.autoRenewStatus.map { $0 == 1 } ?? true
    return isNewest && mayRenew && !saysEnded ? expires + policies.lateRenewal : expires
  }
}

extension LineageTransaction {
  /// Whether this is the upgrade that ended an earlier period: bought, not renewed, within it.
  ///
  /// The earlier period counts no more then, whether or not `isUpgraded` was seen, nor when this is
  /// refunded.
  func replaces(_ earlier: LineageTransaction) -> Bool {
    guard transactionReason == "PURCHASE", transactionId != earlier.transactionId,
      let earlierEnd = earlier.expiresDate
    else { return false }
    return purchaseDate > earlier.purchaseDate && purchaseDate < earlierEnd
  }

  /// Whether a refund or revocation takes the right away now.
  ///
  /// The refund policy is about refunds: an end of Family Sharing always counts at once.
  func isTakenBack(by policies: Policies, hasEnd: Bool) -> Bool {
    guard revocationDate != nil else { return false }
    if revocationType == "FAMILY_REVOKE" || inAppOwnershipType == "FAMILY_SHARED" { return true }
    switch policies.refundAccess {
    case .immediately: return true
    case .atExpiry: return !hasEnd
    case .keep: return false
    }
  }
}

/// How a period was paid, in the words of the contract.
enum PeriodType {
  /// By `offerType`: 1 introductory, 2 promotional, 3 offer code, 4 win-back.
  static func of(_ transaction: LineageTransaction) -> String {
    switch transaction.offerType {
    case 1: transaction.offerDiscountType == "FREE_TRIAL" ? "trial" : "introductory"
    case 2: "promotional"
    case 3: "offer-code"
    case 4: "win-back"
    default: "normal"
    }
  }
}
