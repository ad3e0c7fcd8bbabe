import AppStore
import Catalog
import Events
import ServiceRuntime
import TestSupport
import Testing

@testable import verify_service

/// Whatever order, number and delay in which the facts of a lineage come, the end is the same.
@Suite("Facts of a lineage in any order") struct FactOrderTests {
  private static let start = NotificationSamples.start
  private static let day = NotificationSamples.day

  /// What ends the same: all but the number of revisions and what brought the last one.
  struct End: Equatable {
    var holders: [String]
    var transactions: [LineageTransaction]
    var renewal: LineageRenewal?
    var status: Int64?
    var statusDate: Int64?
  }

  private enum Step: Sendable {
    case fact(FactContents)
    case token
  }

  /// A year of a subscription: trial, renewals, a refund reversed, failure, grace, recovery, upgrade,
  /// price consent, a copy of the app's, what a receipt and Apple's API said, and its end.
  private static func life() throws -> [FactContents] {
    let samples = try NotificationSamples()
    var facts: [FactContents] = []
    var number: Int64 = 0
    func tell(
      _ type: String, _ subtype: String? = nil, status: Int32, period: Int64,
      _ transaction: (inout TransactionPayload) -> Void = { _ in },
      _ renewal: (inout RenewalInfoPayload) -> Void = { _ in }
    ) throws {
      number += 1
      let signed = try samples.notification(
        type, subtype, at: start + number * 10 * day,
        NotificationSamples.transaction {
          $0.transactionId = "\(1000 + period)"
          $0.purchaseDate = start + period * 30 * day
          $0.expiresDate = start + (period + 1) * 30 * day
          $0.transactionReason = period == 0 ? .purchase : .renewal
          transaction(&$0)
        },
        NotificationSamples.renewal(renewal), status: status)
      facts.append(try #require(try samples.read(signed)))
    }
    try tell("SUBSCRIBED", "INITIAL_BUY", status: 1, period: 0) { $0.offerType = .introductory }
    try tell("DID_RENEW", status: 1, period: 1)
    try tell("REFUND", status: 5, period: 1) { $0.revocationDate = start + 31 * day }
    try tell("REFUND_REVERSED", status: 1, period: 1)
    try tell("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", status: 1, period: 1) { _ in
    } _: {
      $0.autoRenewStatus = .off
    }
    try tell("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", status: 1, period: 1)
    try tell("PRICE_INCREASE", "PENDING", status: 1, period: 1) { _ in
    } _: {
      $0.priceIncreaseStatus = PriceIncreaseStatus(rawValue: 0)
    }
    try tell("DID_FAIL_TO_RENEW", "GRACE_PERIOD", status: 4, period: 1) { _ in
    } _: {
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = start + 76 * day
    }
    try tell("DID_RENEW", "BILLING_RECOVERY", status: 1, period: 2)
    try tell("DID_CHANGE_RENEWAL_PREF", "UPGRADE", status: 1, period: 3) {
      $0.productId = "pro.yearly"
      $0.transactionReason = .purchase
    }
    try tell("CONSUMPTION_REQUEST", status: 1, period: 3)
    try tell("EXPIRED", "VOLUNTARY", status: 2, period: 3) { _ in
    } _: {
      $0.autoRenewStatus = .off
      $0.expirationIntent = ExpirationIntent(rawValue: 1)
    }
    // A receipt made between the refund and its reversal, and two of Apple's answers.
    for (evidence, day) in [("receipt", Int64(35)), ("verify-receipt", 45), ("receipt", 500)] {
      var contents = FactContents(
        lineage: sampleLineage, cause: LineageCause(kind: "receipt", fact: "r\(day)"))
      contents.transactions = (Int64(0)..<2).map { period in
        var transaction = LineageTransaction(
          transactionId: "\(1000 + period)", productId: "pro.monthly", type: "", quantity: 1,
          purchaseDate: start + period * 30 * Self.day, signedDate: start + day * Self.day,
          hash: "r\(day)")
        transaction.expiresDate = start + (period + 1) * 30 * Self.day
        transaction.revocationDate = day == 35 && period == 1 ? start + 31 * Self.day : nil
        transaction.evidence = evidence
        return transaction
      }
      if evidence == "verify-receipt" {
        contents.renewal = LineageRenewal(signedDate: start + day * Self.day, hash: "v")
        contents.renewal?.autoRenewStatus = 0
        contents.renewal?.evidence = evidence
      }
      facts.append(contents)
    }
    // The app's own copies, as proofs of the customer, and what a person refreshed.
    for (id, kind) in [("p1", "proof"), ("p2", "proof"), (nil, "refresh")] {
      var contents = facts[id == "p1" ? 0 : 9]
      contents.renewal = nil
      contents.status = nil
      contents.cause = LineageCause(kind: kind, fact: contents.cause.fact)
      contents.proof = id.map { .init(id: $0, orderId: nil, customer: "alice") }
      facts.append(contents)
    }
    return facts
  }

  private static func end(of steps: [Step], linkWait: Int64) async throws -> (End, [ProofOutcome]) {
    let books = try TestLedger(linkWait: linkWait)
    for step in steps {
      switch step {
      case .fact(let fact): try await books.tell(fact)
      case .token: try await books.token("t", of: "alice")
      }
      // Time passes, and ends some waits.
      books.clock.advance(by: 700)
      try await books.stopWaiting()
    }
    books.clock.advance(by: 10_000)
    try await books.stopWaiting()
    let holders = try await books.holders()
    let state = try await books.folded()[holders.first ?? ""]
    let outcomes = try await books.outcomes()
    return (
      End(
        holders: holders, transactions: state?.transactions ?? [], renewal: state?.renewal,
        status: state?.status, statusDate: state?.statusDate), outcomes
    )
  }

  @Test(arguments: [Int64(0), 3000])
  func `the end is the same, and every proof has one outcome`(linkWait: Int64) async throws {
    let life = try Self.life()
    let (expected, _) = try await Self.end(
      of: [.token] + life.map { .fact($0) }, linkWait: linkWait)
    #expect(expected.holders == ["alice"])
    #expect(expected.transactions.count == 4 && expected.status == 2)
    // The last receipt says nothing of the token, and takes none away.
    #expect(expected.transactions.allSatisfy { $0.appAccountToken == "t" })
    var generator = SeededGenerator(seed: UInt64(linkWait) + 41)
    for round in 0..<40 {
      var steps: [Step] = life.map { .fact($0) } + [.token]
      // Some come twice or three times.
      for _ in 0..<Int.random(in: 0..<12, using: &generator) {
        steps.append(.fact(life[Int.random(in: 0..<life.count, using: &generator)]))
      }
      steps.shuffle(using: &generator)
      let (end, outcomes) = try await Self.end(of: steps, linkWait: linkWait)
      #expect(end == expected, "round \(round)")
      #expect(outcomes.map(\.proofId).sorted() == ["p1", "p2"], "round \(round)")
      #expect(outcomes.allSatisfy { $0.outcome == .accepted || $0.outcome == .alreadyRecorded })
    }
  }

  @Test(arguments: [Policies.Transfer.transfer, .share])
  func `with two customers the end hangs on what Apple signed, not on the order of arrival`(
    policy: Policies.Transfer
  ) async throws {
    // Alice's purchase, and bob's proof of a copy that was signed later.
    let purchase = fact(signed: 10, hash: "a", token: "t")
    let proof = fact(signed: 20, hash: "b", token: "t", proofOf: "bob")
    var ends: Set<[String]> = []
    for order in [[purchase, proof], [proof, purchase], [proof, purchase, purchase]] {
      let books = try TestLedger(transfer: policy)
      try await books.token("t", of: "alice")
      for fact in order { try await books.tell(fact) }
      ends.insert(try await books.holders())
      #expect(try await books.outcomes().map(\.outcome) == [.accepted])
    }
    #expect(ends == [policy == .share ? ["alice", "bob"] : ["bob"]])
  }
}
