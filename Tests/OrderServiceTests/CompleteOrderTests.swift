import Events
import FoundationEssentials
import Kafka
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import order_service

@Suite("Completing orders") struct CompleteOrderTests {
  private let store: Store
  private let complete = CompleteOrder(waiters: Waiters<String>(), metrics: Metrics())
  private let lineage = LineageID(
    bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: "1")

  init() throws {
    let folder = URL.temporaryDirectory.appending(path: "purser-orders-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    store = try Store(
      path: folder + "/orders.sqlite", migrations: OrderStore.migrations, source: "/test",
      topics: TopicNames(), clock: ManualClock(1_700_000_000_000), log: .silent,
      metrics: Metrics())
  }

  /// An open order with a proof that waits for its outcome.
  private func place(_ id: String, product: String = "coins", customer: String = "alice")
    async throws
  {
    try await store.change { change in
      try OrderStore.save(
        change,
        Order(
          id: id, revision: 1, customer: customer, bundleId: "com.example.app",
          productId: product, quantity: 1, state: .submitted, mismatched: false, createdAt: 0,
          updatedAt: 0, expiresAt: .max, cause: "placed"))
      try ProofStore.insert(
        change.transaction,
        Proof(
          id: "proof-\(id)", orderId: id, customer: customer, bundleId: "com.example.app",
          kind: .signedTransaction, content: "a.b.c", submittedAt: 0))
    }
  }

  private func read(_ event: some Encodable & Sendable, _ type: EventType) async throws {
    let record = ReceivedRecord(
      topic: "iap.transactions", partition: 0, offset: 0, timestamp: 0, key: nil,
      value: try EventJSON.encode(event), headers: [Header(name: "ce_type", text: type.rawValue)])
    guard let work = try complete.prepare(record) else { return }
    try await store.change { change in try work(change) }
  }

  private func decide(
    _ id: String, _ outcome: Outcome = .accepted, transaction: String = "1",
    product: String = "coins", token: String? = nil, revoked: Int64? = nil
  ) async throws {
    try await read(
      ProofOutcome(
        proofId: "proof-\(id)", orderId: id, customer: "alice", outcome: outcome,
        reason: outcome == .rejected ? "bad-signature" : nil, lineage: lineage.description,
        transactionId: transaction, productId: product, quantity: 1, appAccountToken: token,
        revocationDate: revoked, decidedAt: 0), .proofDecided)
  }

  private func order(_ id: String) async throws -> Order {
    try #require(try await store.readers.read { try OrderStore.order($0, id) })
  }

  @Test func `an accepted proof completes its order`() async throws {
    try await place("a")
    try await decide("a", token: "a")
    let order = try await order("a")
    #expect(order.state == .completed && !order.mismatched && order.transactionId == "1")
  }

  @Test func `a purchase that is another order's completes a second order only as mismatched`()
    async throws
  {
    try await place("a")
    try await place("b")
    try await decide("a", token: "a")
    try await decide("b", .alreadyRecorded, token: "a")
    #expect(try await order("a").mismatched == false)
    #expect(try await order("b").state == .completed)
    #expect(try await order("b").mismatched)
  }

  @Test func `a purchase without token completes one order, and further ones as mismatched`()
    async throws
  {
    try await place("a")
    try await place("b")
    try await decide("a")
    try await decide("b", .alreadyRecorded)
    #expect(try await order("a").mismatched == false)
    #expect(try await order("b").mismatched)
  }

  @Test func `a purchase that was taken back, or of another product, is a mismatch`() async throws {
    try await place("a")
    try await place("b", product: "themes")
    try await decide("a", transaction: "1", token: "a", revoked: 5)
    try await decide("b", transaction: "2", token: "b")
    #expect(try await order("a").mismatched)
    #expect(try await order("b").mismatched)
  }

  @Test func `a refused proof rejects the order, and a valid one completes it afterwards`()
    async throws
  {
    try await place("a")
    try await decide("a", .rejected)
    #expect(try await order("a").state == .rejected)
    #expect(try await order("a").rejection == "bad-signature")
    var transaction = LineageTransaction(
      transactionId: "1", productId: "coins", type: "Consumable", quantity: 1, purchaseDate: 1,
      signedDate: 1, hash: "h")
    transaction.appAccountToken = "a"
    try await read(
      LineageState(
        lineage: lineage, revision: 1, customer: "alice", holding: .held,
        transactions: [transaction], cause: LineageCause(kind: "notification"), decidedAt: 0),
      .lineageChanged)
    let completed = try await order("a")
    #expect(completed.state == .completed && completed.rejection == nil && !completed.mismatched)
    #expect(completed.cause == "transaction-seen" && completed.revision == 3)
  }

  @Test func `a transaction with a token completes only an order of its own customer`()
    async throws
  {
    try await place("a", customer: "bob")
    var transaction = LineageTransaction(
      transactionId: "1", productId: "coins", type: "Consumable", quantity: 1, purchaseDate: 1,
      signedDate: 1, hash: "h")
    transaction.appAccountToken = "a"
    try await read(
      LineageState(
        lineage: lineage, revision: 1, customer: "alice", holding: .held,
        transactions: [transaction], cause: LineageCause(kind: "notification"), decidedAt: 0),
      .lineageChanged)
    #expect(try await order("a").state == .submitted)
  }
}
