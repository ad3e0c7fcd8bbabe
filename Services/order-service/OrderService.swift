import Access
import Catalog
import Events
import HTTPServer
import Pipeline
import ServiceRuntime
import Shards
import Tracing

/// Puts the service together; the only place that does.
enum OrderService {
  static func services(_ settings: Settings, _ log: Log, _ metrics: Metrics) throws
    -> [any Service]
  {
    let (tracer, tracing) = settings.traces.tracing(
      program: "order-service", log: log, metrics: metrics)
    let store = try Store(
      path: settings.pipeline.storePath, migrations: OrderTables.migrations,
      source: "/purser/order-service", topics: settings.pipeline.topics,
      shard: settings.pipeline.shards.shard, clock: settings.pipeline.clock,
      tracer: tracer, log: log, metrics: metrics)
    // Half of the requests that the server takes at once: those who wait never keep out the others.
    // Streams are bounded by the server, and for a customer and a key each by their route.
    let limits = ServerLimits()
    let notices = Notices(
      requests: Waiters(limit: limits.requestsInFlight / 2),
      streams: Waiters(limit: limits.streams, limitPerKey: OrderEvents.perCustomer))
    let parts = try PipelineParts(
      service: "order-service", settings: settings.pipeline, store: store,
      inputs: [.transactions: CompleteOrder(notices: notices, metrics: metrics)],
      outputs: [.customers, .orders, .proofs], own: .orders,
      jobs: [ExpireOrders(notices: notices), MoveOrdersOfMerged(notices: notices)],
      log: log, metrics: metrics)
    let shop = Shop(apps: settings.apps, catalogs: settings.catalogs)

    let access = try settings.http.access(log: log, metrics: metrics)
    let shards = try Shards(settings.pipeline.shards, store, log: log, metrics: metrics) {
      reader, wanted in
      switch wanted {
      case .customer(let id): try CustomerStore.merge(reader, id) != nil
      case .id(let id):
        try OrderStore.order(reader, id) != nil || RestoreStore.restore(reader, id) != nil
      case .key: false
      }
    }
    var router = Router(access: access.policy, placement: shards)
    OrderRoutes(
      store: store, shop: shop, notices: notices, longestWait: settings.longestWait,
      placeOrder: PlaceOrder(store: store, shop: shop, notices: notices, metrics: metrics),
      submitProof: SubmitProof(store: store, notices: notices, metrics: metrics)
    ).add(to: &router)
    OrderEvents(store: store, notices: notices).add(to: &router)
    RestoreRoutes(
      store: store, shop: shop, longestWait: settings.longestWait,
      restorePurchases: RestorePurchases(
        store: store, shop: shop, notices: notices, metrics: metrics)
    ).add(to: &router)
    CustomerRoutes(store: store, shop: shop, notices: notices).add(to: &router)
    ExportCustomer(store: store, shop: shop).add(to: &router)
    ProductRoutes(shop: shop).add(to: &router)
    OfferRoutes(
      signOffer: SignOffer(store: store, shop: shop, keys: settings.offerKeys, metrics: metrics)
    ).add(to: &router)
    AuditRoutes(store).add(to: &router)
    // Orders and proofs are taken while Kafka is away, so the broker is no condition to be ready.
    router.addHealth(
      metrics: metrics,
      checks: [
        ReadinessCheck("store") { true },
        ReadinessCheck("caught up") { parts.processor.isCaughtUp || !parts.processor.isConnected },
      ])
    metrics.reading("order_waits", "Requests that wait for an outcome.") { notices.requests.count }
    let server = try Server(
      host: settings.http.host, port: settings.http.port, router: router, tracer: tracer, log: log,
      metrics: metrics)
    let watch = FileWatch(
      Array(settings.catalogs.values) + access.watched, log: log, metrics: metrics)
    return tracing + parts.services + access.services + (shards.map { [$0] } ?? []) + [
      watch, server, WaitersService(stopAll: notices.stopAll),
    ]
  }
}
