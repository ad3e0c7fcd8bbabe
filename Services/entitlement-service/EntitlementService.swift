import Access
import Events
import HTTPServer
import Pipeline
import ServiceRuntime

/// Puts the service together; the only place that does.
enum EntitlementService {
  static func services(_ settings: Settings, _ log: Log, _ metrics: Metrics) throws
    -> [any Service]
  {
    let store = try Store(
      path: settings.pipeline.storePath, migrations: EntitlementStore.migrations,
      source: "/purser/entitlement-service", topics: settings.pipeline.topics,
      clock: settings.pipeline.clock, log: log, metrics: metrics)
    let recompute = Recompute(rules: settings.rules, metrics: metrics)
    let parts = try PipelineParts(
      service: "entitlement-service", settings: settings.pipeline, store: store,
      inputs: [
        .transactions: ApplyTransaction(
          recompute: recompute, balances: Balances(rules: settings.rules), log: log,
          metrics: metrics)
      ],
      outputs: [.entitlements, .entitlementState], jobs: [ExpiryTimer(recompute: recompute)],
      log: log, metrics: metrics)

    let access = try settings.http.access(log: log, metrics: metrics)
    var router = Router(access: access.policy)
    EntitlementRoutes(store: store).add(to: &router)
    AuditRoutes(store).add(to: &router)
    router.addHealth(
      metrics: metrics,
      checks: [
        ReadinessCheck("broker") { parts.processor.isConnected },
        ReadinessCheck("caught up") { parts.processor.isCaughtUp },
      ])
    let server = try Server(
      host: settings.http.host, port: settings.http.port, router: router, log: log,
      metrics: metrics)
    let watch = FileWatch(
      Array(settings.rules.catalogs.values) + access.watched, log: log, metrics: metrics)
    return parts.services + access.services + [watch, server]
  }
}
