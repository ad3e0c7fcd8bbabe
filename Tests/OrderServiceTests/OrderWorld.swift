import Catalog
import Events
import FoundationEssentials
import HTTPServer
import Kafka
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import order_service

/// The service without sockets and without Kafka: requests go to the router, and what the ledger
/// would publish is read in by hand.
struct OrderWorld: Sendable {
  static let bundle = "com.example.app"
  static let start: Int64 = 1_700_000_000_000

  let store: Store
  let clock = ManualClock(start)
  let metrics = Metrics()
  let notices = Notices()
  let router: Router
  let expiry: ExpireOrders
  private let complete: CompleteOrder

  /// - Parameters:
  ///   - transfer: The app's transfer policy.
  ///   - catalog: Instead of the demo's.
  ///   - access: Instead of none.
  init(transfer: String = "transfer", catalog: String? = nil, access: AccessPolicy? = nil) throws {
    let folder = TestFolder.path("orders")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    store = try Store(
      path: folder + "/orders.sqlite", migrations: OrderTables.migrations, source: "/test",
      topics: TopicNames(), clock: clock, log: .silent, metrics: metrics)
    let apps = try Apps(
      json: Array(
        """
        {"roots": ["root.der"], "catalog": "\(TestData.packageRoot)/deploy/demo/catalog.json",
         "apps": [{"bundleId": "\(Self.bundle)", "environments": {"Sandbox": {}},
                   "policies": {"transfer": "\(transfer)"}}]}
        """.utf8))
    let catalog =
      try catalog.map { try Catalog(json: Array($0.utf8)) }
      ?? Catalog.load(path: "\(TestData.packageRoot)/deploy/demo/catalog.json")
    let shop = Shop(
      apps: apps, catalogs: [Self.bundle: Reloadable("catalog", fixed: catalog)])
    expiry = ExpireOrders(notices: notices)
    complete = CompleteOrder(notices: notices, metrics: metrics)
    var router = access.map { Router(access: $0) } ?? Router()
    OrderRoutes(
      store: store, shop: shop, notices: notices, longestWait: .seconds(30),
      placeOrder: PlaceOrder(
        store: store, shop: shop, notices: notices, metrics: metrics),
      submitProof: SubmitProof(store: store, notices: notices, metrics: metrics)
    ).add(to: &router)
    OrderEvents(store: store, notices: notices, heartbeat: .milliseconds(20)).add(to: &router)
    RestoreRoutes(
      store: store, shop: shop, longestWait: .seconds(30),
      restorePurchases: RestorePurchases(
        store: store, shop: shop, notices: notices, metrics: metrics)
    ).add(to: &router)
    CustomerRoutes(store: store, shop: shop, notices: notices).add(to: &router)
    ExportCustomer(store: store, shop: shop).add(to: &router)
    self.router = router
  }

  /// An answer, with its body as JSON.
  struct Answer: Sendable {
    let status: Int
    let body: [UInt8]
    let response: Response

    func read<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
      try JSONDecoder().decode(type, from: Data(body))
    }

    /// The last word of the problem's type.
    var problem: String? {
      struct Told: Decodable { let type: String }
      return (try? read(Told.self))?.type.split(separator: ":").last.map(String.init)
    }

