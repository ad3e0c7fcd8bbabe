import AppStore
import Catalog

extension Ledger {
  /// The next moment at which a subscription acts by itself; nil if none will.
  var nextDue: Int64? {
    mutating get {
      while let entry = due.first {
        if let lineage = lineages[entry.key], dueTime(of: lineage) == entry.time {
          return entry.time
        }
        due.removeFirst()
      }
      return nil
    }
  }

  /// When a subscription renews or ends by itself.
  func dueTime(of lineage: Lineage) -> Int64? {
    guard lineage.isActive, let charge = charges[lineage.current], let end = charge.expiresDate
    else { return nil }
    guard lineage.autoRenews else { return end }
    return end - min(Self.renewalLead, max(0, end - charge.purchaseDate) / 10)
  }

  /// Does the next thing that is due, at its time; only to be called when `nextDue` is not nil.
  ///
  /// - Throws: `ledgerFull`, and then nothing has changed.
  mutating func fireNext() throws(Refusal) -> Happening {
    guard let time = nextDue, let key = due.first?.key, let lineage = lineages[key] else {
      preconditionFailure("nothing is due")
    }
    guard lineage.autoRenews else { return end(lineage, .customerCancelled, at: time) }
    return try renew(lineage, at: time)
  }

  /// Renews before the time has come.
  mutating func renew(_ id: String, at now: Int64) throws(Refusal) -> Happening {
    let lineage = try lineage(id)
    try checkActive(lineage)
    guard lineage.autoRenews else {
      throw Refusal(
        .autoRenewOff,
        "Auto-renew of \(id) is off, so Apple would not renew it. "
          + "POST /control/subscriptions/\(id)/resume first.")
    }
    return try renew(lineage, at: now)
  }

  private mutating func renew(_ former: Lineage, at now: Int64) throws(Refusal) -> Happening {
    try checkRoom()
    var lineage = former
    let product = try product(lineage.nextProductId)
    if lineage.nextProductId != lineage.productId { lineage.offer = nil }
    lineage.productId = product.id
    var price = product.priceMilliunits
    var period = product.subscription?.period ?? lineage.schedule.period
    if var run = lineage.offer, run.remaining > 0 {
      run.remaining -= 1
      lineage.offer = run
      price = run.price
      period = run.period
    } else {
      lineage.offer = nil
    }
    lineage.schedule.extend(by: period)
    let charge = add(to: &lineage, id: takeId(), price: price, isRenewal: true, at: now)
    return happening(.didRenew, of: charge, at: now)
  }

  /// The customer switches auto-renew off or on.
  mutating func setAutoRenew(
    _ isOn: Bool, of id: String, at now: Int64
  ) throws(Refusal) -> Happening {
    var lineage = try lineage(id)
    try checkActive(lineage)
    guard lineage.autoRenews != isOn else {
      throw Refusal(
        .autoRenewUnchanged,
        "Auto-renew of \(id) is \(isOn ? "on" : "off") already; Apple would send nothing.")
    }
    lineage.autoRenews = isOn
    if !isOn { lineage.nextProductId = lineage.productId }
    save(lineage)
    return happening(
      .didChangeRenewalStatus, isOn ? .autoRenewEnabled : .autoRenewDisabled, about: lineage,
      at: now)
  }

  /// Ends a subscription now: its current period is signed anew with this moment as its end.
  mutating func expire(_ id: String, at now: Int64) throws(Refusal) -> Happening {
    let lineage = try lineage(id)
    try checkActive(lineage)
    if var current = charges[lineage.current] {
      current.expiresDate = now
      record(current)
    }
    return end(lineage, .customerCancelled, at: now)
  }

  private mutating func end(
    _ former: Lineage, _ intent: ExpirationIntent, at now: Int64
  ) -> Happening {
    var lineage = former
    lineage.autoRenews = false
    lineage.standing = .expired(intent)
    lineage.offer = nil
    save(lineage)
    return happening(.expired, .voluntary, about: lineage, at: now)
  }

  private func checkActive(_ lineage: Lineage) throws(Refusal) {
    let why: String
    switch lineage.standing {
    case .active: return
    case .expired: why = "has expired"
    case .revoked: why = "was refunded"
    }
    throw Refusal(
      .subscriptionEnded,
      "The subscription \(lineage.originalId) \(why). Buy '\(lineage.productId)' again with the "
        + "same account or token to resubscribe.")
  }
}
