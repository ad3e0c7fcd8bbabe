/// What a record is about: the `ce_type` of its CloudEvents headers.
///
/// The vocabulary is open on the wire; readers skip types that they do not know.
public struct EventType: RawRepresentable, Codable, Hashable, Sendable {
  /// The text of `ce_type`.
  public let rawValue: String

  /// Wraps a text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `TokenIssued` on `iap.customers`.
  public static let tokenIssued = EventType(rawValue: "purser.customer.token-issued.v1")
  /// `CustomerMerged` on `iap.customers`.
  public static let customerMerged = EventType(rawValue: "purser.customer.merged.v1")
  /// `LineageTransferred` on `iap.customers`.
  public static let lineageTransferred = EventType(
    rawValue: "purser.customer.lineage-transferred.v1")
  /// `CustomerErased` on `iap.customers`.
  public static let customerErased = EventType(rawValue: "purser.customer.erased.v1")
  /// `Order` on `iap.orders`.
  public static let orderChanged = EventType(rawValue: "purser.order.changed.v1")
  /// `Proof` on `iap.proofs`.
  public static let proofSubmitted = EventType(rawValue: "purser.proof.submitted.v1")
  /// `AppStoreFact` on `iap.appstore`.
  public static let appStoreFact = EventType(rawValue: "purser.appstore.fact.v1")
  /// `LineageState` on `iap.transactions`.
  public static let lineageChanged = EventType(rawValue: "purser.lineage.changed.v1")
  /// `ProofOutcome` on `iap.transactions`.
  public static let proofDecided = EventType(rawValue: "purser.proof.decided.v1")
  /// `EntitlementChanged` on `iap.entitlements`: the right came.
  public static let entitlementActivated = EventType(rawValue: "purser.entitlement.activated.v1")
  /// `EntitlementChanged` on `iap.entitlements`: the right stands, something about it changed.
  public static let entitlementUpdated = EventType(rawValue: "purser.entitlement.updated.v1")
  /// `EntitlementChanged` on `iap.entitlements`: the right went; told again when more becomes known of
  /// how it ended.
  public static let entitlementDeactivated = EventType(
    rawValue: "purser.entitlement.deactivated.v1")
  /// `BalanceChanged` on `iap.entitlements`.
  public static let balanceChanged = EventType(rawValue: "purser.balance.changed.v1")
  /// `GrantChanged` on `iap.entitlements`: it was given.
  public static let grantCreated = EventType(rawValue: "purser.grant.created.v1")
  /// `GrantChanged` on `iap.entitlements`: it was taken back.
  public static let grantRemoved = EventType(rawValue: "purser.grant.removed.v1")
  /// `EntitlementsMerged` on `iap.entitlements`.
  public static let entitlementsMerged = EventType(
    rawValue: "purser.entitlements.customer-merged.v1")
  /// `EntitlementsErased` on `iap.entitlements`.
  public static let entitlementsErased = EventType(
    rawValue: "purser.entitlements.customer-erased.v1")
  /// `ConsumptionReported` on `iap.entitlements`.
  public static let consumptionReported = EventType(
    rawValue: "purser.consumption.reported.v1")
  /// `CustomerState` on `iap.entitlement-state`.
  public static let customerState = EventType(rawValue: "purser.customer.state.v1")
}
