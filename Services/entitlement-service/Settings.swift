import Access
import Catalog
import FoundationEssentials
import Pipeline
import ServiceRuntime
import Tracing

/// Everything that entitlement-service is told from outside.
struct Settings: Sendable {
  static var environment: [String: String] { ProcessInfo.processInfo.environment }

  let http: HTTPSettings
  let traces: TraceSettings
  let pipeline: PipelineSettings
  let apps: Apps
  /// By bundle id; read again when their files change.
  let catalogs: [String: Reloadable<Catalog>]
  /// The longest `Prefer: wait` that is kept.
  let longestWait: Duration
  /// Whether webhooks may be sent without TLS, and to addresses of this machine and of private networks.
  let allowsPrivateWebhooks: Bool

  /// The rules of this moment.
  var rules: Rules { Rules(apps: apps, catalogs: catalogs.mapValues(\.value)) }

  init(_ reader: inout SettingsReader, options: [String: String]) {
    let path = reader.text(
      "PURSER_CONFIG", default: "purser.json", "the file of apps, environments and policies")
    http = HTTPSettings(&reader, prefix: "ENTITLEMENT", port: 8083)
    traces = TraceSettings(&reader)
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
    self.apps = apps
    self.catalogs = catalogs
    longestWait = reader.seconds(
      "ENTITLEMENT_LONGEST_WAIT", default: 30, in: 0...30, "the longest Prefer: wait that is kept")
    allowsPrivateWebhooks = reader.flag(
      "ENTITLEMENT_WEBHOOKS_PRIVATE", default: false,
      "1 lets webhooks go without TLS, and to addresses of this machine and of private networks")
  }
}
