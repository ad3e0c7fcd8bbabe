import AppStore
import Catalog

extension Ledger {
  /// What Apple would sign about a transaction, without `signedDate`.
  func payload(of charge: Charge) -> TransactionPayload {
    var payload = TransactionPayload()
    payload.transactionId = String(charge.id)
    payload.originalTransactionId = String(charge.originalId)
    payload.webOrderLineItemId = charge.webOrderLineItemId.map { String($0) }
    payload.bundleId = seller.bundleId
    payload.environment = seller.environment
    payload.productId = charge.productId
    if let product = catalog.product(charge.productId) {
      payload.type = ProductType(rawValue: product.kind.appStoreType)
      payload.subscriptionGroupIdentifier = product.subscription?.groupID
    }
    payload.purchaseDate = charge.purchaseDate
    payload.originalPurchaseDate = charge.originalPurchaseDate
    payload.expiresDate = charge.expiresDate
    payload.quantity = charge.quantity
    payload.appAccountToken = charge.token
    payload.inAppOwnershipType = charge.ownership
    payload.transactionReason = charge.isRenewal ? .renewal : .purchase
    payload.storefront = charge.storefront.code
    payload.storefrontId = charge.storefront.id
    payload.currency = charge.storefront.currency
    payload.price = charge.price
    payload.appTransactionId = appTransactionId(charge.account)
    payload.isUpgraded = charge.isUpgraded ? true : nil
    if let offer = charge.offer {
      payload.offerType = offer.type
      payload.offerIdentifier = offer.identifier
      payload.offerDiscountType = offer.discount
      payload.offerPeriod = offer.period
    }
    if let revocation = charge.revocation {
      payload.revocationDate = revocation.date
      payload.revocationReason = revocation.reason
      payload.revocationType = revocation.type
      payload.revocationPercentage = revocation.percentage
    }
    return payload
  }

  /// What Apple would sign about the next period of a subscription, without `signedDate`.
  func renewalInfo(of lineage: Lineage) -> RenewalInfoPayload {
    var info = RenewalInfoPayload()
    info.originalTransactionId = String(lineage.originalId)
    info.productId = lineage.productId
    info.autoRenewProductId = lineage.nextProductId
    info.autoRenewStatus = lineage.autoRenews ? .on : .off
    if case .expired(let intent) = lineage.standing { info.expirationIntent = intent }
    info.isInBillingRetryPeriod = false
    info.environment = seller.environment
    info.recentSubscriptionStartDate = lineage.streakStart
    info.renewalDate = charges[lineage.current]?.expiresDate
    info.currency = lineage.storefront.currency
    info.appAccountToken = lineage.token
    info.appTransactionId = appTransactionId(lineage.account)
    if lineage.autoRenews, let product = catalog.product(lineage.nextProductId) {
      info.renewalPrice = product.priceMilliunits
      if let run = lineage.offer, run.remaining > 0, lineage.nextProductId == lineage.productId {
        info.renewalPrice = run.price
        info.offerType = run.applied.type
        info.offerIdentifier = run.applied.identifier
        info.offerDiscountType = run.applied.discount
        info.offerPeriod = run.applied.period
      }
    }
    return info
  }

  /// A happening about a transaction, with its subscription if it has one.
  func happening(
    _ type: NotificationType, _ subtype: NotificationSubtype? = nil, of charge: Charge,
    at now: Int64
  ) -> Happening {
    let lineage = lineages[charge.originalId]
    return Happening(
      type: type, subtype: subtype, at: now, transaction: payload(of: charge),
      renewalInfo: lineage.map { renewalInfo(of: $0) }, status: lineage?.status)
  }

  /// A happening about a subscription, with its current period.
  func happening(
    _ type: NotificationType, _ subtype: NotificationSubtype? = nil, about lineage: Lineage,
    at now: Int64
  ) -> Happening {
    Happening(
      type: type, subtype: subtype, at: now,
      transaction: charges[lineage.current].map { payload(of: $0) },
      renewalInfo: renewalInfo(of: lineage), status: lineage.status)
  }
}
