import Processes
import Cryptography
import Events
import HTTPClient
import Testing

extension WholeWay {
  /// Each kind of product from its order to its end, asserted on topics and answers.
  @Suite("The story of a purchase", .serialized, .ownWay, .timeLimit(.minutes(4)))
  struct StoryTests {
    /// Order, purchase and proof; the order is completed and the app may finish the transaction.
    private func buy(_ customer: String, _ product: String, quantity: Int? = nil) async throws
      -> (Order, Bought)
    {
      let way = try way
      let order = try await way.order(customer, product, quantity: quantity)
      #expect(order.state == .created && order.revision == 1 && order.customer == customer)
      #expect(order.quantity == Int64(quantity ?? 1) && order.expiresAt > order.createdAt)
      #expect(UUIDs.normalized(order.id) == order.id && Array(order.id)[14] == "4")
      let bought = try await way.buy(product, token: order.id, quantity: quantity)
      let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
      #expect(proved.finish && ["accepted", "already-recorded"].contains(proved.outcome))
      #expect(proved.transactionId == bought.transactionId)
      let completed = proved.order
      #expect(completed.state == .completed && !completed.mismatched)
      #expect(completed.transactionId == bought.transactionId)
      #expect(try await way.order(order.id) == completed)
      return (order, bought)
    }

    private var way: Way { get throws { try WholeWay.way } }

    private func right(
      _ customer: String, _ what: String, _ test: (EntitlementChanged) -> Bool
    ) async throws -> EntitlementChanged {
      try await way.journal.first(EntitlementChanged.self, "\(customer): \(what)") {
        $0.customer == customer && test($0)
      }
    }

    @Test func `an order is told with its token first, and each step of it once`() async throws {
      let (order, bought) = try await buy("told", "themes.all")
      let way = try way
      _ = try await right("told", "themes came") { $0.entitlement.name == "themes" }
      _ = try await way.quiet()
      let tokens = way.journal.all(TokenIssued.self) { $0.customer == "told" }
      #expect(tokens.map(\.token) == [order.id] && tokens.first?.orderId == order.id)
      let moves = way.journal.all(Order.self) { $0.id == order.id }
      #expect(moves.map(\.revision) == Array(1...Int64(moves.count)))
      #expect(moves.first == order && moves.last?.state == .completed)
      #expect(moves.count { $0.state == .completed } == 1)
      let proofs = way.journal.all(Proof.self) { $0.orderId == order.id }
      #expect(proofs.map(\.content) == [bought.signedTransaction])
      let outcomes = way.journal.all(ProofOutcome.self) { $0.orderId == order.id }
      #expect(outcomes.map(\.proofId) == proofs.map(\.id))
      #expect(outcomes.first?.transactionId == bought.transactionId)
      let facts = way.journal.all(AppStoreFact.self) {
        $0.lineage?.hasSuffix("/\(bought.originalTransactionId ?? "")") == true
      }
      #expect(Set(facts.map(\.source)) == [.proof, .notification] && facts.count == 2)
    }

    @Test
    func `a subscription comes, renews without a gap, is cancelled and runs out by the clock`()
      async throws
    {
      let way = try way
      let (_, bought) = try await buy("sub", "pro.monthly")
      let came = try await right("sub", "pro came") { $0.entitlement.name == "pro" }
      #expect(came.version == 1 && came.entitlement.isActive && came.previous == nil)
      #expect(came.cause.kind == "purchase" && came.entitlement.environment == "Sandbox")
      #expect(came.entitlement.productId == "pro.monthly")
      #expect(came.entitlement.grantor?.transactionId == bought.transactionId)
      #expect(came.entitlement.expiresAt == bought.expiresDate)
      // Whether Apple will renew stands in the notification, which may come after the proof.
      _ = try await right("sub", "pro will renew") { $0.entitlement.willRenew == true }

      let end = try #require(bought.expiresDate)
      try await way.advance(to: end + 3_600_000)
      let renewed = try await right("sub", "pro was prolonged") {
        $0.entitlement.expiresAt ?? 0 > end
      }
      #expect(renewed.cause.kind == "renewal" && renewed.previous?.isActive == true)
      #expect(renewed.entitlement.grantor?.transactionId != bought.transactionId)
      let gaps = way.journal.all(EntitlementChanged.self) {
        $0.customer == "sub" && !$0.entitlement.isActive
      }
      #expect(gaps.isEmpty)

      try await way.apple("subscriptions/\(bought.originalTransactionId ?? "")/cancel")
      let cancelled = try await right("sub", "pro will not renew") {
        $0.version > renewed.version && $0.entitlement.willRenew == false
      }
      #expect(cancelled.entitlement.isActive)
      #expect(try await way.owned("sub").active("pro") == cancelled.entitlement)

      // Apple's EXPIRED is held back, so it is the clock alone that ends the right.
      try await way.holdNotifications(true)
      try await way.advance(to: try #require(cancelled.entitlement.expiresAt) + 60_000)
      let ended = try await right("sub", "pro went") { !$0.entitlement.isActive }
      // Time has no lineage of its own: the event names the purchase that ran out.
      let grantor = cancelled.entitlement.grantor
      #expect(
        ended.cause
          == ChangeCause(
            kind: "expiry", lineage: grantor?.lineage, transactionId: grantor?.transactionId))
      #expect(ended.previous == cancelled.entitlement)
      #expect(try await way.owned("sub").active.isEmpty)
      try await way.holdNotifications(false)
      _ = try await way.quiet()
      #expect(try await way.owned("sub").version == ended.version, "EXPIRED changes nothing more")
    }

