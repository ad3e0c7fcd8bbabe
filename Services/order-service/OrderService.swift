import Access
import Catalog
import Events
import HTTPServer
import Pipeline
import ServiceRuntime

/// Puts the service together; the only place that does.
enum OrderService {
  static func services(_ settings: Settings, _ log: Log, _ metrics: Metrics) throws
    -> [any Service]
  {
    let store = try Store(
      path: settings.pipeline.storePath, migrations: OrderStore.migrations,
      source: "/purser/order-service", topics: settings.pipeline.topics,
      clock: settings.pipeline.clock, log: log, metrics: metrics)
    // Half of the requests that the server takes at once: those who wait never keep out the others.
    let waiters = Waiters<String>(limit: ServerLimits().requestsInFlight / 2)
    let parts = try PipelineParts(
      service: "order-service", settings: settings.pipeline, store: store,
      inputs: [.transactions: CompleteOrder(waiters: waiters, metrics: metrics)],
      outputs: [.customers, .orders, .proofs], jobs: [ExpireOrders(waiters: waiters)],
      log: log, metrics: metrics)
    let shop = Shop(apps: settings.apps, catalogs: settings.catalogs)

    let access = try settings.http.access(log: log, metrics: metrics)
    var router = Router(access: access.policy)
    OrderRoutes(
      store: store, waiters: waiters, longestWait: settings.longestWait,
      placeOrder: PlaceOrder(
        store: store, shop: shop, partitions: settings.partitions, metrics: metrics),
      submitProof: SubmitProof(store: store, waiters: waiters, metrics: metrics)
    ).add(to: &router)
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
    metrics.reading("order_waits", "Requests that wait for an outcome.") { waiters.count }
    let server = try Server(
      host: settings.http.host, port: settings.http.port, router: router, log: log,
      metrics: metrics)
    let watch = FileWatch(
      Array(settings.catalogs.values) + access.watched, log: log, metrics: metrics)
    return parts.services + access.services + [watch, server, WaitersService(waiters)]
  }
}

/// Wakes everyone who waits when the service stops; the last to start, the first to stop.
final class WaitersService: Service {
  let name = "waits"
  private let waiters: Waiters<String>
  private let ended = Completion<Void>()

  init(_ waiters: Waiters<String>) { self.waiters = waiters }

  func run() async { await ended.value() }

  func stop(by deadline: Deadline) async {
    waiters.stopAll()
    ended.complete(with: ())
  }
}
