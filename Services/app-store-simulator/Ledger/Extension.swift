import AppStore
import Catalog

/// A mass extension of renewal dates, done at once.
struct MassExtension: Sendable, Equatable {
  let requestIdentifier: String
  let completeDate: Int64
  let succeededCount: Int64
  let failedCount: Int64
}

/// By how many days, and why.
struct ExtensionPlan: Sendable {
  let days: Int64
  let requestIdentifier: String
}

extension Ledger {
  /// Two within so many milliseconds are all.
  private static let extensionYear: Int64 = 365 * 86_400_000

  /// Why a subscription cannot be extended; nil if it can.
  ///
  /// It must be active with a paid period, and not extended twice within a year.
  func extensionRefusal(_ lineage: Lineage, at now: Int64) -> APIErrorCode? {
    guard lineage.ownership == .purchased else {
      return .familySharedSubscriptionExtensionIneligible
    }
    guard lineage.isActive, let current = charges[lineage.current],
      current.expiresDate.map({ $0 > now }) ?? false,
      current.offer?.discount != .freeTrial
    else { return .subscriptionExtensionIneligible }
    let recent = lineage.charges.flatMap { charges[$0]?.extensions ?? [] }
      .count { $0 > now - Self.extensionYear }
    return recent < 2 ? nil : .subscriptionMaxExtension
  }

  /// Extends the current period of a subscription.
  mutating func extend(
    _ id: String, _ plan: ExtensionPlan, at now: Int64
  ) throws(APIRefusal) -> Happening {
    var lineage = try apiLineage(id)
    if let refusal = extensionRefusal(lineage, at: now) { throw APIRefusal(refusal) }
    return extend(&lineage, plan, at: now)
  }

  private mutating func extend(
    _ lineage: inout Lineage, _ plan: ExtensionPlan, at now: Int64
  ) -> Happening {
    lineage.schedule.extend(byDays: plan.days)
    if var current = charges[lineage.current] {
      current.expiresDate = current.expiresDate.map { $0 + plan.days * 86_400_000 }
      current.extensions.append(now)
      record(current)
    }
    save(lineage)
    return happening(.renewalExtended, about: lineage, at: now)
  }

  /// Extends all active subscriptions of a product, and tells of each and of the whole.
  mutating func extendAll(
    of productId: String, in storefronts: [String]?, _ plan: ExtensionPlan, at now: Int64
  ) throws(APIRefusal) -> [Happening] {
    guard catalog.product(productId)?.subscription != nil else {
      throw APIRefusal(.invalidProductId)
    }
    var happenings: [Happening] = []
    var failed: Int64 = 0
    let members = lineages.values.filter { $0.productId == productId && $0.isActive }
      .filter { storefronts?.contains($0.storefront.code) ?? true }
      .sorted { $0.originalId < $1.originalId }
    for member in members {
      if extensionRefusal(member, at: now) == nil {
        var lineage = member
        happenings.append(extend(&lineage, plan, at: now))
      } else {
        failed += 1
        happenings.append(happening(.renewalExtension, .failure, about: member, at: now))
      }
    }
    let succeeded = Int64(members.count) - failed
    massExtensions["\(productId)/\(plan.requestIdentifier)"] = MassExtension(
      requestIdentifier: plan.requestIdentifier, completeDate: now, succeededCount: succeeded,
      failedCount: failed)
    var summary = NotificationSummary()
    summary.productId = productId
    summary.requestIdentifier = plan.requestIdentifier
    summary.storefrontCountryCodes = storefronts
    summary.succeededCount = succeeded
    summary.failedCount = failed
    happenings.append(
      Happening(
        type: .renewalExtension, subtype: .summary, at: now, transaction: nil, renewalInfo: nil,
        status: nil, summary: summary))
    return happenings
  }
}
