import AppStore
import Catalog
import Cryptography

/// What a customer asks for.
struct PurchaseOrder: Sendable, Equatable {
  var productId: String
  /// The UUID that the app gave.
  var token: String?
  var quantity = 1
  /// Whose Apple account; nil means the token stands for it, and with neither it is a new one.
  var account: String?
  var storefront: String?
  /// Promotional or win-back offer by its id, offer code by its name.
  var offer: String?
  /// Whether the buyer has it through Family Sharing.
  var isFamilyShared = false
}

extension Ledger {
  /// Buys a product; for a downgrade the happening bears the current period.
  mutating func buy(_ order: PurchaseOrder, at now: Int64) throws(Refusal) -> Happening {
    try checkRoom()
    let product = try product(order.productId)
    try check(order.quantity, of: product)
    let id = takeId()
    let token = try token(of: order)
    let buyer = Buyer(
      account: order.account.map { "account:\($0)" } ?? token.map { "token:\($0)" }
        ?? "anonymous:\(id)",
      token: token, storefront: try storefront(of: order),
      ownership: order.isFamilyShared ? .familyShared : .purchased)
    if let subscription = product.subscription {
      let offer = try offer(of: order, subscription, buyer)
      return try subscribe(product, subscription, offer, buyer, id: id, at: now)
    }
    guard order.offer == nil else {
      throw Refusal(
        .unknownOffer,
        "'\(product.id)' is no auto-renewable subscription; the simulator plays offers for those "
          + "only. Leave the offer out.")
    }
    return try buyOnce(product, quantity: order.quantity, buyer, id: id, at: now)
  }

  private mutating func buyOnce(
    _ product: Product, quantity: Int, _ buyer: Buyer, id: UInt64, at now: Int64
  ) throws(Refusal) -> Happening {
    if product.kind == .nonConsumable {
      if let owned = accounts[buyer.account]?.nonConsumables[product.id],
        charges[owned]?.revocation == nil
      {
        throw Refusal(
          .alreadyOwned,
          "This account owns '\(product.id)' by transaction \(owned). "
            + "POST /control/transactions/\(owned)/sign gives a fresh copy; another account or "
            + "token buys it anew.")
      }
      accounts[buyer.account, default: Account()].nonConsumables[product.id] = id
    }
    var charge = Charge(
      id: id, originalId: id, productId: product.id, quantity: Int32(quantity), token: buyer.token,
      account: buyer.account, storefront: buyer.storefront,
      price: product.priceMilliunits * Int64(quantity), purchaseDate: now,
      originalPurchaseDate: now, isRenewal: false, webOrderLineItemId: nil, expiresDate: nil,
      offer: nil)
    charge.ownership = buyer.ownership
    record(charge)
    return happening(.oneTimeCharge, of: charge, at: now)
  }

  private func check(_ quantity: Int, of product: Product) throws(Refusal) {
    guard (1...10).contains(quantity) else {
      throw Refusal(
        .invalidQuantity, "The quantity is \(quantity); StoreKit sells 1 to 10 at once.")
    }
    guard quantity == 1 || product.kind == .consumable else {
      throw Refusal(
        .invalidQuantity,
        "'\(product.id)' is \(product.kind.rawValue); only consumables have a quantity other "
          + "than 1.")
    }
  }

  private func token(of order: PurchaseOrder) throws(Refusal) -> String? {
    guard let given = order.token else { return nil }
    guard let token = UUIDs.normalized(given) else {
      throw Refusal(
        .invalidToken,
        "appAccountToken must be a UUID such as 7b2fc3f6-7c0e-4c41-9f0d-2f1a0b6f8d11; StoreKit "
          + "takes nothing else.")
    }
    return token
  }

  private func storefront(of order: PurchaseOrder) throws(Refusal) -> Storefront {
    guard let code = order.storefront else { return seller.storefront }
    guard let storefront = Storefront.of(code) else {
      throw Refusal(
        .unknownStorefront,
        "The simulator does not know the storefront '\(code)'; it knows "
          + "\(Storefront.all.map(\.code).joined(separator: ", ")).")
    }
    return storefront
  }
}

/// Who buys.
struct Buyer: Sendable {
  let account: String
  let token: String?
  let storefront: Storefront
  let ownership: OwnershipType
}
