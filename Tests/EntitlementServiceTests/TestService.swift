import Catalog
import Events
import FoundationEssentials
import HTTPServer
import Kafka
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization
import TestSupport

@testable import entitlement_service

/// The service without broker and relay: records go in by hand, what it publishes is read from its
/// outbox, requests go to its router.
final class TestService: Sendable {
  let clock: ManualClock
  let store: Store
  let rules: LiveRules
  let waiters = Waiters<String>()
  let hooks: WebhookQueue
  let recompute: Recompute
  let metrics = Metrics()
  let router: Router
  let path: String
  private let apply: ApplyTransaction
  private let customers: ApplyCustomerChange
  /// What was read, as it would stand in the topics.
  let inputs = Mutex<[ReceivedRecord]>([])

  /// Opens a store of its own; `copying` begins with another service's store, as after a restart.
  init(
    policies: String = "{}", products: String = sampleProducts, at now: Int64 = day(0),
    reopening former: TestService? = nil
  ) throws {
    clock = ManualClock(former?.clock.now() ?? now)
    let folder = TestFolder.path("e")
    path = former?.path ?? folder + "/entitlement.sqlite"
    try FileManager.default.createDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path,
      withIntermediateDirectories: true)
    store = try Store(
      path: path, migrations: EntitlementStore.migrations, source: "/test", topics: TopicNames(),
      clock: clock, log: .silent, metrics: metrics)
    rules = LiveRules(try sampleRules(policies: policies, products: products))
    hooks = WebhookQueue(metrics: metrics)
    let hooks = hooks
    try store.readers.readAndWait { reader in try hooks.begin(reader) }
    recompute = Recompute(rules: rules, waiters: waiters, hooks: hooks, metrics: metrics)
    apply = ApplyTransaction(recompute: recompute, log: .silent, metrics: metrics)
    customers = ApplyCustomerChange(recompute: recompute, metrics: metrics)
    var router = Router(access: .insecure)
    EntitlementRoutes(store: store, waiters: waiters, longestWait: .seconds(30)).add(to: &router)
    ListRoutes(store: store).add(to: &router)
    ExportRoutes(store: store).add(to: &router)
    GrantRoutes(store: store, recompute: recompute).add(to: &router)
    SpendRoutes(store: store, recompute: recompute, metrics: SpendMetrics(metrics)).add(to: &router)
    RefundRoutes(store: store).add(to: &router)
    WebhookRoutes(store: store, queue: hooks, allowsPrivate: true, apps: rules.current.apps)
      .add(to: &router)
    self.router = router
    if let former {
      let read = former.inputs.withLock { $0 }
      inputs.withLock { $0 = read }
    }
  }

  /// Closes the store and opens it again.
  func reopened(policies: String = "{}", products: String = sampleProducts) async throws
    -> TestService
  {
    await store.readers.close(by: .after(.seconds(5)))
    await StoreService(store).stop(by: .after(.seconds(5)))
    return try TestService(policies: policies, products: products, reopening: self)
  }

  private func record(_ topic: Topic, _ type: EventType, _ key: String, _ value: some Encodable)
    throws -> ReceivedRecord
  {
    let record = ReceivedRecord(
      topic: TopicNames().name(of: topic), partition: 0, offset: 0, timestamp: 0,
      key: Array(key.utf8), value: try EventJSON.encode(value),
      headers: [Header(name: "ce_type", text: type.rawValue)])
    inputs.withLock { $0.append(record) }
    return record
  }

  /// Reads a lineage state as the processor would.
  func read(_ state: LineageState) async throws {
    guard
      let work = try apply.prepare(
        record(.transactions, .lineageChanged, state.customer, state))
    else { return }
    try await store.change { change in try work(change) }
  }

  func read(_ event: CustomerMerged) async throws {
    guard
      let work = try customers.prepare(
        record(.customers, .customerMerged, event.customer, event))
    else { return }
    try await store.change { change in try work(change) }
  }

  func read(_ event: CustomerErased) async throws {
    guard
      let work = try customers.prepare(
        record(.customers, .customerErased, event.customer, event))
    else { return }
    try await store.change { change in try work(change) }
  }

  func merge(_ customer: String, into: String, at now: Int64 = day(0)) async throws {
    try await read(
      CustomerMerged(
        id: "merge-\(customer)-\(into)", customer: customer, into: into, author: "login",
        reason: "signed in", decidedAt: now))
  }

  func erase(_ customer: String, at now: Int64 = day(0)) async throws {
    try await read(
      CustomerErased(
        id: "erase-\(customer)", customer: customer, author: "support", reason: "asked for it",
        decidedAt: now))
  }

  /// Lets the expiry timer fire once for the present; gives how many customers it did.
  @discardableResult
  func fire(limit: Int = 500) async throws -> Int {
    let (timer, now) = (ExpiryTimer(recompute: recompute), clock.now())
    return try await store.change { change in try timer.fire(change, dueBy: now, limit: limit) }
  }

  func nextDue() async throws -> Int64? {
    let timer = ExpiryTimer(recompute: recompute)
    return try await store.readers.read { reader in try timer.nextDue(reader) }
  }

  /// Lets the re-evaluation after a change of catalog run to its end, or a number of batches.
  @discardableResult
  func reevaluate(batches: Int = Int.max) async throws -> Int {
    let job = ReevaluateCustomers(recompute: recompute, metrics: Metrics())
    var done = 0
    while done < batches, try await store.readers.read({ reader in try job.nextDue(reader) }) != nil
    {
      _ = try await store.change { change in try job.fire(change, dueBy: 0, limit: 500) }
      done += 1
    }
    return done
  }

  func request(
    _ method: HTTPServer.Method, _ target: String, _ body: String = "", key: String? = nil,
    headers: [(String, String)] = []
  ) async throws -> Response {
    var headers = headers
    if let key { headers.append(("Idempotency-Key", key)) }
    return await router.respond(
      to: try Request(method, target, headers: headers, body: Array(body.utf8)))
  }

  /// One published event.
  struct Published: Sendable {
    let type: String
    let key: String
    let value: [UInt8]?
  }

  func published(_ topic: Topic = .entitlements) async throws -> [Published] {
    let name = TopicNames().name(of: topic)
    return try await store.readers.read { reader in
      try reader.query("SELECT key, value, headers FROM outbox WHERE topic = ? ORDER BY id", name) {
        row in
        let headers = String(decoding: row.blob(2), as: UTF8.self)
        let type =
          headers.split(separator: "purser.", maxSplits: 1).last?
          .split(separator: ".v1").first.map(String.init) ?? ""
        let value = row.optionalBlob(1)
        PublishedEvents.note("purser.\(type).v1", value)
        return Published(
          type: type, key: String(decoding: row.blob(0), as: UTF8.self), value: value)
      }
    }
  }

  /// What was told of rights, in order.
  func rights() async throws -> [EntitlementChanged] {
    try await published().filter { $0.type.hasPrefix("entitlement.") }.compactMap {
      try $0.value.map { try EventJSON.decode(EntitlementChanged.self, from: $0) }
    }
  }

  /// Every event in a few words: `alice activated pro`, `alice coins +100 = 100`.
  func told() async throws -> [String] {
    try await published().map { event in
      let value = event.value ?? []
      switch event.type {
      case "balance.changed":
        let change = try EventJSON.decode(BalanceChanged.self, from: value)
        let sign = change.delta < 0 ? "" : "+"
        let short = change.shortfall.map { " short \($0)" } ?? ""
        return "\(event.key) \(change.balance.unit) \(sign)\(change.delta)"
          + " = \(change.balance.amount)\(short)"
      case let type where type.hasPrefix("entitlement."):
        let change = try EventJSON.decode(EntitlementChanged.self, from: value)
        return "\(event.key) \(type.dropFirst("entitlement.".count)) \(change.entitlement.name)"
      default:
        return "\(event.key) \(event.type)"
      }
    }
  }

  /// The rights and balances of a customer as the answers say.
  func state(_ customer: String) async throws -> (rights: [String], balances: [String: Int64]) {
    try await store.readers.read { reader in
      (
        try reader.query(
          "SELECT name FROM entitlements WHERE customer = ? AND is_active = 1 ORDER BY name",
          customer
        ) { $0.text(0) },
        Dictionary(
          try reader.query(
            "SELECT unit, amount FROM balances WHERE customer = ?", customer
          ) { ($0.text(0), $0.int(1)) }, uniquingKeysWith: { $1 })
      )
    }
  }

  /// The log of writes as a reader of the file would find it.
  func auditText() async throws -> String {
    try await store.readers.read { reader in
      try reader.query(
        "SELECT caller, path, IFNULL(subject, ''), IFNULL(customer, '') FROM audit ORDER BY id"
      ) { "\($0.text(0)) \($0.text(1)) \($0.text(2)) \($0.text(3))" }
    }.joined(separator: "\n")
  }

  /// Accounts whose balance is not the sum of their entries, or less than their lots: must be none.
  func wrongBalances() async throws -> [String] {
    try await store.readers.read { reader in
      try reader.query(
        """
        SELECT customer, unit FROM (
          SELECT customer, environment, unit, SUM(amount) AS amount FROM balance_entries
            GROUP BY customer, environment, unit
        ) AS sums FULL JOIN balances USING (customer, environment, unit)
        WHERE COALESCE(sums.amount, 0) <> COALESCE(balances.amount, 0)
        UNION ALL
        SELECT customer, unit FROM (
          SELECT customer, environment, unit, SUM(remaining) AS remaining FROM balance_lots
            GROUP BY customer, environment, unit
        ) AS lots LEFT JOIN balances USING (customer, environment, unit)
        WHERE lots.remaining > MAX(0, COALESCE(balances.amount, 0))
        """
      ) { "\($0.text(0)) \($0.text(1))" }
    }
  }
}
