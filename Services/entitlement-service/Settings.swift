import Access
import Catalog
import FoundationEssentials
import Pipeline
import ServiceRuntime

/// Everything that entitlement-service is told from outside.
struct Settings: Sendable {
  static var environment: [String: String] { ProcessInfo.processInfo.environment }

  let http: HTTPSettings
  let pipeline: PipelineSettings
  let rules: Rules

  init(_ reader: inout SettingsReader, options: [String: String]) {
    let path = reader.text(
      "PURSER_CONFIG", default: "purser.json", "the file of apps, environments and policies")
    http = HTTPSettings(&reader, prefix: "ENTITLEMENT", port: 8083)
    pipeline = PipelineSettings(&reader, prefix: "ENTITLEMENT", store: "entitlement.sqlite")
    var apps = Apps(all: [], roots: [])
    do {
      apps = try Apps.load(path: path)
      pipeline.refuseShiftedClock(servesProduction: apps.servesProduction, &reader)
    } catch {
      reader.fault("PURSER_CONFIG", "cannot be used:\n\(error)")
    }
    let catalogs = apps.eachCatalog { path in
      do {
        return try Reloadable("catalog \(path)") { note in
          try Catalog.load(path: path, note: note)
        }
      } catch {
        reader.fault("PURSER_CONFIG", "names the catalog '\(path)':\n\(error)")
        return nil
      }
    }
    rules = Rules(apps: apps, catalogs: catalogs)
  }
}

/// What entitlements hang on besides purchases and time: catalogs and policies.
struct Rules: Sendable {
  let apps: Apps
  /// By bundle id.
  let catalogs: [String: Reloadable<Catalog>]

  func product(_ id: String, of bundleId: String) -> Product? {
    catalogs[bundleId]?.value.product(id)
  }

  func policies(_ bundleId: String, _ environment: String) -> Policies {
    apps.policies(bundleId, environment)
  }

  /// Whether purchases of an environment give anything.
  func grants(_ bundleId: String, _ environment: String) -> Bool {
    environment != "Sandbox" || policies(bundleId, environment).sandbox == .grant
  }
}
