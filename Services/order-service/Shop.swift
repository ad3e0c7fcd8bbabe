import Catalog
import HTTPServer
import ServiceRuntime

/// What may be sold: the configured apps and their catalogs.
struct Shop: Sendable {
  let apps: Apps
  let catalogs: [String: Reloadable<Catalog>]

  /// The app that a request means: the one that it names, or the only one.
  ///
  /// - Throws: `Problem` `unknown-app` or `missing-app`.
  func app(_ bundleId: String?) throws(Problem) -> App {
    guard let bundleId else {
      guard apps.all.count == 1, let only = apps.all.first else {
        throw Problem(
          status: 422, type: "missing-app", title: "Which app?",
          detail: "Several apps are configured; name one of them as bundleId.")
      }
      return only
    }
    guard let app = apps.app(bundleId) else {
      throw Problem(
        status: 422, type: "unknown-app", title: "Unknown app",
        detail: "No app with the bundle id '\(bundleId.prefix(100))' is configured in purser.json.")
    }
    return app
  }

  /// A product of an app.
  ///
  /// - Throws: `Problem` `unknown-product`.
  func product(_ id: String, of app: App) throws(Problem) -> Product {
    guard let product = catalogs[app.bundleId]?.value.product(id) else {
      throw Problem(
        status: 422, type: "unknown-product", title: "Unknown product",
        detail: "The catalog of \(app.bundleId) has no product '\(id.prefix(100))'.")
    }
    return product
  }

  /// How long an order of an app waits for its purchase, in milliseconds: its longest
  /// `orderLifetime`, as the environment is not known before the purchase.
  func lifetime(of bundleId: String) -> Int64 {
    apps.app(bundleId)?.environments.values.map(\.orderLifetime).max()
      ?? Policies(environment: "Production").orderLifetime
  }
}
