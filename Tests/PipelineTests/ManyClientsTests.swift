import Events
import FoundationEssentials
import Testing

@testable import purser

extension WholeWay {
  /// Sixty-four clients at once, on the same orders and on different ones.
  @Suite("Many clients at once", .serialized, .ownWay, .timeLimit(.minutes(4)))
  struct ManyClientsTests {
    private static let clients = 64

    private var way: Way { get throws { try WholeWay.way } }

    /// What each of the clients got, all at once.
    private func all<Answer: Sendable>(
      _ ask: @escaping @Sendable (Way, Int) async throws -> Answer
    ) async throws -> [Answer] {
      let way = try way
      return try await withThrowingTaskGroup(of: Answer.self) { group in
        for number in 0..<Self.clients { group.addTask { try await ask(way, number) } }
        var answers: [Answer] = []
        for try await answer in group { answers.append(answer) }
        return answers
      }
    }

    /// An answer with its outcome; who has none yet asks again after a while, as the customer's quota wants.
    private static func answer(_ answer: Proved) async throws -> Proved? {
      if answer.outcome == nil { try await Task.sleep(for: .milliseconds(500)) }
      return answer.outcome == nil ? nil : answer
    }

    @Test func `one idempotency key is one order`() async throws {
      let orders = try await all { way, _ in
        try await way.order("same-key", "coins.100", idempotencyKey: "the-one-key")
      }
      #expect(Set(orders.map(\.id)).count == 1)
      _ = try await way.quiet()
      #expect(try way.journal.all(Order.self) { $0.customer == "same-key" }.count == 1)
      #expect(try way.journal.all(TokenIssued.self) { $0.customer == "same-key" }.count == 1)
    }

    @Test func `one proof has one outcome, and every client hears it`() async throws {
      let way = try way
      let order = try await way.order("same-proof", "coins.100")
      let bought = try await way.buy("coins.100", token: order.id)
      let signed = try #require(bought.signedTransaction)
      let answers = try await all { way, _ in
        // The bounds of waiting may answer some before the outcome: they ask again, as an app does.
        try await eventually("the outcome of the proof") {
          try await Self.answer(try await way.prove(order.id, signed))
        }
      }
      #expect(Set(answers.map(\.proofId)).count == 1)
      #expect(Set(answers.map(\.outcome)).count == 1 && answers.allSatisfy(\.finish))
      _ = try await way.quiet()
      #expect(way.journal.all(Proof.self) { $0.orderId == order.id }.count == 1)
      #expect(way.journal.all(ProofOutcome.self) { $0.orderId == order.id }.count == 1)
      #expect(try await way.balances("same-proof").amount("coins") == 100)
    }

    @Test func `one transaction is granted once, though it is the proof of many orders`()
      async throws
    {
      let way = try way
      let signed = try #require(try await way.buy("coins.100", notify: false).signedTransaction)
      let orders = try await all { way, _ in try await way.order("same-buy", "coins.100") }
      #expect(Set(orders.map(\.id)).count == Self.clients)
      let answers = try await all { way, number in
        try await eventually("the outcome of the proof") {
          try await Self.answer(try await way.prove(orders[number].id, signed))
        }
      }
      #expect(answers.count { $0.outcome == "accepted" } == 1)
      #expect(answers.allSatisfy { $0.finish && $0.order.state == .completed })
      #expect(answers.count { !$0.order.mismatched } == 1)
      _ = try await way.quiet()
      #expect(try await way.balances("same-buy").amount("coins") == 100)
    }

    @Test func `different customers get what each has bought`() async throws {
      let answers = try await all { way, number in
        let order = try await way.order("many-\(number)", "coins.100")
        let bought = try await way.buy("coins.100", token: order.id)
        return try await eventually("the outcome of the proof") {
          let answer = try await way.prove(order.id, bought.signedTransaction ?? "")
          return answer.outcome == nil ? nil : answer
        }
      }
      #expect(answers.allSatisfy { $0.order.state == .completed && !$0.order.mismatched })
      #expect(Set(answers.compactMap(\.transactionId)).count == Self.clients)
      _ = try await way.quiet()
      for number in 0..<Self.clients {
        #expect(try await way.balances("many-\(number)").amount("coins") == 100)
      }
    }
  }
}
