import Catalog
import Events

extension Entitlements {
  /// The rights that an auto-renewable subscription gives.
  ///
  /// Grace period keeps access until Apple's date, billing retry gives none (App Store Server
  /// Notifications, `DID_FAIL_TO_RENEW`).
  static func subscriptionClaims(_ held: HeldLineage, _ rules: Rules, at now: Int64) -> [Claim] {
    let state = held.state
    let lineage = state.lineage
    let policies = rules.policies(lineage.bundleId, lineage.environment)
    guard let choice = PeriodChoice.choose(state, policies, at: now),
      let expires = choice.period.expiresDate,
      let product = rules.product(choice.period.productId, of: lineage.bundleId)
    else { return [] }
    let period = choice.period
    let renewal = choice.isNewest ? state.currentRenewal : nil
    let started =
      renewal?.recentSubscriptionStartDate ?? period.originalPurchaseDate ?? period.purchaseDate
    let isTakenBack = period.isTakenBack(by: policies, hasEnd: true)
    var claims = Claim.claims(
      product, period, lineage, bought: started, endsAt: choice.endsAt, isTakenBack: isTakenBack
    ) { entitlement in
      entitlement.expiresAt = expires
      entitlement.startedAt = started
      entitlement.periodType = PeriodType.of(period)
      entitlement.offerId = period.offerIdentifier
      entitlement.commitment = Commitment(period, renewal)
      entitlement.willRenew = state.willRenew(after: period, renewal)
      if renewal != nil {
        entitlement.unsubscribeDetectedAt = held.sightings.unsubscribedAt
        entitlement.billingIssueDetectedAt = held.sightings.billingIssueAt
      }
      if !isTakenBack, let renewal { show(renewal, of: period, state, in: &entitlement) }
      if let next = choice.next { entitlement.pendingProductId = next.productId }
    }
    for index in claims.indices { claims[index].changesAt = choice.next?.purchaseDate }
    return claims
  }

  /// What Apple says of the next period.
  private static func show(
    _ renewal: LineageRenewal, of period: LineageTransaction, _ state: LineageState,
    in entitlement: inout Entitlement
  ) {
    if let grace = state.graceEnd(renewal) {
      entitlement.gracePeriodExpiresAt = grace
      entitlement.status = "grace-period"
    } else if renewal.isInBillingRetryPeriod == true || state.currentStatus == 3 {
      entitlement.status = "billing-retry"
    }
    if let next = renewal.autoRenewProductId, next != period.productId,
      renewal.autoRenewStatus == 1
    {
      entitlement.pendingProductId = next
    }
    entitlement.priceConsent =
      switch renewal.priceIncreaseStatus {
      case 0: "pending"
      case 1: "accepted"
      default: nil
      }
  }
}

/// Which of a subscription's periods counts at a time: one level of a group is active, never two.
struct PeriodChoice {
  var period: LineageTransaction
  /// When it really ends.
  var endsAt: Int64
  /// Whether it is the newest of all, so that renewal info and status speak of it.
  var isNewest: Bool
  /// The period of another product that follows, paid already: a downgrade that was billed early.
  var next: LineageTransaction?

  /// Nil when there is no period at all, or none but replaced ones.
  static func choose(_ state: LineageState, _ policies: Policies, at now: Int64) -> PeriodChoice? {
    let all = state.periods
    // Replaced first, refunded second: the refund of an upgrade revives nothing older.
    let standing = all.filter { period in
      period.isUpgraded != true && !all.contains { $0.replaces(period) }
    }
    let choices = standing.compactMap { period -> PeriodChoice? in
      guard let expires = period.expiresDate else { return nil }
      let isNewest = all.last?.transactionId == period.transactionId
      return PeriodChoice(
        period: period,
        endsAt: end(of: period, expires, isNewest: isNewest, state, policies), isNewest: isNewest)
    }
    let paid = choices.filter { !$0.period.isTakenBack(by: policies, hasEnd: true) }
    let current = paid.filter { now < $0.endsAt }
    let begun = current.filter { $0.period.purchaseDate <= now }
    // A clock behind Apple's must not delay a purchase: the first to come counts as begun.
    guard var chosen = begun.max(by: precedes) ?? current.min(by: precedes) else {
      return (paid.isEmpty ? choices : paid).max { $0.endsAt < $1.endsAt }
    }
    for later in current.sorted(by: precedes) where precedes(chosen, later) {
      guard later.period.productId == chosen.period.productId else {
        chosen.next = later.period
        chosen.endsAt = max(chosen.endsAt, later.period.purchaseDate)
        break
      }
      chosen = later
    }
    return chosen
  }

  private static func precedes(_ one: PeriodChoice, _ other: PeriodChoice) -> Bool {
    let (left, right) = (one.period, other.period)
    return (left.purchaseDate, left.expiresDate ?? 0, left.transactionId)
      < (right.purchaseDate, right.expiresDate ?? 0, right.transactionId)
  }

  private static func end(
    of period: LineageTransaction, _ expires: Int64, isNewest: Bool, _ state: LineageState,
    _ policies: Policies
  ) -> Int64 {
    guard isNewest else { return expires }
    let renewal = state.currentRenewal
    if let grace = renewal.flatMap(state.graceEnd) { return grace }
    // Status 1 and 4 are entitled; 2, 3 and 5 are Apple's word that no renewal is coming in time.
    let saysEnded =
      [2, 3, 5].contains(state.currentStatus) || renewal?.isInBillingRetryPeriod == true
    let mayRenew = state.willRenew(after: period, renewal) ?? true
    return mayRenew && !saysEnded ? expires + policies.lateRenewal : expires
  }
}

extension LineageState {
  /// Whether Apple will try to renew; nil when it has not said so.
  ///
  /// Within a commitment that is billed monthly the next period comes whatever the customer chose for
  /// the time after it.
  func willRenew(after period: LineageTransaction, _ renewal: LineageRenewal?) -> Bool? {
    if let commitment = period.commitmentInfo, let number = commitment.billingPeriodNumber,
      let total = commitment.totalBillingPeriods, number < total
    {
      return currentStatus != 2
    }
    return renewal?.autoRenewStatus.map { $0 == 1 }
  }
}

extension Commitment {
  /// Nil for a period that is part of none.
  init?(_ period: LineageTransaction, _ renewal: LineageRenewal?) {
    guard let info = period.commitmentInfo else { return nil }
    self.init()
    self.period = info.billingPeriodNumber
    periods = info.totalBillingPeriods
    expiresAt = info.commitmentExpiresDate
    willRenew = renewal?.commitmentInfo?.commitmentAutoRenewStatus.map { $0 == 1 }
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
    if endStatus == "revoked" { return true }
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
