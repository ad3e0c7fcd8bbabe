extension SubscriptionStatus {
  /// The state by the dates of the newest transaction and renewal info, for facts without a status.
  ///
  /// `now` is UNIX milliseconds.
  public static func derived(
    from transaction: TransactionPayload, _ renewal: RenewalInfoPayload?, now: Int64
  ) -> SubscriptionStatus {
    if transaction.revocationDate != nil { return .revoked }
    if let expires = transaction.expiresDate, expires > now { return .active }
    if let grace = renewal?.gracePeriodExpiresDate, grace > now { return .gracePeriod }
    return renewal?.isInBillingRetryPeriod == true ? .billingRetry : .expired
  }
}
