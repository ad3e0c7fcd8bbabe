import Catalog
import Events

/// What a customer owns: a pure function of purchases, grants, catalog, policies and a given time.
///
/// Always computed for the whole customer; events are the difference between before and after. No
/// code turns a right on or off.
enum Entitlements {
  struct Result: Equatable {
    /// The active rights, by environment and name; each with its best grantor.
    var entitlements: [Entitlement] = []
    /// Of each right that nothing gives any more, how its last grantor stands.
    var ended: [Claim.Right: Entitlement] = [:]
    /// When the result changes by itself, UTC milliseconds; nil when it never does.
    var nextChange: Int64?
  }

  /// Computes the rights of one customer.
  ///
  /// Every grantor makes its claims; of those that stand at the time the best one shows, so losing
  /// one takes nothing that another still gives.
  static func compute(_ holdings: Holdings, _ rules: Rules, at now: Int64) -> Result {
    let lineages = holdings.lineages.filter {
      rules.grants($0.state.lineage, to: holdings.customer)
    }
    let claims =
      lineages.flatMap { subscriptionClaims($0, rules, at: now) }
      + lineages.flatMap { nonConsumableClaims($0.state, rules) }
      + nonRenewingClaims(lineages.map(\.state), rules)
      + holdings.grants.flatMap(grantClaims)
    var result = Result()
    var ends: [Int64] = []
    for (right, rivals) in Dictionary(grouping: claims, by: \.right) {
      ends += rivals.compactMap(\.startsAt).filter { $0 > now }
      if let best = rivals.filter({ $0.isActive(at: now) }).max() {
        result.entitlements.append(best.entitlement)
        ends += [best.endsAt, best.changesAt].compactMap { $0 }.filter { $0 > now }
      } else if let last = rivals.filter({ !$0.isYetToCome(at: now) }).max() {
        result.ended[right] = last.ended
      }
    }
    result.entitlements.sort { ($0.environment, $0.name) < ($1.environment, $1.name) }
    result.nextChange = ends.min()
    return result
  }
}
