import Catalog
import Events

/// A right that one grantor gives, and from when until when.
struct Claim: Comparable {
  struct Right: Hashable {
    let environment: String
    let name: String
  }

  var entitlement: Entitlement
  /// From when; nil for a claim that stands already.
  var startsAt: Int64?
  /// When the right really ends: `expiresAt` and the time for a late renewal, or the end of grace.
  var endsAt: Int64?
  /// When something about it changes though it goes on, such as the product after a downgrade.
  var changesAt: Int64?
  /// Taken back by a refund or revocation: shows why a right ended, never gives one.
  var isTakenBack = false

  var right: Right { Right(environment: entitlement.environment, name: entitlement.name) }

  func isActive(at now: Int64) -> Bool {
    !isTakenBack && !isYetToCome(at: now) && (endsAt.map { now < $0 } ?? true)
  }

  func isYetToCome(at now: Int64) -> Bool { startsAt.map { now < $0 } ?? false }

  /// The better grantor lasts longer; among equals a purchase comes before what was shared or given,
  /// and then the name decides, so that the answer is one.
  static func < (left: Claim, right: Claim) -> Bool {
    let ends = (left.endsAt ?? Int64.max, right.endsAt ?? Int64.max)
    guard ends.0 == ends.1 else { return ends.0 < ends.1 }
    guard left.rank == right.rank else { return left.rank < right.rank }
    return left.name > right.name
  }

  private var rank: Int {
    guard entitlement.grantor?.kind == "transaction" else { return 0 }
    return entitlement.ownershipType == "FAMILY_SHARED" ? 1 : 2
  }

  private var name: String {
    let grantor = entitlement.grantor
    return [grantor?.lineage, grantor?.transactionId, grantor?.grantId, entitlement.productId]
      .map { $0 ?? "" }.joined(separator: "\n")
  }

  /// The right as it shows when nothing gives it any more.
  var ended: Entitlement {
    var ended = entitlement
    ended.isActive = false
    if ended.status == "active" || ended.status == "grace-period" { ended.status = "expired" }
    // Apple tries to bill on during billing retry, and nowhere else after the end.
    if ended.status != "billing-retry" { ended.willRenew = ended.willRenew.map { _ in false } }
    return ended
  }

  /// The claims of one product by one transaction: one for each right of the product.
  ///
  /// - Parameter bought: When the customer first bought it; the catalog may give a right only to
  ///   those of before or after a date.
  static func claims(
    _ product: Product, _ transaction: LineageTransaction, _ lineage: LineageID, bought: Int64,
    endsAt: Int64?, isTakenBack: Bool, _ fill: (inout Entitlement) -> Void
  ) -> [Claim] {
    product.rights.filter { $0.isFor(boughtAt: bought) }.map { right in
      var entitlement = Entitlement(
        name: right.name, environment: lineage.environment, isActive: true)
      entitlement.productId = product.id
      entitlement.productType = transaction.type
      entitlement.grantor = Grantor(
        kind: "transaction", lineage: lineage.description,
        transactionId: transaction.transactionId)
      entitlement.purchasedAt = transaction.purchaseDate
      entitlement.startedAt = transaction.originalPurchaseDate ?? transaction.purchaseDate
      entitlement.ownershipType = transaction.inAppOwnershipType
      entitlement.refundedAt = transaction.revocationDate
      entitlement.status = isTakenBack ? transaction.endStatus : "active"
      fill(&entitlement)
      var claim = Claim(entitlement: entitlement, startsAt: right.from, endsAt: endsAt)
      claim.isTakenBack = isTakenBack
      if let until = right.until {
        claim.endsAt = min(claim.endsAt ?? Int64.max, until)
        claim.entitlement.expiresAt = min(entitlement.expiresAt ?? Int64.max, until)
      }
      return claim
    }
  }
}

extension LineageTransaction {
  /// How a right stands whose purchase was taken back.
  var endStatus: String {
    revocationType == "FAMILY_REVOKE" || inAppOwnershipType == "FAMILY_SHARED"
      ? "revoked" : "refunded"
  }
}

extension Entitlements {
  /// The right that a grant gives, until it is taken back.
  static func grantClaims(_ grant: Grant) -> [Claim] {
    guard grant.removedAt == nil else { return [] }
    var entitlement = Entitlement(
      name: grant.entitlement, environment: grant.environment, isActive: true)
    entitlement.grantor = Grantor(kind: "grant", grantId: grant.id)
    entitlement.purchasedAt = grant.startsAt
    entitlement.startedAt = grant.startsAt
    entitlement.expiresAt = grant.expiresAt
    entitlement.status = "active"
    // One that had begun when it was decided is there at once, whatever time the customer is at.
    let startsAt = grant.startsAt > grant.createdAt ? grant.startsAt : nil
    return [Claim(entitlement: entitlement, startsAt: startsAt, endsAt: grant.expiresAt)]
  }
}
