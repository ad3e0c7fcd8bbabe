import Access
import AppStore
import Catalog
import Events
import FoundationEssentials
import HTTPServer
import Kafka
import Pipeline
import ServiceRuntime
import Shards
import Tracing

/// Puts the service together; the only place that does.
enum VerifyService {
  static func services(_ settings: Settings, _ log: Log, _ metrics: Metrics) throws
    -> [any Service]
  {
    let (tracer, tracing) = settings.traces.tracing(
      program: "verify-service", log: log, metrics: metrics)
    let verifiers = try Verifiers(settings, metrics: metrics)
    let clock = settings.pipeline.clock
    let timing = APITiming { clock.now() }
    let apple = try AppleClients(settings, timing: timing, log: log, metrics: metrics)
    let revocation = RevocationCheck(
      RevocationChecker(timing: timing, transport: apple.transport), metrics: metrics
    ) { clock.now() }
    var services: [any Service] = tracing + [apple]
    var checks: [ReadinessCheck] = []
    let access = try settings.http.access(log: log, metrics: metrics)
    let store = try settings.role.hasLedger ? openStore(settings, tracer, log, metrics) : nil
    let shards = try store.flatMap { store in
      try Shards(settings.pipeline.shards, store, log: log, metrics: metrics)
    }
    var router = Router(access: access.policy, placement: shards)

    if let store {
      let askers = try AppleParts(
        settings, clients: apple, verifier: verifiers.intake, metrics: metrics)
      let ledger = Ledger(
        policies: settings.apps.policies, linkWait: settings.linkWait.wholeMilliseconds,
        traces: askers.traces, metrics: metrics)
      let judge = ProofJudge(
        verifier: verifiers.intake, receipts: verifiers.receipts, apps: settings.apps,
        revocation: revocation, appsWithKey: Set(apple.lookups.keys)
      ) { clock.now() }
      let ask = AskApple(
        judge: judge, revocation: revocation, lookups: apple.lookups,
        verifyReceipt: VerifyReceiptClient(
          production: settings.apple.receiptProduction, sandbox: settings.apple.receiptSandbox,
          secrets: settings.sharedSecrets, apps: settings.apps,
          transport: apple.transport,
          observe: { server, word, time in
            metrics.countAppleRequest(
              "verifyReceipt", environment: server == .production ? "Production" : "Sandbox",
              result: word, time)
          }
        ) { clock.now() })
      let worker = IntakeWorker(store: store, log: log, metrics: metrics) { row in
        await ask.ask(row)
      }
      let inputs: [Topic: any RecordHandler] = [
        .proofs: ProveProof(judge: judge, worker: worker, metrics: metrics),
        .appstore: RecordFact(
          ledger: ledger, shard: settings.pipeline.shards.shard,
          newest: try NewestNotifications(store, metrics: metrics), metrics: metrics),
        .customers: KnowCustomers(ledger: ledger),
      ]
      let parts = try PipelineParts(
        service: "verify-service", settings: settings.pipeline, store: store,
        inputs: inputs.merging(askers.inputs) { $1 },
        wholeInputs: askers.wholeInputs.union([.customers]),
        outputs: [.appstore, .transactions], own: .transactions,
        jobs: [StopWaiting(ledger: ledger)],
        log: log, metrics: metrics)
      services += parts.services + [worker] + askers.services(store, log: log)
      AuditRoutes(store).add(to: &router)
      askers.addRoutes(to: &router, store)
      checks += [
        ReadinessCheck("broker") { parts.processor.isConnected },
        ReadinessCheck("caught up") { parts.processor.isCaughtUp },
      ]
    }
    if settings.role.hasEdge {
      let kafka = settings.pipeline.kafka
      let broker = EdgeBroker(
        plan: TopicPlan(names: settings.pipeline.topics, checked: settings.pipeline.topicCheck),
        log: log
      ) {
        try Admin(kafka, name: "verify-service-edge-check", log: log, metrics: metrics)
      }
      let edge = try Edge(
        verifier: verifiers.edge, revocation: revocation, apps: settings.apps,
        topics: settings.pipeline.topics, clock: settings.pipeline.clock,
        log: log, metrics: metrics, broker: broker
      ) {
        // Apple does not notice; the broker and the edge have fewer and larger requests (decision 0096).
        try Producer(
          kafka, name: "verify-service-edge", log: log, metrics: metrics, lingerMilliseconds: 10)
      }
      services += [broker, EdgeService(edge)]
      checks.append(ReadinessCheck("edge's broker") { broker.isReady })
      NotificationRoutes.add(to: &router, edge)
    }
    router.addHealth(metrics: metrics, checks: checks)
    services += access.services + (shards.map { [$0] } ?? [])
    services.append(FileWatch(access.watched, log: log, metrics: metrics))
    services.append(
      try Server(
        host: settings.http.host, port: settings.http.port,
        // Signatures of notifications are verified on the threads of their connections.
        threads: max(2, ProcessInfo.processInfo.activeProcessorCount), router: router,
        tracer: tracer, log: log, metrics: metrics))
    return services
  }

  private static func openStore(
    _ settings: Settings, _ tracer: Tracer, _ log: Log, _ metrics: Metrics
  ) throws -> Store {
    try Store(
      path: settings.pipeline.storePath, migrations: LineageStore.migrations,
      source: "/purser/verify-service", topics: settings.pipeline.topics,
      shard: settings.pipeline.shards.shard, clock: settings.pipeline.clock,
      tracer: tracer, log: log, metrics: metrics)
  }
}

/// The verifiers of the edge, which the whole world can reach, and of the intake.
struct Verifiers: Sendable {
  let edge: SignedDataVerifier
  let intake: SignedDataVerifier
  let receipts: ReceiptVerifier

  init(_ settings: Settings, metrics: Metrics) throws {
    let identities = settings.apps.all.map { app in
      AppIdentity(
        bundleId: app.bundleId, appAppleId: app.appAppleId,
        environments: Set(app.environments.keys.map(AppEnvironment.init(rawValue:))),
        xcodeCertificates: settings.xcodeCertificates[app.bundleId].map { [$0] } ?? [])
    }
    let clock = settings.pipeline.clock
    // Forged chains cost three P-384 verifications each: at most this many a second at the edge.
    let bucket = TokenBucket(perSecond: 50, burst: 200)
    edge = try SignedDataVerifier(
      roots: settings.roots, apps: identities, uncachedChainGate: { bucket.take() },
      clock: { clock.now() })
    intake = try SignedDataVerifier(roots: settings.roots, apps: identities) { clock.now() }
    receipts = try ReceiptVerifier(roots: settings.roots, apps: identities)
    metrics.readings(
      "verify_chain_cache_misses_total", "Certificate chains that had to be verified in full.",
      kind: .counter
    ) { [edge, intake] in
      [("edge", edge), ("intake", intake)].map { name, verifier in
        Metrics.Reading(Double(verifier.cacheCounts.misses), labels: ["verifier": name])
      }
    }
  }
}
