import AppStore
import Catalog

extension Ledger {
  /// Another product of the group while the subscription is active.
  ///
  /// Up, or sideways with the same period: at once. Down, or sideways with another: at the renewal.
  mutating func changePlan(
    _ former: Lineage, to product: Product, _ subscription: Subscription, _ buyer: Buyer,
    id: UInt64, at now: Int64
  ) throws(Refusal) -> Happening {
    var lineage = former
    let current = try self.product(lineage.productId)
    if product.id == current.id {
      guard lineage.nextProductId != product.id else {
        throw Refusal(
          .alreadySubscribed,
          "This account is subscribed to '\(product.id)' by \(lineage.originalId). "
            + "Renew it, resume it, or buy with another account or token.")
      }
      lineage.nextProductId = product.id
      save(lineage)
      return happening(.didChangeRenewalPref, about: lineage, at: now)
    }
    let level = current.subscription?.level ?? subscription.level
    let isSideways = subscription.level == level
    let isAtOnce =
      subscription.level < level
      || isSideways && subscription.period == current.subscription?.period
    guard isAtOnce else {
      lineage.nextProductId = product.id
      lineage.autoRenews = true
      save(lineage)
      return happening(.didChangeRenewalPref, .downgrade, about: lineage, at: now)
    }
    if var replaced = charges[lineage.current] {
      replaced.isUpgraded = true
      record(replaced)
    }
    lineage.productId = product.id
    lineage.nextProductId = product.id
    lineage.autoRenews = true
    lineage.offer = nil
    lineage.schedule = Schedule(from: now, period: subscription.period)
    lineage.token = buyer.token
    lineage.storefront = buyer.storefront
    let charge = add(
      to: &lineage, id: id, price: product.priceMilliunits, isRenewal: false, at: now)
    return happening(.didChangeRenewalPref, .upgrade, of: charge, at: now)
  }
}
