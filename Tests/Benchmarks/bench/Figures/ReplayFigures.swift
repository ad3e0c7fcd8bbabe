import Cryptography
import Events
import FoundationEssentials
import Glibc
import Kafka
import Pipeline
import Processes
import ServiceRuntime

/// `iap.transactions` into a fresh entitlement store: decided anew by a service that starts with nothing,
/// and folded by `entitlement-service rebuild` beside what that service has published.
enum ReplayFigures {
  static func measure(_ bench: Bench) throws -> [Figure] {
    let apple = try Apple()
    try bench.configure(apple)
    try bench.startBroker()
    let count = bench.options.isSmoke ? 2000 : 30_000
    try fill(bench, count)

    let (port, took) = try bench.startService("entitlement-service", within: 900)
    let child = bench.child("entitlement-service")
    let handled = try bench.metric("processor_records_total", port: port)
    guard Int(handled) >= count else { throw BenchError("ready with \(handled) of \(count)") }
    let cpu = Meter.cpu(of: child?.processID)
    // Stopped in time it has published everything and committed how far it has read.
    while try bench.metric("outbox_undelivered", port: port) > 0 { usleep(20_000) }
    bench.stop("entitlement-service")
    return try rebuild(bench, count) + [
      Figure(
        "replay.anew", "lineage states decided anew by a service with an empty store",
        Double(count) / took, "/s",
        notes: ["\(shown(cpu / Double(count) * 1e6)) µs of CPU per state until ready"])
    ]
  }

  private static func rebuild(_ bench: Bench, _ count: Int) throws -> [Figure] {
    let settings = bench.settings("ENTITLEMENT", store: "rebuilt.sqlite")
      .merging(["PURSER_LOG_LEVEL": "info"]) { $1 }
    let began = ContinuousClock.now
    let child = try bench.start(
      "rebuild", "\(bench.executables)/entitlement-service", ["rebuild"], settings)
    let ending = child.ending.wait()
    let took = (ContinuousClock.now - began).inSeconds
    let log = try String(contentsOfFile: bench.file("rebuild.log"), encoding: .utf8)
    guard ending == .exit(0) else { throw BenchError("the rebuild ended with \(ending): \(log)") }
    let line = log.split(separator: "\n").last {
      $0.contains(#""message":"read""#) && $0.contains("transactions")
    }
    let rate = line?.split(separator: #""perSecond":"#).last?.prefix { $0.isNumber }
    guard let rate = rate.flatMap({ Double($0) }) else { throw BenchError("no rate in \(log)") }
    return [
      Figure(
        "replay.rate", "lineage states folded into a fresh entitlement store", rate, "/s",
        target: .init(direction: .atLeast, value: 15_000, unit: "/s"),
        notes: ["\(count) states of as many customers, as the log of the rebuild tells"]),
      Figure(
        "replay.rebuild", "customers rebuilt: events, states and lineages", Double(count) / took,
        "/s", notes: ["the whole of the command, its start included"]),
    ]
  }

  /// Writes lineage states to `iap.transactions`, as the ledger does.
  private static func fill(_ bench: Bench, _ count: Int) throws {
    let producer = try Producer(bench.kafka, name: "bench-fill", log: .silent, metrics: Metrics())
    let now = SystemClock().now()
    let open = OpenReports()
    for number in 0..<count {
      let state = state(number, now)
      let headers = EventHeaders(
        id: EventID.make(.lineageChanged, subject: state.lineage.description, revision: 1),
        type: .lineageChanged, source: "/purser/verify-service", time: rfc3339(now),
        subject: state.lineage.description, traceparent: nil)
      let record = Record(
        topic: bench.topics.name(of: .transactions), key: Array(state.customer.utf8),
        value: try EventJSON.encode(state),
        headers: headers.pairs.map { Header(name: $0.name, text: $0.value) })
      open.begin()
      while try !enqueue(record, producer, open) { open.waitForOne() }
    }
    try open.waitForAll()
    producer.closeAndWait(by: .after(.seconds(2)))
  }

  /// False when the producer's queue is full.
  private static func enqueue(_ record: Record, _ producer: Producer, _ open: OpenReports) throws
    -> Bool
  {
    do {
      try producer.enqueue(record) { open.end($0) }
      return true
    } catch {
      guard error.code == .queueFull else { throw error }
      return false
    }
  }

  static func state(_ number: Int, _ now: Int64) -> LineageState {
    let id = "\(2_000_000_000_000_000 + number)"
    var transaction = LineageTransaction(
      transactionId: id, productId: "pro.monthly", type: "Auto-Renewable Subscription", quantity: 1,
      purchaseDate: now, signedDate: now, hash: SHA256.hex(id))
    transaction.originalPurchaseDate = now
    transaction.expiresDate = now + 30 * 86_400_000
    transaction.inAppOwnershipType = "PURCHASED"
    transaction.transactionReason = "PURCHASE"
    transaction.subscriptionGroupIdentifier = "5A1C0E27"
    transaction.appAccountToken = "7b1de0c4-1d63-4cbf-9c1a-0f4a3f0b9a10"
    transaction.price = 9990
    transaction.currency = "USD"
    transaction.storefront = "USA"
    return LineageState(
      lineage: LineageID(
        bundleId: Apple.bundleID, environment: "Sandbox", originalTransactionId: id),
      revision: 1, customer: "customer-\(number)", holding: .held, transactions: [transaction],
      renewal: nil, status: 1, statusDate: now,
      cause: LineageCause(kind: "proof", fact: transaction.hash), decidedAt: now)
  }
}