    @Test func `three of a consumable are credited at once and an answer says so`() async throws {
      let way = try way
      _ = try await buy("coins", "coins.100", quantity: 3)
      let credit = try await way.journal.first(BalanceChanged.self, "coins were credited") {
        $0.customer == "coins"
      }
      #expect(credit.delta == 300 && credit.balance.amount == 300 && credit.version == 1)
      #expect(credit.balance.unit == "coins" && credit.cause.kind == "purchase")
      let (_, second) = try await buy("coins", "coins.100", quantity: 2)
      _ = try await way.journal.first(BalanceChanged.self, "more coins") {
        $0.customer == "coins" && $0.balance.amount == 500
      }
      try await way.apple("transactions/\(second.transactionId ?? "")/refund")
      let taken = try await way.journal.first(BalanceChanged.self, "coins were taken back") {
        $0.customer == "coins" && $0.delta == -200
      }
      #expect(taken.cause.kind == "refund" && taken.shortfall == nil)
      let held = try await way.balances("coins")
      #expect(held.amount("coins") == 300 && held.version == taken.version)
    }

    @Test func `a non-consumable is owned for good until it is refunded`() async throws {
      let way = try way
      let (_, bought) = try await buy("themes", "themes.all")
      let came = try await right("themes", "themes came") { $0.entitlement.isActive }
      #expect(came.entitlement.expiresAt == nil && came.entitlement.willRenew == nil)
      try await way.apple("transactions/\(bought.transactionId ?? "")/refund")
      let went = try await right("themes", "themes went") { !$0.entitlement.isActive }
      #expect(went.cause.kind == "refund" && went.cause.transactionId == bought.transactionId)
      #expect(try await way.owned("themes").active.isEmpty)
      // The refund can be undone, and then all is as before.
      try await way.apple("transactions/\(bought.transactionId ?? "")/reverse-refund")
      let again = try await right("themes", "themes came again") {
        $0.version > went.version && $0.entitlement.isActive
      }
      #expect(again.cause.kind == "refund-reversed" && again.entitlement == came.entitlement)
    }

    @Test func `a non-renewing subscription lasts as long as the catalog says, two one by one`()
      async throws
    {
      let way = try way
      let length: Int64 = 90 * 86_400_000
      _ = try await buy("season", "season.pass")
      let first = try await right("season", "season came") { $0.entitlement.name == "season" }
      let start = try #require(first.entitlement.purchasedAt)
      #expect(first.entitlement.expiresAt == start + length)
      #expect(first.entitlement.willRenew == false)
      _ = try await buy("season", "season.pass")
      let second = try await right("season", "season was prolonged") {
        $0.entitlement.expiresAt == start + 2 * length
      }
      #expect(second.entitlement.startedAt == start)
      try await way.advance(to: start + 2 * length + 1000)
      let ended = try await right("season", "season went") { !$0.entitlement.isActive }
      #expect(ended.cause.kind == "expiry" && ended.version == 3)
    }

    @Test func `the answers of HTTP are the last state on the compacted topic`() async throws {
      let way = try way
      _ = try await buy("reader", "themes.all")
      _ = try await buy("reader", "coins.100", quantity: 2)
      _ = try await way.quiet()
      for customer in ["reader", "nobody"] {
        let state = way.journal.all(CustomerState.self) { $0.customer == customer }.last
        let owned = try await way.owned(customer)
        let held = try await way.balances(customer)
        #expect(owned.version == state?.version ?? 0 && held.version == owned.version)
        #expect(owned.active == state?.entitlements ?? [])
        #expect(held.balances == state?.balances ?? [])
      }
      let answer = try await way.send(
        "GET", "entitlement-service", "/v1/customers/reader/entitlements")
      let tag = try #require(answer.header("ETag"))
      let again = try await way.send(
        "GET", "entitlement-service", "/v1/customers/reader/entitlements",
        headers: [("If-None-Match", tag)])
      #expect(again.status == 304 && again.body.isEmpty)
    }

    @Test func `one Idempotency-Key opens one order`() async throws {
      let way = try way
      let first = try await way.order("twice", "themes.all", idempotencyKey: "key-1")
      let second = try await way.order("twice", "themes.all", idempotencyKey: "key-1")
      #expect(first == second)
      let other = try await way.order("twice", "themes.all", idempotencyKey: "key-2")
      #expect(other.id != first.id)
    }
  }
}
