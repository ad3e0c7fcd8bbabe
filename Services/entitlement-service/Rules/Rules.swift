import Catalog
import Events

/// What entitlements hang on besides purchases, grants and time: catalogs and policies.
struct Rules: Sendable {
  let apps: Apps
  /// By bundle id.
  let catalogs: [String: Catalog]

  func product(_ id: String, of bundleId: String) -> Product? { catalogs[bundleId]?.product(id) }

  func policies(_ bundleId: String, _ environment: String) -> Policies {
    apps.policies(bundleId, environment)
  }

  /// Whether purchases of a lineage give anything to a customer.
  func grants(_ lineage: LineageID, to customer: String) -> Bool {
    guard lineage.environment == "Sandbox" else { return true }
    let policies = policies(lineage.bundleId, lineage.environment)
    switch policies.sandbox {
    case .grant: return true
    case .listed: return policies.sandboxCustomers.contains { Customer.isSame($0, customer) }
    case .none: return false
    }
  }
}
