import Events
import ServiceRuntime
import TestSupport
import Testing

@testable import verify_service

/// Receipts of many parts, transfers by support and merges, told in any order and any number of times.
@Suite("Facts, receipts, transfers and merges in any order") struct MixedOrderTests {
  private static let start = TestLedger.start
  private static let others = (2...4).map {
    LineageID(
      bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: "\($0)000")
  }

  private enum Step: Sendable {
    case fact(FactContents)
    case token
    case transfer(String, Int64)
    case merge(String, String, Int64)
  }

  private struct End: Equatable {
    var holders: [[String]]
    var transactions: [[LineageTransaction]]
  }

  /// One lineage: its purchase, a refund and its reversal, and another customer's proof of it.
  private static let purchases: [Step] = [
    .fact(fact(signed: 10, hash: "a", token: "t")),
    .fact(fact(signed: 20, hash: "b", token: "t") { $0.revocationDate = 19 }),
    .fact(fact(signed: 30, hash: "c", token: "t")),
    .fact(
      fact(signed: 25, hash: "e", token: "t", proofOf: "eve") { _ in
      } contents: {
        $0.proof = .init(id: "eves", orderId: nil, customer: "eve")
      }),
    .token,
  ]

  /// What a customer's receipt lists: three lineages, each a part of one proof.
  private static let receipt: [Step] = others.enumerated().map { index, lineage in
    .fact(
      fact(lineage.originalTransactionId, signed: 40, hash: "r") {
        $0.evidence = "receipt"
      } contents: {
        $0.lineage = lineage
        $0.cause = LineageCause(kind: "receipt")
        $0.proof = .init(
          id: "receipt", part: ProofPart(index: Int64(index + 1), count: 3), orderId: nil,
          customer: "alice", kind: .receipt)
      })
  }

  /// Signed copies of the same purchases, some with the customer's token.
  private static let copies: [Step] = others.enumerated().map { index, lineage in
    .fact(
      fact(
        lineage.originalTransactionId, signed: 35, hash: "s\(index)",
        token: index == 0 ? "t" : nil
      ) { _ in
      } contents: {
        $0.lineage = lineage
      })
  }

  /// What support and the team decided; the newest transfer counts, and then its customer is merged.
  private static let decisions: [Step] = [
    .transfer("bob", start), .transfer("dave", start + 5), .merge("dave", "carol", start + 9),
    .merge("eve", "frank", start + 1),
  ]

  private static func end(of steps: [Step]) async throws -> (End, [ProofOutcome]) {
    let books = try TestLedger(linkWait: 500)
    for step in steps {
      switch step {
      case .fact(let fact): try await books.tell(fact)
      case .token: try await books.token("t", of: "alice")
      case .transfer(let customer, let date):
        try await books.transfer(to: customer, id: customer, at: date)
      case .merge(let customer, let into, let date):
        try await books.merge(customer, into: into, at: date)
      }
      books.clock.advance(by: 300)
      try await books.stopWaiting()
    }
    books.clock.advance(by: 10_000)
    try await books.stopWaiting()
    var end = End(holders: [], transactions: [])
    for lineage in [sampleLineage] + others {
      let holders = try await books.holders(lineage)
      end.holders.append(holders)
      end.transactions.append(
        try await books.folded(lineage)[holders.first ?? ""]?.transactions ?? [])
    }
    return (end, try await books.outcomes())
  }

  @Test func `the end is the same, and every part of every proof has one outcome`() async throws {
    let all = Self.purchases + Self.receipt + Self.copies + Self.decisions
    let (expected, _) = try await Self.end(of: all)
    #expect(expected.holders == [["carol"], ["alice"], ["alice"], ["alice"]])
    #expect(expected.transactions.map(\.count) == [1, 1, 1, 1])
    #expect(expected.transactions[0].first?.revocationDate == nil)
    #expect(expected.transactions[1].first?.appAccountToken == "t")
    var generator = SeededGenerator(seed: 8)
    for round in 0..<40 {
      var steps = all
      for _ in 0..<Int.random(in: 0..<10, using: &generator) {
        steps.append(all[Int.random(in: 0..<all.count, using: &generator)])
      }
      steps.shuffle(using: &generator)
      let (end, outcomes) = try await Self.end(of: steps)
      #expect(end == expected, "round \(round)")
      let decided = outcomes.map { "\($0.proofId) \($0.part?.index ?? 0)" }.sorted()
      #expect(decided == ["eves 0", "receipt 1", "receipt 2", "receipt 3"], "round \(round)")
      let refused = outcomes.filter { $0.proofId == "receipt" && !$0.outcome.isGoodForCustomer }
      #expect(refused.isEmpty, "round \(round)")
    }
  }
}

extension Outcome {
  fileprivate var isGoodForCustomer: Bool { self == .accepted || self == .alreadyRecorded }
}
