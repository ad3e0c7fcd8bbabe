internal import Cryptography

/// What Apple's answer says about each lineage, in the words of signed transactions.
extension VerifyReceiptResponse {
  /// One value per lineage, by the lineage's id.
  ///
  /// Apple's time of the request stands for the date of signing.
  ///
  /// - Parameter now: UNIX milliseconds, for an answer without any date.
  public func lineages(
    bundleId: String, environment: AppEnvironment, receiptHash: String, now: Int64
  ) -> [ReceiptLineage] {
    let date = receipt?.requestDate ?? receipt?.receiptCreationDate ?? now
    let all = (receipt?.inApp ?? []) + [receipt?.transaction].compactMap { $0 } + latestReceiptInfo
    // The newest information stands last and wins.
    var newest: [String: TransactionPayload] = [:]
    for one in all {
      guard let id = one.transactionId,
        let payload = one.payload(bundleId: bundleId, environment, signedDate: date)
      else { continue }
      newest[id] = payload
    }
    let renewals = pendingRenewalInfo.reduce(into: [String: RenewalInfoPayload]()) {
      guard let id = $1.originalTransactionId else { return }
      $0[id] = $1.payload(environment, signedDate: date)
    }
    let groups = Dictionary(grouping: newest.values) {
      $0.originalTransactionId ?? $0.transactionId ?? ""
    }
    return groups.keys.sorted().map { id in
      let transactions = (groups[id] ?? []).sorted {
        ($0.purchaseDate ?? 0, $0.transactionId ?? "")
          < ($1.purchaseDate ?? 0, $1.transactionId ?? "")
      }
      return ReceiptLineage(
        bundleId: bundleId, environment: environment, originalTransactionId: id,
        transactions: transactions, receiptHash: receiptHash, signedDate: date,
        renewal: renewals[id])
    }
  }
}

extension VerifyReceiptTransaction {
  /// Nil without what every transaction has.
  fileprivate func payload(
    bundleId: String, _ environment: AppEnvironment, signedDate: Int64
  ) -> TransactionPayload? {
    guard let transactionId, let productId, let purchaseDate else { return nil }
    var payload = TransactionPayload()
    payload.transactionId = transactionId
    payload.originalTransactionId = originalTransactionId ?? transactionId
    payload.webOrderLineItemId = webOrderLineItemId
    payload.bundleId = bundleId
    payload.productId = productId
    payload.subscriptionGroupIdentifier = subscriptionGroupIdentifier
    payload.purchaseDate = purchaseDate
    payload.originalPurchaseDate = originalPurchaseDate
    payload.expiresDate = expiresDate
    payload.quantity = quantity.map { Int32(clamping: $0) }
    // Only an auto-renewable one has an end here.
    payload.type = expiresDate.map { _ in .autoRenewable }
    payload.appAccountToken = appAccountToken
    payload.inAppOwnershipType = inAppOwnershipType
    payload.signedDate = signedDate
    payload.revocationDate = cancellationDate
    payload.revocationReason = cancellationDate == nil ? nil : cancellationReason
    payload.isUpgraded = isUpgraded
    payload.environment = environment
    if let promotionalOfferId {
      payload.offerType = .promotional
      payload.offerIdentifier = promotionalOfferId
    } else if let offerCodeRefName {
      payload.offerType = .offerCode
      payload.offerIdentifier = offerCodeRefName
    } else if isTrialPeriod == true || isInIntroOfferPeriod == true {
      payload.offerType = .introductory
    }
    if isTrialPeriod == true { payload.offerDiscountType = .freeTrial }
    return payload
  }
}

extension VerifyReceiptRenewal {
  fileprivate func payload(
    _ environment: AppEnvironment, signedDate: Int64
  ) -> RenewalInfoPayload {
    var payload = RenewalInfoPayload()
    payload.originalTransactionId = originalTransactionId
    payload.productId = productId
    payload.autoRenewProductId = autoRenewProductId
    payload.autoRenewStatus = autoRenewStatus
    payload.expirationIntent = expirationIntent
    payload.isInBillingRetryPeriod = isInBillingRetryPeriod
    payload.gracePeriodExpiresDate = gracePeriodExpiresDate
    payload.priceIncreaseStatus = priceConsentStatus ?? priceIncreaseStatus
    payload.signedDate = signedDate
    payload.environment = environment
    return payload
  }
}
