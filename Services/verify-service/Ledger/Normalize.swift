import AppStore
import Cryptography
import Events

extension AppStoreFact {
  /// SHA-256 of a signed object inside a notification, lower-case hex.
  func hash(ofPart signed: String) -> String { SHA256.hex(signed) }
}

extension LineageTransaction {
  /// Nil when the transaction lacks what every transaction has.
  init?(_ payload: TransactionPayload, hash: String) {
    guard let transactionId = payload.transactionId, let productId = payload.productId,
      let purchaseDate = payload.purchaseDate
    else { return nil }
    self.init(
      transactionId: transactionId, productId: productId, type: payload.type?.rawValue ?? "",
      quantity: Int64(payload.quantity ?? 1), purchaseDate: purchaseDate,
      signedDate: payload.signedDate ?? purchaseDate, hash: hash)
    originalPurchaseDate = payload.originalPurchaseDate
    expiresDate = payload.expiresDate
    revocationDate = payload.revocationDate
    revocationReason = payload.revocationReason.map { Int64($0.rawValue) }
    revocationType = payload.revocationType?.rawValue
    revocationPercentage = payload.revocationPercentage.map { Int64($0) }
    isUpgraded = payload.isUpgraded
    inAppOwnershipType = payload.inAppOwnershipType?.rawValue
    transactionReason = payload.transactionReason?.rawValue
    subscriptionGroupIdentifier = payload.subscriptionGroupIdentifier
    webOrderLineItemId = payload.webOrderLineItemId
    appAccountToken = payload.appAccountToken.map(normalizedToken)
    offerType = payload.offerType.map { Int64($0.rawValue) }
    offerIdentifier = payload.offerIdentifier
    offerDiscountType = payload.offerDiscountType?.rawValue
    offerPeriod = payload.offerPeriod
    price = payload.price
    currency = payload.currency
    storefront = payload.storefront
    appTransactionId = payload.appTransactionId
    billingPlanType = payload.billingPlanType?.rawValue
    commitmentInfo = payload.commitmentInfo.map { LineageCommitment($0) }
    additionalTransactionReason = payload.additionalTransactionReason
    revokedSeatQuantity = payload.multiSeatInfo?.revokedSeatQuantity.map { Int64($0) }
    previousOriginalTransactionId = payload.previousOriginalTransactionId
  }
}

extension LineageRenewal {
  init(_ payload: RenewalInfoPayload, hash: String) {
    self.init(signedDate: payload.signedDate ?? 0, hash: hash)
    productId = payload.productId
    autoRenewProductId = payload.autoRenewProductId
    autoRenewStatus = payload.autoRenewStatus.map { Int64($0.rawValue) }
    expirationIntent = payload.expirationIntent.map { Int64($0.rawValue) }
    isInBillingRetryPeriod = payload.isInBillingRetryPeriod
    gracePeriodExpiresDate = payload.gracePeriodExpiresDate
    priceIncreaseStatus = payload.priceIncreaseStatus.map { Int64($0.rawValue) }
    offerType = payload.offerType.map { Int64($0.rawValue) }
    offerIdentifier = payload.offerIdentifier
    renewalDate = payload.renewalDate
    renewalPrice = payload.renewalPrice
    currency = payload.currency
    recentSubscriptionStartDate = payload.recentSubscriptionStartDate
    offerDiscountType = payload.offerDiscountType?.rawValue
    offerPeriod = payload.offerPeriod
    eligibleWinBackOfferIds = payload.eligibleWinBackOfferIds
    appAccountToken = payload.appAccountToken.map(normalizedToken)
    appTransactionId = payload.appTransactionId
    renewalBillingPlanType = payload.renewalBillingPlanType?.rawValue
    commitmentInfo = payload.commitmentInfo.map { LineageRenewalCommitment($0) }
  }
}

extension LineageCommitment {
  init(_ payload: TransactionCommitmentInfo) {
    self.init()
    billingPeriodNumber = payload.billingPeriodNumber.map { Int64($0) }
    totalBillingPeriods = payload.totalBillingPeriods.map { Int64($0) }
    commitmentExpiresDate = payload.commitmentExpiresDate
    commitmentPrice = payload.commitmentPrice
  }
}

extension LineageRenewalCommitment {
  init(_ payload: RenewalCommitmentInfo) {
    self.init()
    commitmentAutoRenewProductId = payload.commitmentAutoRenewProductId
    commitmentAutoRenewStatus = payload.commitmentAutoRenewStatus.map { Int64($0.rawValue) }
    commitmentRenewalBillingPlanType = payload.commitmentRenewalBillingPlanType?.rawValue
    commitmentRenewalDate = payload.commitmentRenewalDate
    commitmentRenewalPrice = payload.commitmentRenewalPrice
  }
}

/// Apple's text may be in either case; ours is lower.
private func normalizedToken(_ text: String) -> String {
  UUIDs.normalized(text) ?? text.lowercased()
}
