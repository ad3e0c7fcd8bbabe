import Events

/// Everything from which a customer's rights are computed, besides catalog, policies and time.
struct Holdings: Sendable {
  /// Whose: the policy `listed` of the sandbox asks for it.
  var customer: String
  /// The lineages that the customer has.
  var lineages: [HeldLineage]
  /// The grants, also those that ended.
  var grants: [Grant]

  init(customer: String, lineages: [HeldLineage] = [], grants: [Grant] = []) {
    self.customer = customer
    self.lineages = lineages
    self.grants = grants
  }
}

/// A lineage and what was seen of it over its revisions.
struct HeldLineage: Sendable {
  var state: LineageState
  var sightings: Sightings

  init(_ state: LineageState, _ sightings: Sightings = Sightings()) {
    self.state = state
    self.sightings = sightings
  }
}

/// When something about a subscription was seen first: a fold over the revisions of its lineage.
struct Sightings: Codable, Equatable, Sendable {
  /// When Apple first said that it will not renew; nil while it will.
  var unsubscribedAt: Int64?
  /// When Apple first said that it cannot bill; nil once it could again.
  var billingIssueAt: Int64?

  /// What was seen up to the next revision.
  func seeing(_ state: LineageState) -> Sightings {
    guard let renewal = state.currentRenewal else { return Sightings() }
    let isOff = renewal.autoRenewStatus == 0
    let isUnpaid =
      renewal.isInBillingRetryPeriod == true || state.graceEnd(renewal) != nil
    return Sightings(
      unsubscribedAt: isOff ? unsubscribedAt ?? renewal.signedDate : nil,
      billingIssueAt: isUnpaid ? billingIssueAt ?? renewal.signedDate : nil)
  }
}

extension LineageState {
  /// The auto-renewable periods, oldest first.
  var periods: [LineageTransaction] {
    transactions.filter { $0.type == "Auto-Renewable Subscription" && $0.expiresDate != nil }
  }

  /// The renewal info, unless a newer period shows that it speaks of a former one.
  ///
  /// Texts of one notification are signed within moments of each other, in either order.
  var currentRenewal: LineageRenewal? {
    guard let renewal else { return nil }
    guard let newest = periods.last else { return renewal }
    let known = min(newest.purchaseDate, newest.signedDate)
    return renewal.signedDate + 60_000 < known ? nil : renewal
  }

  /// Apple's word on the state of the newest period; nil where that word is older than the period.
  var currentStatus: Int64? {
    guard let status else { return nil }
    guard let newest = periods.last, let statusDate else { return status }
    return statusDate + 60_000 < min(newest.purchaseDate, newest.signedDate) ? nil : status
  }

  /// Until when the grace period keeps the newest period alive; nil without one.
  ///
  /// Apple's date may stay in the text after the payment came; it counts only beyond the newest
  /// period, and not once Apple says expired, billing retry or revoked.
  func graceEnd(_ renewal: LineageRenewal) -> Int64? {
    guard let grace = renewal.gracePeriodExpiresDate, let newest = periods.last,
      let expires = newest.expiresDate, grace > expires,
      ![2, 3, 5].contains(currentStatus)
    else { return nil }
    return grace
  }
}
