import Events

/// When a lineage must be heard of: pure, from what is known of it.
enum ReconcileRule {
  /// The date at which something must have happened: the end of the period or of the grace period;
  /// nil when Apple has said all that there is to say.
  static func date(of lineage: Lineage) -> Int64? {
    let periods = lineage.transactions.filter { $0.expiresDate != nil && $0.isUpgraded != true }
    guard let last = periods.max(by: { ($0.expiresDate ?? 0) < ($1.expiresDate ?? 0) }),
      let expires = last.expiresDate, last.revocationDate == nil
    else { return nil }
    let isOver = lineage.status == 2 || lineage.status == 5
    if isOver, let said = lineage.statusDate, said >= last.signedDate { return nil }
    if let renewal = lineage.renewal, renewal.expirationIntent != nil,
      renewal.isInBillingRetryPeriod != true, renewal.signedDate >= last.signedDate
    {
      return nil
    }
    return max(expires, lineage.renewal?.gracePeriodExpiresDate ?? expires)
  }

  /// When to ask again after Apple's answer; nil when there is nothing more to wait for.
  ///
  /// - Parameters:
  ///   - status: Apple's status of the subscription; nil if Apple names none.
  ///   - end: The end of the period or of the grace period that Apple answered.
  ///   - tries: Answers without news so far.
  static func next(
    status: Int64?, end: Int64, tries: Int64, after margin: Int64, now: Int64
  ) -> Int64? {
    switch status {
    case 2, 5: nil
    // Billing retry lasts up to 60 days; a recovery is told by a notification.
    case 3: now - end > 61 * day ? nil : now + day
    default: max(end + margin, now + min(day, hour << min(tries, 5)))
    }
  }

  private static let hour: Int64 = 3_600_000
  private static let day: Int64 = 86_400_000
}
