import Catalog
import Events

extension Entitlements {
  /// The rights that a non-consumable gives: without end, until refunded and not bought again later.
  static func nonConsumableClaims(_ state: LineageState, _ rules: Rules) -> [Claim] {
    let lineage = state.lineage
    let policies = rules.policies(lineage.bundleId, lineage.environment)
    guard rules.grants(lineage.bundleId, lineage.environment),
      let newest = state.transactions.last(where: {
        $0.type == ProductKind.nonConsumable.appStoreType
      }), !newest.isTakenBack(by: policies, hasEnd: false),
      let product = rules.product(newest.productId, of: lineage.bundleId)
    else { return [] }
    return Claim.claims(product, newest, lineage, endsAt: nil) { _ in }
  }

  /// The rights that non-renewing subscriptions give.
  ///
  /// Two purchases of one product run one after the other. A product without length in the catalog gives its right without end.
  static func nonRenewingClaims(_ lineages: [LineageState], _ rules: Rules) -> [Claim] {
    struct Key: Hashable {
      let bundleId: String
      let environment: String
      let productId: String
    }
    var purchases: [Key: [(lineage: LineageID, transaction: LineageTransaction)]] = [:]
    for state in lineages {
      let (bundleId, environment) = (state.lineage.bundleId, state.lineage.environment)
      guard rules.grants(bundleId, environment) else { continue }
      let policies = rules.policies(bundleId, environment)
      for transaction in state.transactions
      where transaction.type == ProductKind.nonRenewing.appStoreType
        && !transaction.isTakenBack(by: policies, hasEnd: true)
      {
        let key = Key(
          bundleId: bundleId, environment: environment, productId: transaction.productId)
        purchases[key, default: []].append((state.lineage, transaction))
      }
    }
    return purchases.flatMap { key, bought in
      guard let product = rules.product(key.productId, of: key.bundleId) else {
        return [Claim]()
      }
      let inOrder = bought.sorted {
        ($0.transaction.purchaseDate, $0.transaction.transactionId)
          < ($1.transaction.purchaseDate, $1.transaction.transactionId)
      }
      guard let last = inOrder.last else { return [] }
      guard let length = product.length else {
        return Claim.claims(product, last.transaction, last.lineage, endsAt: nil) { _ in }
      }
      var (start, end) = (Int64.min, Int64.min)
      for (_, transaction) in inOrder {
        if transaction.purchaseDate >= end { start = transaction.purchaseDate }
        end = length.end(after: max(end, transaction.purchaseDate))
      }
      return Claim.claims(product, last.transaction, last.lineage, endsAt: end) { entitlement in
        entitlement.expiresAt = end
        entitlement.startedAt = start
        entitlement.willRenew = false
      }
    }
  }
}
