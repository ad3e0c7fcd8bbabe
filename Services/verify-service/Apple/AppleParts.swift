import AppStore
import Catalog
import Events
import HTTPServer
import Kafka
import Pipeline
import ServiceRuntime

/// When the jobs ask Apple; from the settings.
struct AppleTimes: Sendable {
  /// Between two windows of back-fill, milliseconds; 0 switches it off.
  let backFillInterval: Int64
  /// How far the first window reaches back, milliseconds.
  let backFillFirst: Int64
  /// After a date without news, milliseconds.
  let reconcileAfter: Int64
  /// Between two sweeps through the refunds, milliseconds; 0 switches them off.
  let refundSweepInterval: Int64
  /// Whether a customer's history is fetched at first sight.
  let importsHistory: Bool

  init(_ reader: inout SettingsReader) {
    let day: Int64 = 86_400_000
    backFillInterval =
      1000
      * Int64(
        reader.integer(
          "VERIFY_BACK_FILL_INTERVAL", default: 900, in: 0...86_400,
          "seconds between two looks into Apple's notification history; 0 for none"))
    backFillFirst =
      day
      * Int64(
        reader.integer(
          "VERIFY_BACK_FILL_DAYS", default: 180, in: 1...180,
          "how far back the first look goes, in days"))
    reconcileAfter =
      1000
      * Int64(
        reader.integer(
          "VERIFY_RECONCILE_AFTER", default: 600, in: 1...604_800,
          "seconds after a subscription's date without news until Apple is asked"))
    refundSweepInterval =
      day
      * Int64(
        reader.integer(
          "VERIFY_REFUND_SWEEP_DAYS", default: 7, in: 0...365,
          "days between two sweeps through the refund histories; 0 for none"))
    importsHistory = reader.flag(
      "VERIFY_HISTORY_IMPORT", default: true,
      "whether a customer's whole history is fetched when a purchase is seen first")
  }
}

/// All that asks Apple, put together for a process with a ledger.
struct AppleParts: Sendable {
  let api: AppleAPI
  /// What the ledger leaves for the jobs.
  let traces: AppleTraces
  private let facts: AppleFacts
  private let times: AppleTimes
  private let apps: Set<String>
  private let metrics: Metrics

  init(
    _ settings: Settings, clients: AppleClients, verifier: SignedDataVerifier, metrics: Metrics
  ) throws {
    api = try AppleAPI(
      settings.apps, keys: settings.apiKeys, context: clients.context, lookups: clients.lookups)
    facts = AppleFacts(verifier: verifier)
    times = settings.appleTimes
    apps = Set(settings.apps.all.map(\.bundleId))
    traces = AppleTraces(
      lanes: Set(api.lanes),
      homes: Set(api.lanes.filter { settings.pipeline.shards.shard.owns(key: $0.bundleId) }),
      reconcileAfter: times.reconcileAfter,
      importsHistory: times.importsHistory)
    self.metrics = metrics
  }

  /// What is read from other services' topics; nothing where nobody can be asked.
  var inputs: [Topic: any RecordHandler] {
    api.lanes.isEmpty ? [:] : [.entitlements: NoteConsumption()]
  }

  /// What is read in full: whoever fills the gaps of an app must know of all of its notifications.
  var wholeInputs: Set<Topic> {
    traces.homes.isEmpty || times.backFillInterval == 0 ? [] : [.appstore]
  }

  /// What runs by itself.
  func services(_ store: Store, log: Log) -> [any Service] {
    [AppleJobs(jobs: jobs(store, log), log: log, metrics: metrics)]
  }

  func addRoutes(to router: inout Router, _ store: Store) {
    AdminRoutes(
      ask: AskForPeople(apple: api, facts: facts, store: store),
      imports: TakeImport(store: store, apps: apps, lanes: traces.lanes)
    ).add(to: &router)
  }

  private func jobs(_ store: Store, _ log: Log) -> [any AppleJob] {
    var jobs: [any AppleJob] = [
      HistoryImport(
        apple: api, facts: facts, store: store, recorded: counter("import")),
      ShowProgress(store: store, metrics: metrics),
    ]
    for lane in api.lanes {
      guard let client = api.client(lane) else { continue }
      jobs.append(
        Reconcile(
          lane: lane, api: client, facts: facts, store: store, margin: times.reconcileAfter,
          recovered: counter("reconcile")))
      if times.backFillInterval > 0, traces.homes.contains(lane) {
        jobs.append(
          BackFill(
            lane: lane, api: client, facts: facts, store: store,
            rules: BackFill.Rules(interval: times.backFillInterval, first: times.backFillFirst),
            recovered: counter("back-fill"), log: log))
      }
      if times.refundSweepInterval > 0 {
        jobs.append(
          RefundSweep(
            lane: lane, api: client, facts: facts, store: store,
            interval: times.refundSweepInterval, recovered: counter("refund-sweep")))
      }
    }
    if !api.lanes.isEmpty {
      jobs.append(SendConsumption(apple: api, store: store, metrics: metrics))
    }
    return jobs
  }

  private func counter(_ job: String) -> Counter {
    metrics.counter(
      "apple_facts_total", "Facts that were news and came by asking Apple.", labels: ["task": job])
  }
}
