import Access
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import Shards
import Tracing

/// Puts the service together; the only place that does.
enum EntitlementService {
  static func services(_ settings: Settings, _ log: Log, _ metrics: Metrics) throws
    -> [any Service]
  {
    let (tracer, tracing) = settings.traces.tracing(
      program: "entitlement-service", log: log, metrics: metrics)
    let store = try Store(
      path: settings.pipeline.storePath, migrations: EntitlementStore.migrations,
      source: "/purser/entitlement-service", topics: settings.pipeline.topics,
      shard: settings.pipeline.shards.shard, clock: settings.pipeline.clock,
      tracer: tracer, log: log, metrics: metrics)
    // Half of the requests that the server takes at once: those who wait never keep out the others.
    let limit = ServerLimits().requestsInFlight / 2
    let waiters = Waiters<String>(limit: limit, limitPerKey: 8, limitPerGroup: limit / 2)
    let hooks = WebhookQueue(metrics: metrics)
    try store.readers.readAndWait { reader in try hooks.begin(reader) }
    let rules = liveRules(settings, store)
    try store.changeAndWait { change in
      try ReevaluateCustomers.begin(change, hash: rules.hash)
    }
    let recompute = Recompute(rules: rules, waiters: waiters, hooks: hooks, metrics: metrics)
    let parts = try PipelineParts(
      service: "entitlement-service", settings: settings.pipeline, store: store,
      inputs: [
        .transactions: ApplyTransaction(recompute: recompute, log: log, metrics: metrics),
        .customers: ApplyCustomerChange(recompute: recompute, metrics: metrics),
      ],
      outputs: [.entitlements, .entitlementState], own: .entitlements,
      jobs: [
        ExpiryTimer(recompute: recompute),
        ReevaluateCustomers(recompute: recompute, metrics: metrics),
        PruneWebhooks(queue: hooks),
      ],
      log: log, metrics: metrics)

    let access = try settings.http.access(log: log, metrics: metrics)
    let shards = try Shards(settings.pipeline.shards, store, log: log, metrics: metrics) {
      reader, wanted in
      guard case .customer(let id) = wanted else { return false }
      return try CustomerRow.exactly(reader, id).mergedInto != nil
    }
    var router = Router(access: access.policy, placement: shards)
    EntitlementRoutes(store: store, waiters: waiters, longestWait: settings.longestWait)
      .add(to: &router)
    ListRoutes(store: store).add(to: &router)
    ExportRoutes(store: store).add(to: &router)
    GrantRoutes(store: store, recompute: recompute).add(to: &router)
    SpendRoutes(store: store, recompute: recompute, metrics: SpendMetrics(metrics))
      .add(to: &router)
    RefundRoutes(store: store).add(to: &router)
    WebhookRoutes(
      store: store, queue: hooks, allowsPrivate: settings.allowsPrivateWebhooks,
      apps: settings.apps
    ).add(to: &router)
    AuditRoutes(store).add(to: &router)
    router.addHealth(
      metrics: metrics,
      checks: [
        ReadinessCheck("broker") { parts.processor.isConnected },
        ReadinessCheck("caught up") { parts.processor.isCaughtUp },
      ])
    metrics.reading("entitlement_waits", "Requests that wait for a customer to change.") {
      waiters.count
    }
    let server = try Server(
      host: settings.http.host, port: settings.http.port, router: router, tracer: tracer, log: log,
      metrics: metrics)
    let sender = WebhookSender(
      store: store, queue: hooks, allowsPrivate: settings.allowsPrivateWebhooks, log: log,
      metrics: metrics)
    let watch = FileWatch(
      Array(settings.catalogs.values) + access.watched, log: log, metrics: metrics)
    return tracing + parts.services + access.services + (shards.map { [$0] } ?? []) + [
      sender, watch, server, WaitersService(stopAll: waiters.stopAll),
    ]
  }

  /// The rules, replaced whenever a catalog's file changes; the timer `catalog` then looks at all
  /// customers.
  private static func liveRules(_ settings: Settings, _ store: Store) -> LiveRules {
    let rules = LiveRules(settings.rules)
    for catalog in settings.catalogs.values {
      catalog.whenChanged { _ in
        rules.replace(with: settings.rules)
        store.rescheduleTimers()
      }
    }
    return rules
  }
}
