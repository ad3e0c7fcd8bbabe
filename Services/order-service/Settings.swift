import Access
import AppStore
import Catalog
import FoundationEssentials
import Pipeline
import ServiceRuntime
import Tracing

/// Everything that order-service is told from outside.
struct Settings: Sendable {
  static var environment: [String: String] { ProcessInfo.processInfo.environment }

  let http: HTTPSettings
  let traces: TraceSettings
  let pipeline: PipelineSettings
  let apps: Apps
  /// The catalog of each app, by bundle id.
  let catalogs: [String: Reloadable<Catalog>]
  /// The keys that sign offers, by bundle id.
  let offerKeys: [String: APIKey]
  /// The longest `Prefer: wait` that is kept.
  let longestWait: Duration

  init(_ reader: inout SettingsReader, options: [String: String]) {
    let path = reader.text(
      "PURSER_CONFIG", default: "purser.json", "the file of apps, environments and policies")
    http = HTTPSettings(&reader, prefix: "ORDER", port: 8081)
    traces = TraceSettings(&reader)
    pipeline = PipelineSettings(&reader, prefix: "ORDER", store: "orders.sqlite")
    longestWait = reader.seconds(
      "ORDER_LONGEST_WAIT", default: 30, in: 0...30, "the longest Prefer: wait that is kept")
    do {
      apps = try Apps.load(path: path)
      pipeline.refuseShiftedClock(servesProduction: apps.servesProduction, &reader)
    } catch {
      apps = Apps(all: [], roots: [])
      reader.fault("PURSER_CONFIG", "cannot be used:\n\(error)")
    }
    catalogs = apps.eachCatalog { path in
      do {
        return try Reloadable("catalog \(path)") { note in
          try Catalog.load(path: path, note: note)
        }
      } catch {
        reader.fault("PURSER_CONFIG", "names the catalog '\(path)':\n\(error)")
        return nil
      }
    }
    var keys: [String: APIKey] = [:]
    for app in apps.all {
      guard let access = app.offerKey else { continue }
      keys[app.bundleId] = Self.key(access, &reader)
    }
    offerKeys = keys
  }

  /// Reads a key that signs offers; a fault names the place and nothing of the key.
  private static func key(_ access: APIAccess, _ reader: inout SettingsReader) -> APIKey? {
    guard let text = access.source.text(variable: { environment[$0] }) else {
      reader.fault("PURSER_CONFIG", "names an offerKey in \(access.source) that cannot be read")
      return nil
    }
    do {
      return try APIKey(issuerId: access.issuerId, keyId: access.keyId, pem: text)
    } catch {
      reader.fault("PURSER_CONFIG", "names an offerKey in \(access.source): \(error)")
      return nil
    }
  }
}
