import Events

/// How one right differs between before and after.
struct Difference: Equatable {
  let type: EventType
  let before: Entitlement?
  let after: Entitlement

  /// The differences between two sets of active rights, by environment and name.
  ///
  /// - Parameter ended: How the last grantor of an ended right stands.
  static func between(
    _ before: [Entitlement], _ after: [Entitlement], ended: [Claim.Right: Entitlement] = [:]
  ) -> [Difference] {
    func key(_ entitlement: Entitlement) -> Claim.Right {
      Claim.Right(environment: entitlement.environment, name: entitlement.name)
    }
    let old = Dictionary(before.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
    let new = Dictionary(after.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
    let keys = Set(old.keys).union(new.keys)
      .sorted { ($0.environment, $0.name) < ($1.environment, $1.name) }
    return keys.compactMap { key in
      switch (old[key], new[key]) {
      case (nil, let after?):
        return Difference(type: .entitlementActivated, before: nil, after: after)
      case (let before?, let after?):
        guard before != after else { return nil }
        return Difference(type: .entitlementUpdated, before: before, after: after)
      case (let before?, nil):
        return Difference(
          type: .entitlementDeactivated, before: before, after: ended[key] ?? Self.gone(before))
      case (nil, nil):
        return nil
      }
    }
  }

  /// What became known later of rights that ended before, such as a refund, or that Apple stopped trying
  /// to bill: told as ended once more, so that nobody takes it for a right that stands.
  static func ofEnded(_ told: [Entitlement], _ result: Entitlements.Result) -> [Difference] {
    told.compactMap { before in
      let right = Claim.Right(environment: before.environment, name: before.name)
      guard let after = result.ended[right], after != before else { return nil }
      return Difference(type: .entitlementDeactivated, before: before, after: after)
    }
  }

  /// A right whose grantor is not the customer's any more.
  private static func gone(_ before: Entitlement) -> Entitlement {
    var after = before
    after.isActive = false
    after.status = nil
    after.willRenew = before.willRenew.map { _ in false }
    return after
  }
}

extension ChangeCause {
  /// The same cause; one that names no lineage, such as time that passed, names the grantor's.
  func naming(_ grantor: Grantor?) -> ChangeCause {
    guard lineage == nil else { return self }
    var named = self
    named.lineage = grantor?.lineage
    named.transactionId = grantor?.transactionId
    return named
  }
}
