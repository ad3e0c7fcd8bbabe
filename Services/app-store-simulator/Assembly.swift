import AppStore
import FoundationEssentials
import HTTPClient
import HTTPServer
import ServiceRuntime

/// All parts of the simulator, put together; the root certificate is on disk when it is made.
struct Assembly {
  let courier: Courier
  let ticker: Ticker
  let server: Server
  let mover: ClockMover

  private static let year: Int64 = 366 * 86_400_000

  /// In the order of starting; stopped in reverse, so that a move of the clock ends first.
  static func services(
    _ settings: Settings?, _ log: Log, _ metrics: Metrics
  ) throws -> [any Service] {
    guard let settings else { preconditionFailure("settings without faults are complete") }
    let parts = try Assembly(settings, log: log, metrics: metrics)
    return [parts.courier, parts.ticker, parts.server, parts.mover]
  }

  init(_ settings: Settings, log: Log, metrics: Metrics) throws {
    let clock = try SimulatedClock(file: settings.clockFile)
    let started = SystemClock().now()
    // Wide, as the clock moves: Apple's leaf certificates are valid for about two years.
    let chain = try SigningChain.make(
      notBefore: started - 10 * Self.year, notAfter: started + ClockRoutes.reach + Self.year)
    try FileFault.write(
      chain.rootDER, to: settings.rootFile, setting: "SIMULATOR_ROOT_FILE")
    let signer = StoreSigner(
      chain: chain, bundleId: settings.bundleId, environment: settings.environment,
      appAppleId: settings.appAppleId)
    let seller = Ledger.Seller(
      bundleId: settings.bundleId, environment: settings.environment,
      storefront: settings.storefront)
    let ledger = Ledger(
      catalog: settings.catalog, seller: seller, firstId: Self.firstId(at: started),
      limit: settings.transactionLimit)
    let rules = Mailbox.Rules(
      environment: settings.environment, hasURL: settings.notificationURL != nil,
      lanes: settings.notificationLanes, queueLimit: settings.notificationQueue,
      historyLimit: settings.notificationHistory)
    let simulator = Simulator(
      ledger: ledger, mailbox: Mailbox(rules: rules), clock: clock, signer: signer,
      metrics: metrics)
    let client = HTTPClient(
      workers: settings.notificationLanes + 1, name: "notify", log: log, metrics: metrics)
    courier = Courier(
      simulator: simulator, client: client, url: settings.notificationURL,
      timeout: settings.notificationTimeout, log: log)
    ticker = Ticker(simulator: simulator, log: log)
    mover = ClockMover(simulator: simulator)
    let faults = FaultPlan()
    let api = StoreAPI(
      simulator: simulator,
      access: AccessCheck(
        key: try SimulatedKey(
          issuerId: settings.apiIssuerId, keyId: settings.apiKeyId, file: settings.apiKeyFile),
        bundleId: settings.bundleId,
        clocks: [{ clock.now() }, { SystemClock().now() }]),
      limits: RateLimits(
        isSandbox: settings.environment != .production, percent: settings.apiRatePercent),
      faults: faults)
    var router = Router()
    PurchaseAPI(api: api).add(to: &router)
    ChangeAPI(api: api).add(to: &router)
    ConsumptionAPI(api: api).add(to: &router)
    NotificationAPI(api: api).add(to: &router)
    let receipts = Receipts(simulator: simulator)
    VerifyReceiptRoute(
      receipts: receipts, simulator: simulator, faults: faults, secret: settings.sharedSecret
    ).add(to: &router)
    ReceiptRoutes(receipts: receipts, simulator: simulator).add(to: &router)
    FaultRoutes(faults: faults).add(to: &router)
    PurchaseRoutes(simulator: simulator).add(to: &router)
    TransactionRoutes(simulator: simulator).add(to: &router)
    SubscriptionRoutes(simulator: simulator).add(to: &router)
    NotificationRoutes(simulator: simulator, courier: courier).add(to: &router)
    ClockRoutes(simulator: simulator, mover: mover, start: started, pause: settings.clockPause)
      .add(to: &router)
    ForgeRoutes(simulator: simulator).add(to: &router)
    StandardRoutes(metrics: metrics).add(to: &router)
    var limits = ServerLimits()
    // A clock that is moved over years delivers all its notifications before it answers.
    limits.handlerTime = .seconds(600)
    server = try Server(
      host: settings.host, port: settings.port, threads: 2, router: router, limits: limits,
      log: log, metrics: metrics)
  }

  /// Sixteen digits that grow from one start to the next, a thousand for each millisecond between.
  private static func firstId(at now: Int64) -> UInt64 {
    2_000_000_000_000_000 + UInt64(max(0, now) % 1_000_000_000_000) * 1_000
  }
}

/// A file that the simulator gives to others cannot be used.
struct FileFault: Error, CustomStringConvertible {
  let description: String

  static func write(_ bytes: [UInt8], to path: String, setting: String) throws(FileFault) {
    do {
      try Data(bytes).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw FileFault(
        description: "\(setting) names \(path), which cannot be written: \(error)")
    }
  }
}
