import Events
import HTTPClient
import Testing

extension WholeWay {
  /// The facts of one purchase in every order, each several times, and owners who are known late.
  @Suite("Facts in any order", .serialized, .ownWay, .timeLimit(.minutes(4)))
  struct AnyOrderTests {
    private var way: Way { get throws { try WholeWay.way } }

    private func lineage(_ bought: Bought, _ test: (LineageState) -> Bool) async throws
      -> LineageState
    {
      try await way.journal.first(LineageState.self, "a state of \(bought)") {
        $0.lineage.originalTransactionId == bought.originalTransactionId && test($0)
      }
    }

    private func states(of bought: Bought) throws -> [LineageState] {
      try way.journal.all(LineageState.self) {
        $0.lineage.originalTransactionId == bought.originalTransactionId
      }
    }

    @Test func `the notification comes before the proof, each three times`() async throws {
      let way = try way
      let order = try await way.order("early-bell", "coins.100", quantity: 3)
      let bought = try await way.buy("coins.100", token: order.id, quantity: 3)
      _ = try await lineage(bought) { $0.customer == "early-bell" }
      // The purchase alone completes the order, as it bears the order's token.
      _ = try await way.journal.first(Order.self, "the order is completed") {
        $0.id == order.id && $0.state == .completed && $0.cause == "transaction-seen"
      }
      for _ in 0..<2 {
        #expect(try await way.redeliver(try #require(bought.notificationUUID)) == 200)
      }
      for _ in 0..<3 {
        let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
        #expect(proved.finish && proved.outcome == "already-recorded")
      }
      try await onlyOnce(order, bought, coins: 300)
    }

    @Test func `the proof comes before the notification, each three times`() async throws {
      let way = try way
      try await way.holdNotifications(true)
      let order = try await way.order("early-proof", "coins.100", quantity: 2)
      let bought = try await way.buy("coins.100", token: order.id, quantity: 2)
      for _ in 0..<3 {
        let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
        #expect(proved.finish && proved.outcome == "accepted")
      }
      try await way.holdNotifications(false)
      _ = try await eventually("the notification is delivered") {
        try await way.notifications("transactionId=\(bought.transactionId ?? "")")
          .first { $0.state == "delivered" }
      }
      for _ in 0..<2 {
        #expect(try await way.redeliver(try #require(bought.notificationUUID)) == 200)
      }
      try await onlyOnce(order, bought, coins: 200)
    }

    /// The purchase is credited once and its one proof has one outcome, however often it came.
    private func onlyOnce(_ order: Order, _ bought: Bought, coins: Int64) async throws {
      let way = try way
      _ = try await way.quiet()
      #expect(try await way.balances(order.customer).amount("coins") == coins)
      let changes = way.journal.all(BalanceChanged.self) { $0.customer == order.customer }
      #expect(changes.map(\.delta) == [coins])
      #expect(try states(of: bought).allSatisfy { $0.transactions.count == 1 })
      #expect(way.journal.all(Proof.self) { $0.orderId == order.id }.count == 1)
      #expect(way.journal.all(ProofOutcome.self) { $0.orderId == order.id }.count == 1)
      let completed = way.journal.all(Order.self) { $0.id == order.id && $0.state == .completed }
      #expect(completed.count == 1)
    }

    @Test func `facts older than what is known change nothing, whenever they come`() async throws {
      let way = try way
      let order = try await way.order("old-news", "themes.all")
      let bought = try await way.buy("themes.all", token: order.id)
      _ = try await way.prove(order.id, try #require(bought.signedTransaction))
      try await way.apple("transactions/\(bought.transactionId ?? "")/refund")
      _ = try await way.journal.first(EntitlementChanged.self, "themes went") {
        $0.customer == "old-news" && !$0.entitlement.isActive
      }
      // The copy that was signed before the refund gives nothing back.
      let second = try await way.order("old-news", "themes.all")
      let proved = try await way.prove(second.id, try #require(bought.signedTransaction))
      #expect(proved.outcome == "already-recorded")
      #expect(try await way.redeliver(try #require(bought.notificationUUID)) == 200)
      _ = try await way.quiet()
      #expect(try await way.owned("old-news").active.isEmpty)
    }

    @Test
    func `a purchase whose token nobody knows is a provisional customer's, then its prover's`()
      async throws
    {
      let way = try way
      // A token that was never given out: the ledger waits for it, then gives up waiting.
      let bought = try await way.buy("themes.all", token: "0d9f3a52-1f6e-4c1b-9a5e-3f2b7c6d8e10")
      let first = try await lineage(bought) { _ in true }
      #expect(first.customer.hasPrefix("$appstore:") && first.holding == .held)
      _ = try await way.journal.first(EntitlementChanged.self, "it is the provisional's") {
        $0.customer == first.customer && $0.entitlement.isActive
      }
      let order = try await way.order("claimer", "themes.all")
      let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
      #expect(proved.finish && proved.outcome == "accepted")
      let moved = try await lineage(bought) { $0.customer == "claimer" }
      #expect(moved.holding == .held && moved.revision > first.revision)
      _ = try await lineage(bought) {
        $0.customer == first.customer && $0.holding == .left && $0.revision == moved.revision
      }
      _ = try await way.quiet()
      #expect(try await way.owned("claimer").active("themes") != nil)
      #expect(try await way.owned(first.customer).active.isEmpty)
    }

    @Test func `a purchase without token is the prover's, and stays when another claims it later`()
      async throws
    {
      let way = try way
      try await way.holdNotifications(true)
      let bought = try await way.buy("coins.100", quantity: 1)
      let order = try await way.order("finder", "coins.100")
      let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
      #expect(proved.outcome == "accepted")
      try await way.holdNotifications(false)
      let state = try await lineage(bought) { _ in true }
      #expect(state.customer == "finder")
      // A credited consumable moves only by support.
      let other = try await way.order("keeper", "coins.100")
      let answer = try await way.send(
        "POST", "order-service", "/v1/orders/\(other.id)/proofs",
        body: Array("{\"signedTransaction\":\"\(bought.signedTransaction ?? "")\"}".utf8),
        headers: [("Prefer", "wait=30")])
      #expect(answer.status == 409)
      _ = try await way.quiet()
      #expect(try await way.balances("finder").amount("coins") == 100)
      #expect(try await way.balances("keeper").amount("coins") == 0)
      #expect(try await way.order(other.id).state == .rejected)
    }

    @Test func `a token that reaches the ledger after its purchase claims it`() async throws {
      let way = try way
      // While the ledger's process stands still, order-service goes on; so the order of what the
      // ledger reads first is not ours to choose, and both orders must end the same.
      for round in 0..<3 {
        let customer = "late-\(round)"
        try await way.holdNotifications(true)
        let order = try await way.order(customer, "themes.all")
        let bought = try await way.buy("themes.all", token: order.id)
        way.freeze("order-service")
        try await way.holdNotifications(false)
        _ = try await eventually("the notification is delivered") {
          try await way.notifications("transactionId=\(bought.transactionId ?? "")")
            .first { $0.state == "delivered" }
        }
        way.thaw("order-service")
        let state = try await lineage(bought) { $0.customer == customer }
        #expect(state.holding == .held)
        let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
        #expect(proved.finish)
      }
      _ = try await way.quiet()
      for round in 0..<3 { #expect(try await way.owned("late-\(round)").active("themes") != nil) }
    }
  }
}
