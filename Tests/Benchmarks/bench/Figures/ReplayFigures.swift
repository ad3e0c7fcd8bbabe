import Cryptography
import Events
import Kafka
import Pipeline
import Processes
import ServiceRuntime

/// `iap.transactions` read into an entitlement store that is new: decided anew and published, as no
/// service yet folds what was published before.
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
    let subscriberNote =
      "\(shown(cpu / Double(count) * 1e6)) µs of CPU per event until ready, "
      + "\(shown(cpu / took * 100)) % of one core"
    return [
      Figure(
        "replay.rate", "lineage states read into a fresh entitlement store", Double(count) / took,
        "/s", target: .init(direction: .atLeast, value: 15_000, unit: "/s"),
        notes: [
          subscriberNote,
          "\(count) states of as many customers, start of the process included",
        ])
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
