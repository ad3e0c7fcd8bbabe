import AppStore
import Catalog

extension Ledger {
  /// The offer that applies: the one asked for, otherwise the introductory one if still unused.
  func offer(
    of order: PurchaseOrder, _ subscription: Subscription, _ buyer: Buyer
  ) throws(Refusal) -> OfferRun? {
    guard let name = order.offer else {
      guard let offer = subscription.introductoryOffers.first,
        accounts[buyer.account]?.introducedGroups.contains(subscription.groupID) != true
      else { return nil }
      return OfferRun(offer, type: .introductory, identifier: nil)
    }
    let kinds: [(OfferType, [Offer])] = [
      (.promotional, subscription.promotionalOffers), (.winBack, subscription.winBackOffers),
    ]
    for (type, offers) in kinds {
      if let offer = offers.first(where: { $0.identifier == name }) {
        return OfferRun(offer, type: type, identifier: name)
      }
    }
    if let offer = subscription.offerCodes.first(where: { $0.referenceName == name }) {
      return OfferRun(offer, type: .offerCode, identifier: name)
    }
    throw Refusal(
      .unknownOffer,
      "'\(order.productId)' has no offer '\(name)'. Give the id of a promotional or win-back "
        + "offer, or the name of an offer code; introductory offers apply by themselves.")
  }

  mutating func subscribe(
    _ product: Product, _ subscription: Subscription, _ offer: OfferRun?, _ buyer: Buyer,
    id: UInt64, at now: Int64
  ) throws(Refusal) -> Happening {
    if let known = accounts[buyer.account]?.subscriptions[subscription.groupID],
      let lineage = lineages[known]
    {
      guard lineage.isActive else {
        let period = offer?.applied.type == .introductory ? nil : offer
        return begin(product, subscription, period, buyer, after: lineage, id: id, at: now)
      }
      return try changePlan(lineage, to: product, subscription, buyer, id: id, at: now)
    }
    return begin(product, subscription, offer, buyer, after: nil, id: id, at: now)
  }

  /// The first period, of a new lineage or of one that had ended.
  private mutating func begin(
    _ product: Product, _ subscription: Subscription, _ offer: OfferRun?, _ buyer: Buyer,
    after former: Lineage?, id: UInt64, at now: Int64
  ) -> Happening {
    let schedule = Schedule(from: now, period: offer?.period ?? subscription.period)
    var lineage =
      former
      ?? Lineage(
        originalId: id, account: buyer.account, groupID: subscription.groupID, charges: [],
        current: id, productId: product.id, nextProductId: product.id, schedule: schedule,
        streakStart: now, originalPurchaseDate: now, storefront: buyer.storefront)
    lineage.productId = product.id
    lineage.nextProductId = product.id
    lineage.autoRenews = true
    lineage.standing = .active
    lineage.schedule = schedule
    lineage.offer = offer
    lineage.streakStart = now
    lineage.token = buyer.token
    lineage.storefront = buyer.storefront
    lineage.ownership = buyer.ownership
    var account = accounts[buyer.account] ?? Account()
    account.subscriptions[subscription.groupID] = lineage.originalId
    if offer?.applied.type == .introductory {
      account.introducedGroups.insert(subscription.groupID)
    }
    accounts[buyer.account] = account
    let charge = add(
      to: &lineage, id: id, price: offer?.price ?? product.priceMilliunits, isRenewal: false,
      at: now)
    return happening(
      .subscribed, former == nil ? .initialBuy : .resubscribe, of: charge, at: now)
  }

  /// Records the period that the lineage's schedule ends with as its current one.
  mutating func add(
    to lineage: inout Lineage, id: UInt64, price: Int64, isRenewal: Bool, at now: Int64
  ) -> Charge {
    var charge = Charge(
      id: id, originalId: lineage.originalId, productId: lineage.productId, quantity: 1,
      token: lineage.token, account: lineage.account, storefront: lineage.storefront,
      price: price, purchaseDate: now, originalPurchaseDate: lineage.originalPurchaseDate,
      isRenewal: isRenewal, webOrderLineItemId: takeId(), expiresDate: lineage.schedule.end,
      offer: lineage.offer?.applied)
    charge.ownership = lineage.ownership
    record(charge)
    lineage.charges.append(id)
    lineage.current = id
    save(lineage)
    return charge
  }

  /// Keeps a lineage and notes when it acts next.
  mutating func save(_ lineage: Lineage) {
    lineages[lineage.originalId] = lineage
    // Entries that were overtaken stay until their time; many of them are not worth keeping.
    if due.count > 1_000 + 4 * lineages.count {
      due = DueQueue()
      for other in lineages.values {
        guard let time = dueTime(of: other) else { continue }
        due.insert(DueQueue.Entry(time: time, key: other.originalId))
      }
    }
    if let time = dueTime(of: lineage) {
      due.insert(DueQueue.Entry(time: time, key: lineage.originalId))
    }
  }
}
