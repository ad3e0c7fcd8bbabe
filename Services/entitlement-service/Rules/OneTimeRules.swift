import Catalog
import Events

extension Entitlements {
  /// The rights that a non-consumable gives: without end, until refunded and not bought again later.
  ///
  /// A restored copy is another transaction of the same purchase, and the refund may be seen on one
  /// of them only: so a refund ends all that was bought before it.
  static func nonConsumableClaims(_ state: LineageState, _ rules: Rules) -> [Claim] {
    let lineage = state.lineage
    let policies = rules.policies(lineage.bundleId, lineage.environment)
    let bought = state.transactions.filter { $0.type == ProductKind.nonConsumable.appStoreType }
    guard let newest = bought.last,
      let product = rules.product(newest.productId, of: lineage.bundleId)
    else { return [] }
    let takenBack = bought.filter { $0.isTakenBack(by: policies, hasEnd: false) }
      .max { ($0.revocationDate ?? 0) < ($1.revocationDate ?? 0) }
    let isOver =
      takenBack.map {
        $0.transactionId == newest.transactionId
          || newest.purchaseDate <= ($0.revocationDate ?? 0)
      } ?? false
    let shown = isOver ? takenBack ?? newest : newest
    return Claim.claims(
      product, shown, lineage, bought: shown.originalPurchaseDate ?? shown.purchaseDate,
      endsAt: nil, isTakenBack: isOver
    ) { _ in }
  }

  /// The rights that non-renewing subscriptions give.
  ///
  /// Two purchases of one product run one after the other. A product without length in the catalog
  /// gives its right without end.
  static func nonRenewingClaims(_ lineages: [LineageState], _ rules: Rules) -> [Claim] {
    var purchases: [NonRenewing.Key: [NonRenewing]] = [:]
    for state in lineages {
      let lineage = state.lineage
      for transaction in state.transactions
      where transaction.type == ProductKind.nonRenewing.appStoreType {
        let key = NonRenewing.Key(
          bundleId: lineage.bundleId, environment: lineage.environment,
          productId: transaction.productId)
        purchases[key, default: []].append(
          NonRenewing(lineage: lineage, transaction: transaction))
      }
    }
    return purchases.flatMap { key, bought -> [Claim] in
      guard let product = rules.product(key.productId, of: key.bundleId) else { return [] }
      return NonRenewing.claims(
        product, bought, rules.policies(key.bundleId, key.environment))
    }
  }
}

/// One purchase of a non-renewing subscription.
struct NonRenewing {
  struct Key: Hashable {
    let bundleId: String
    let environment: String
    let productId: String
  }

  let lineage: LineageID
  let transaction: LineageTransaction

  /// The claims of all purchases of one product together.
  static func claims(_ product: Product, _ bought: [NonRenewing], _ policies: Policies) -> [Claim] {
    let inOrder = bought.sorted {
      ($0.transaction.purchaseDate, $0.transaction.transactionId)
        < ($1.transaction.purchaseDate, $1.transaction.transactionId)
    }
    let paid = inOrder.filter {
      !$0.transaction.isTakenBack(by: policies, hasEnd: product.length != nil)
    }
    guard let last = paid.last else {
      return inOrder.last.map { refunded in
        Claim.claims(
          product, refunded.transaction, refunded.lineage,
          bought: refunded.transaction.purchaseDate, endsAt: nil, isTakenBack: true
        ) { _ in }
      } ?? []
    }
    guard let length = product.length else {
      return Claim.claims(
        product, last.transaction, last.lineage, bought: last.transaction.purchaseDate,
        endsAt: nil, isTakenBack: false
      ) { _ in }
    }
    var (start, end) = (Int64.min, Int64.min)
    for purchase in paid {
      let date = purchase.transaction.purchaseDate
      if date >= end { start = date }
      end = length.end(after: max(end, date))
    }
    return Claim.claims(
      product, last.transaction, last.lineage, bought: start, endsAt: end, isTakenBack: false
    ) { entitlement in
      entitlement.expiresAt = end
      entitlement.startedAt = start
      entitlement.willRenew = false
    }
  }
}
