import Catalog
import Events

/// What a customer owns: a pure function of purchases, catalog, policies and a given time.
///
/// Always computed for the whole customer; events are the difference between before and after. No
/// code turns a right on or off.
enum Entitlements {
  struct Result: Equatable {
    /// The active rights, by environment and name; each with its best grantor.
    var entitlements: [Entitlement] = []
    /// When the result changes by itself, UTC milliseconds; nil when it never does.
    var nextChange: Int64?
  }

  /// Computes the rights of one customer from the lineages that the customer has.
  static func compute(_ lineages: [LineageState], _ rules: Rules, at now: Int64) -> Result {
    let claims =
      lineages.flatMap { subscriptionClaims($0, rules, at: now) }
      + lineages.flatMap { nonConsumableClaims($0, rules) }
      + nonRenewingClaims(lineages, rules)
    let active = claims.filter { $0.isActive(at: now) }
    let best = Dictionary(grouping: active, by: \.right).values.compactMap { $0.max() }
    return Result(
      entitlements: best.map(\.entitlement)
        .sorted { ($0.environment, $0.name) < ($1.environment, $1.name) },
      nextChange: best.compactMap(\.endsAt).min())
  }
}

/// A right that one purchase gives, and until when.
struct Claim: Comparable {
  struct Right: Hashable {
    let environment: String
    let name: String
  }

  var entitlement: Entitlement
  /// When the right really ends: `expiresAt` and the time for a late renewal, or the end of grace.
  var endsAt: Int64?

  var right: Right { Right(environment: entitlement.environment, name: entitlement.name) }

  func isActive(at now: Int64) -> Bool { endsAt.map { now < $0 } ?? true }

  /// The better grantor lasts longer; among equals the lineage decides, so that the answer is one.
  static func < (left: Claim, right: Claim) -> Bool {
    let ends = (left.endsAt ?? Int64.max, right.endsAt ?? Int64.max)
    guard ends.0 == ends.1 else { return ends.0 < ends.1 }
    return left.entitlement.grantor?.lineage ?? "" > right.entitlement.grantor?.lineage ?? ""
  }

  /// The claims of one product by one transaction: one for each right of the product.
  static func claims(
    _ product: Product, _ transaction: LineageTransaction, _ lineage: LineageID, endsAt: Int64?,
    _ fill: (inout Entitlement) -> Void
  ) -> [Claim] {
    product.entitlements.map { name in
      var entitlement = Entitlement(
        name: name, environment: lineage.environment, isActive: true)
      entitlement.productId = product.id
      entitlement.productType = transaction.type
      entitlement.grantor = Grantor(
        kind: "transaction", lineage: lineage.description,
        transactionId: transaction.transactionId)
      entitlement.purchasedAt = transaction.purchaseDate
      entitlement.startedAt = transaction.originalPurchaseDate ?? transaction.purchaseDate
      entitlement.ownershipType = transaction.inAppOwnershipType
      fill(&entitlement)
      return Claim(entitlement: entitlement, endsAt: endsAt)
    }
  }
}