    var text: String { String(decoding: body, as: UTF8.self) }
  }

  func send(
    _ method: HTTPServer.Method, _ path: String, _ body: String = "",
    headers: [(String, String)] = [], as principal: Principal? = nil
  ) async throws -> Answer {
    let response = await router.respond(
      to: try Request(
        method, path, headers: headers, body: Array(body.utf8), principal: principal))
    return Answer(status: response.status, body: response.body, response: response)
  }

  func place(_ customer: String = "alice", _ product: String = "coins.100") async throws -> Order {
    let answer = try await send(
      .post, "/v1/orders", #"{"customer":"\#(customer)","productId":"\#(product)"}"#)
    try #require(answer.status == 201, "\(answer.text)")
    return try answer.read()
  }

  func order(_ id: String) async throws -> Order {
    try #require(try await store.readers.read { try OrderStore.order($0, id) })
  }

  /// Posts a proof; the answer and the proof's id.
  func prove(_ order: Order, _ body: String, wait: Int = 0) async throws -> Answer {
    try await send(
      .post, "/v1/orders/\(order.id)/proofs", body,
      headers: wait > 0 ? [("Prefer", "wait=\(wait)")] : [])
  }

  /// What stands in the outbox under an event type, the oldest first.
  func published<Event: Decodable & Sendable>(_ type: EventType, as: Event.Type = Event.self)
    async throws -> [Event]
  {
    try await store.readers.read { reader in
      try reader.query("SELECT value, headers FROM outbox ORDER BY id") { row -> Event? in
        let headers = HeaderBytes.decode(row.blob(1)) ?? []
        let found = headers.first { $0.name == "ce_type" }?.text ?? ""
        PublishedEvents.note(found, row.optionalBlob(0))
        guard found == type.rawValue else { return nil }
        return try EventJSON.decode(Event.self, from: row.blob(0))
      }
    }.compactMap { $0 }
  }

  /// Reads a record of `iap.transactions` in, as the processor does.
  func read(_ event: some Encodable & Sendable, _ type: EventType) async throws {
    let record = ReceivedRecord(
      topic: "iap.transactions", partition: 0, offset: 0, timestamp: 0, key: nil,
      value: try EventJSON.encode(event), headers: [Header(name: "ce_type", text: type.rawValue)])
    guard let work = try complete.prepare(record) else { return }
    try await store.change { change in try work(change) }
  }

  /// What verify-service decides about the newest proof, or about the given one.
  func decide(
    _ outcome: Outcome = .accepted, proof id: String? = nil, part: ProofPart? = nil,
    transaction: String = "1", product: String = "coins.100", quantity: Int64 = 1,
    token: String? = nil, reason: String? = nil, detail: String? = nil, revoked: Int64? = nil,
    bundle: String = bundle
  ) async throws {
    let proofs: [Proof] = try await published(.proofSubmitted)
    let proof = try #require(id == nil ? proofs.last : proofs.last { $0.id == id })
    let isGenuine = outcome != .rejected
    try await read(
      ProofOutcome(
        proofId: proof.id, part: part, orderId: proof.orderId, customer: proof.customer,
        outcome: outcome, reason: reason, detail: detail,
        lineage: isGenuine ? "\(bundle)/Sandbox/\(transaction)" : nil,
        transactionId: isGenuine ? transaction : nil, productId: isGenuine ? product : nil,
        quantity: isGenuine ? quantity : nil, appAccountToken: token, revocationDate: revoked,
        decidedAt: clock.now()), .proofDecided)
  }

  /// A lineage that the ledger publishes.
  func see(
    _ customer: String, transaction: String = "1", product: String = "coins.100",
    token: String?, reason: String = "PURCHASE", at time: Int64 = start,
    bundle: String = bundle
  ) async throws {
    var one = LineageTransaction(
      transactionId: transaction, productId: product, type: "Consumable", quantity: 1,
      purchaseDate: time, signedDate: time, hash: "h")
    one.appAccountToken = token
    one.transactionReason = reason
    try await read(
      LineageState(
        lineage: LineageID(
          bundleId: bundle, environment: "Sandbox", originalTransactionId: transaction),
        revision: 1, customer: customer, holding: .held, transactions: [one],
        cause: LineageCause(kind: "notification"), decidedAt: time), .lineageChanged)
  }

  /// How often the store has been written to.
  var commits: String {
    metrics.text().split(separator: "\n").first { $0.hasPrefix("sqlite_commits_total") }
      .map(String.init) ?? ""
  }
}

/// Texts that look like proofs; nobody here verifies them.
enum Proofs {
  /// A JWS of a transaction with the given id, signed by nobody.
  ///
  /// - Parameter bytes: About how long it is.
  static func signed(_ id: String, bytes: Int = 0) -> String {
    let filling = String(repeating: "x", count: max(0, bytes * 3 / 4 - 60))
    let payload = Data(#"{"transactionId":"\#(id)","a":"\#(filling)"}"#.utf8).base64EncodedString()
      .replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
    return "eyJhbGciOiJFUzI1NiJ9.\(payload).c2lnbmF0dXJl"
  }

  static func body(_ id: String) -> String { #"{"signedTransaction":"\#(signed(id))"}"# }

  /// An app receipt by Apple, in base64.
  static func receipt() throws -> String {
    try TestData.text("apple/receipts/sandbox-app-receipt.base64.txt").filter { !$0.isWhitespace }
  }
}
