import Events
import Kafka
import Pipeline

/// Decisions of the moment, as they were published: what hung on who asked, on the time, or on the catalog,
/// and is taken as it was.
enum Decisions {
  /// The topics on which a service publishes.
  static func topics(of service: String) -> [Topic] {
    switch service {
    case "order-service": [.orders, .customers]
    case "verify-service": [.transactions]
    default: [.entitlements]
    }
  }

  /// Causes of lineage states by which the owner was decided.
  private static let owners: Set<String> = ["merge", "erasure", "token-known", "transfer"]

  /// What was decided with a record, in a word; nil when nothing was.
  static func kind(of record: ReceivedRecord) -> String? {
    guard let type = record.header("ce_type"), let value = record.value, !record.isReplayed else {
      return nil
    }
    switch EventType(rawValue: type) {
    case .orderChanged: return "order"
    case .tokenIssued: return "token"
    case .customerMerged, .entitlementsMerged: return "merge"
    case .lineageTransferred: return "transfer"
    case .customerErased, .entitlementsErased: return "erasure"
    case .proofDecided: return "outcome"
    case .grantCreated, .grantRemoved: return "grant"
    case .consumptionReported: return "consumption"
    case .lineageChanged:
      guard let state = try? EventJSON.decode(LineageState.self, from: value) else { return nil }
      let isOwnersNews =
        state.revision == 1 || state.holding == .left || owners.contains(state.cause.kind)
      return isOwnersNews ? "owner" : nil
    case .balanceChanged:
      guard let told = try? EventJSON.decode(BalanceChanged.self, from: value) else { return nil }
      return told.entry.map { $0.kind }
    case .entitlementActivated, .entitlementUpdated, .entitlementDeactivated:
      guard let told = try? EventJSON.decode(EntitlementChanged.self, from: value) else {
        return nil
      }
      return ["expiry", "catalog"].contains(told.cause.kind) ? told.cause.kind : nil
    default: return nil
    }
  }
}
