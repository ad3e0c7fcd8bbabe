import Events
import ServiceRuntime

/// The story of the demo: what happens, and what must come of it.
struct Story {
  let teller: Storyteller
  /// Alice's id; on a stack that has seen a story before, another each time.
  let customer: String

  init(_ teller: Storyteller, customer: String = "alice") {
    self.teller = teller
    self.customer = customer
  }

  func play() throws {
    try readCatalog()
    let subscription = try subscribe()
    let renewed = try renew(subscription)
    try cancel(subscription)
    try expire(renewed)
    try buyCoins()
    let themes = try buyThemes()
    try refund(themes)
  }

  private func readCatalog() throws {
    teller.chapter(
      "The catalog", "An Xcode .storekit file says what is sold; catalog.json what it gives.")
    let sold = try teller.ask(
      .orders, "GET", "/v1/products", as: Answers.Products.self
    ) { answer in "\(answer.products.count) products" }
    for wanted in ["pro.monthly", "coins.100", "themes.all"] {
      guard let product = sold.products.first(where: { $0.id == wanted }) else {
        throw StoryFailure("the catalog has no \(wanted)")
      }
      teller.conclude("\(product.id) is sold: \(product.type)")
    }
  }

  private func subscribe() throws -> Answers.Purchase {
    teller.chapter(
      "A subscription",
      "Before alice pays, the app opens an order. Its id goes to StoreKit as appAccountToken.")
    let bought = try buy("pro.monthly")
    let right = try rightChanged("pro", "alice may use pro") { $0.entitlement.isActive }
    try teller.require(
      right.entitlement.expiresAt == bought.expiresDate,
      "pro ends at \(right.entitlement.expiresAt ?? 0), not with its period")
    let owned = try entitlements()
    try teller.require(owned.active("pro")?.willRenew == true, "pro is not active and renewing")
    teller.conclude("alice may use pro")
    return bought
  }

  private func renew(_ bought: Answers.Purchase) throws -> Entitlement {
    let end = bought.expiresDate ?? 0
    teller.chapter(
      "A renewal", "Time passes beyond the end of the period, and Apple charges the next one.")
    try advance(to: end + 3_600_000)
    let renewed = try rightChanged("pro", "pro was prolonged") { change in
      change.entitlement.isActive && change.entitlement.expiresAt ?? 0 > end
    }
    let gaps = teller.past(EntitlementChanged.self) { change in
      change.customer == customer && change.entitlement.name == "pro"
        && !change.entitlement.isActive
    }
    try teller.require(gaps.isEmpty, "pro was taken away although it was renewed")
    teller.conclude("pro goes on until \(moment(renewed.entitlement.expiresAt)), without a gap")
    return renewed.entitlement
  }

  private func cancel(_ bought: Answers.Purchase) throws {
    teller.chapter(
      "A cancellation", "Alice turns automatic renewal off. She keeps what she paid for.")
    _ = try teller.ask(
      .simulator, "POST", "/control/subscriptions/\(bought.originalTransactionId)/cancel",
      Questions.Nothing(), as: Answers.Change.self
    ) { _ in "automatic renewal is off" }
    _ = try rightChanged("pro", "pro will not renew") { change in
      change.entitlement.isActive && change.entitlement.willRenew == false
    }
    let owned = try entitlements()
    try teller.require(owned.active("pro")?.willRenew == false, "pro is gone, or would renew")
    teller.conclude("pro stays until its end, and will not renew")
  }

  private func expire(_ right: Entitlement) throws {
    teller.chapter("The end", "The paid period runs out, and nobody renews it.")
    try advance(to: (right.expiresAt ?? 0) + 60_000)
    _ = try rightChanged("pro", "pro went") { !$0.entitlement.isActive }
    let owned = try entitlements()
    try teller.require(owned.active("pro") == nil, "pro is still active")
    teller.conclude("alice may not use pro any more")
  }

  private func buyCoins() throws {
    teller.chapter("Coins", "A consumable, three at once: each is good for 100 coins.")
    _ = try buy("coins.100", quantity: 3)
    let change = try teller.expect("coins were credited", BalanceChanged.self) { [customer] in
      $0.customer == customer && $0.balance.unit == "coins"
    }
    try teller.require(
      change.delta == 300, "\(change.delta) coins were credited, 3 × 100 were bought")
    try requireCoins()
    teller.conclude("alice has 300 coins")
  }

  private func requireCoins() throws {
    let balances = try teller.ask(
      .entitlements, "GET", "/v1/customers/\(customer)/balances", as: Answers.Balances.self
    ) { answer in
      answer.balances.map { "\($0.amount) \($0.unit)" }.joined(separator: ", ")
    }
    try teller.require(
      balances.balances.first { $0.unit == "coins" }?.amount == 300, "alice has not 300 coins")
  }

  private func buyThemes() throws -> Answers.Purchase {
    teller.chapter("Themes", "A non-consumable: bought once, owned for good.")
    let bought = try buy("themes.all")
    _ = try rightChanged("themes", "alice owns themes") { $0.entitlement.isActive }
    let owned = try entitlements()
    try teller.require(
      owned.active("themes").map { $0.expiresAt == nil } ?? false, "themes are not owned for good")
    teller.conclude("alice owns all themes")
    return bought
  }

  private func refund(_ bought: Answers.Purchase) throws {
    teller.chapter("A refund", "Apple gives the money back, so the right goes at once.")
    _ = try teller.ask(
      .simulator, "POST", "/control/transactions/\(bought.transactionId)/refund",
      Questions.Nothing(), as: Answers.Change.self
    ) { _ in "refunded" }
    _ = try rightChanged("themes", "themes went") { change in
      !change.entitlement.isActive && change.cause.kind == "refund"
    }
    let owned = try entitlements()
    try teller.require(owned.active("themes") == nil, "themes are still active")
    try requireCoins()
    teller.conclude("themes are gone; the coins stay")
  }
}
