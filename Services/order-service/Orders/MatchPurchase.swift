import Events

/// What was bought, as far as an order needs to know it.
struct Purchase: Sendable, Equatable {
  var transactionId: String?
  /// The lineage, as `bundleId/environment/originalTransactionId`.
  var lineage: String?
  var productId: String?
  var quantity: Int64?
  /// The `appAccountToken` that it bears.
  var token: String?
  /// Whether Apple has taken it back already.
  var isRevoked: Bool
}

extension Purchase {
  /// What an outcome says.
  init(_ outcome: ProofOutcome) {
    self.init(
      transactionId: outcome.transactionId, lineage: outcome.lineage,
      productId: outcome.productId, quantity: outcome.quantity, token: outcome.appAccountToken,
      isRevoked: outcome.revocationDate != nil)
  }

  /// What a lineage says of one of its transactions.
  init(_ transaction: LineageTransaction, of lineage: LineageID) {
    self.init(
      transactionId: transaction.transactionId, lineage: lineage.description,
      productId: transaction.productId, quantity: transaction.quantity,
      token: transaction.appAccountToken, isRevoked: transaction.revocationDate != nil)
  }
}

/// How well the purchase fits that completed an order; the smaller the better.
enum OrderMatch: Int64, Sendable, Comparable {
  /// It is what was ordered. Of one purchase at most one order has it so.
  case own = 0
  /// It was made for this order, or for none, and differs in product, quantity or app, or was taken back.
  case different = 1
  /// It is another order's purchase.
  case anothers = 2

  static func < (one: OrderMatch, other: OrderMatch) -> Bool { one.rawValue < other.rawValue }
}

/// Whether a purchase is the one that an order asked for; pure.
enum MatchPurchase {
  /// Whether product, quantity and app are those of the order, and Apple has not taken it back.
  ///
  /// What a purchase does not say is not held against it.
  static func fits(_ purchase: Purchase, _ order: Order) -> Bool {
    if let product = purchase.productId, product != order.productId { return false }
    if let quantity = purchase.quantity, quantity != order.quantity { return false }
    return isOfApp(purchase, order) && !purchase.isRevoked
  }

  private static func isOfApp(_ purchase: Purchase, _ order: Order) -> Bool {
    purchase.lineage.flatMap { LineageID($0) }.map { $0.bundleId == order.bundleId } ?? true
  }

  /// Which of the purchases that a receipt lists is the order's; nil when it lists none that can be.
  ///
  /// The one that bears the order's token; else the newest of the ordered product that no other order
  /// has. Of a receipt's other purchases nothing follows for the order.
  static func best(
    of purchases: [Purchase], for order: Order, isAnothers: (Purchase) throws -> Bool
  ) rethrows -> Purchase? {
    if let own = purchases.first(where: { $0.token == order.id }) { return own }
    return try purchases.filter {
      $0.productId == order.productId && isOfApp($0, order) && !$0.isRevoked
    }
    .sorted { isNewer($0.transactionId ?? "", $1.transactionId ?? "") }
    .first { try !isAnothers($0) }
  }

  /// Apple's transaction ids grow; they are compared as numbers without being turned into them.
  private static func isNewer(_ one: String, _ other: String) -> Bool {
    (one.utf8.count, one) > (other.utf8.count, other)
  }
}
