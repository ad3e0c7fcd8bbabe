import Catalog
import Events
import ServiceRuntime
import Testing

@testable import verify_service

@Suite("The ledger") struct LedgerTests {
  private let parked = Customer.provisional(for: sampleLineage)

  @Test func `a merge moves lineages, tokens and later facts`() async throws {
    let books = try TestLedger()
    try await books.token("t", of: "alice")
    try await books.tell(fact(token: "t"))
    try await books.merge("alice", into: "bob")
    let moved = try await books.folded()
    #expect(moved["alice"]?.holding == .left && moved["bob"]?.holding == .held)
    #expect(moved["bob"]?.revision == moved["alice"]?.revision)
    #expect(moved["bob"]?.cause.kind == "merge")
    // Apple still sends alice's token, and her app still posts under her id.
    let later = fact("2000", token: "t", proofOf: "alice") { _ in
    } contents: {
      $0.lineage = LineageID(
        bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: "2000")
    }
    try await books.tell(later)
    #expect(try await books.holders(later.lineage) == ["bob"])
    #expect(try await books.outcomes().last?.outcome == .accepted)
    #expect(try await books.outcomes().last?.customer == "bob")
  }

  @Test(arguments: [true, false])
  func `merges in a row end at the last customer, in whatever order they are read`(inOrder: Bool)
    async throws
  {
    let books = try TestLedger()
    try await books.token("t", of: "a")
    try await books.tell(fact(token: "t"))
    if inOrder { try await books.merge("a", into: "b") }
    try await books.merge("b", into: "c")
    if !inOrder { try await books.merge("a", into: "b") }
    #expect(try await books.holders() == ["c"])
    try await books.token("t2", of: "a")
    try await books.tell(fact("1001", purchased: 2, token: "t2"))
    #expect(try await books.holders() == ["c"])
  }

  @Test func `an event of a customer that is read again changes nothing`() async throws {
    let books = try TestLedger()
    try await books.token("t", of: "alice")
    try await books.tell(fact(token: "t"))
    for _ in 0..<2 {
      try await books.merge("alice", into: "bob")
      try await books.transfer(to: "carol")
    }
    #expect(try await books.holders() == ["carol"])
    #expect(try await books.states().map(\.revision).max() == 3)
    try await books.erase("carol")
    try await books.erase("carol")
    #expect(try await books.states().map(\.revision).max() == 4)
  }

  @Test(arguments: Policies.Transfer.allCases)
  func `support moves what no proof moves, and the former owner's old copy moves nothing back`(
    policy: Policies.Transfer
  ) async throws {
    let books = try TestLedger(transfer: policy)
    try await books.tell(fact(signed: 50, proofOf: "alice", type: "Non-Consumable"))
    try await books.transfer(to: "bob")
    #expect(try await books.holders() == ["bob"])
    #expect(try await books.folded()["bob"]?.cause.kind == "transfer")
    let again = fact(signed: 51, hash: "i", proofOf: "alice") { _ in
    } contents: {
      $0.proof?.id = "again"
    }
    try await books.tell(again)
    #expect(try await books.holders() == ["bob"])
    let outcomes = try await books.outcomes()
    #expect(outcomes.map(\.outcome) == [.accepted, .belongsToAnother])
    // Advice is given only where it would help.
    let why = try #require(outcomes.last?.detail)
    #expect(why.contains("'keep'") == (policy == .keep), "\(why)")
    #expect(why.contains("AppStore.sync()") == (policy != .keep), "\(why)")
  }

  @Test func `a transfer of a lineage that is not known yet waits for it`() async throws {
    let books = try TestLedger()
    try await books.transfer(to: "bob")
    try await books.token("t", of: "alice")
    try await books.tell(fact(token: "t"))
    #expect(try await books.holders() == ["bob"])
    // Nobody had it before.
    #expect(try await books.states().allSatisfy { $0.holding == .held })
  }

  @Test func `of two transfers the later decision counts, whichever is read first`() async throws {
    let books = try TestLedger()
    try await books.tell(fact(proofOf: "alice"))
    try await books.transfer(to: "carol", id: "t2", at: TestLedger.start + 10)
    try await books.transfer(to: "bob", id: "t1", at: TestLedger.start)
    #expect(try await books.holders() == ["carol"])
  }

  @Test func `an erased customer's lineages are nobody's, and so is what comes with the tokens`()
    async throws
  {
    let books = try TestLedger()
    try await books.token("t", of: "alice")
    try await books.tell(fact(token: "t"))
    try await books.erase("alice")
    #expect(try await books.holders() == [parked])
    #expect(try await books.folded()[parked]?.cause.kind == "erasure")
    try await books.tell(fact("1001", signed: 60, purchased: 2, token: "t", reason: "RENEWAL"))
    #expect(try await books.holders() == [parked])
    // A proof that was under way is not bound to who is gone.
    try await books.tell(fact("1002", signed: 70, purchased: 3, proofOf: "alice"))
    #expect(try await books.holders() == [parked])
    #expect(try await books.outcomes().map(\.reason) == ["customer-erased"])
    // Whoever proves it later has it.
    try await books.tell(
      fact("1002", signed: 80, purchased: 3, proofOf: "bob") { _ in
      } contents: {
        $0.proof?.id = "other"
      })
    #expect(try await books.holders() == ["bob"])
  }

  @Test func `a merge into a customer who was erased after it erases too`() async throws {
    let books = try TestLedger()
    try await books.token("t", of: "alice")
    try await books.tell(fact(token: "t"))
    // Of two customers, so the later event may be read first.
    try await books.erase("bob", at: TestLedger.start + 10)
    try await books.merge("alice", into: "bob", at: TestLedger.start)
    #expect(try await books.holders() == [parked])
  }

  @Test func `with share every prover has it, hears of every change, and refunds end it for all`()
    async throws
  {
    let books = try TestLedger(transfer: .share)
    try await books.tell(fact(signed: 10, proofOf: "alice"))
    for (number, customer) in ["bob", "carol"].enumerated() {
      try await books.tell(
        fact(signed: 11, hash: "b", proofOf: customer) { _ in
        } contents: {
          $0.proof?.id = "p\(number)"
        })
    }
    #expect(try await books.holders() == ["alice", "bob", "carol"])
    let shared = try await books.folded()
    #expect(shared["alice"]?.isShared == nil && shared["bob"]?.isShared == true)
    #expect(try await books.outcomes().map(\.outcome) == [.accepted, .accepted, .accepted])
    try await books.tell(fact(signed: 20) { $0.revocationDate = 19 })
    let refunded = try await books.folded()
    #expect(refunded.values.allSatisfy { $0.transactions.first?.revocationDate == 19 })
    #expect(Set(refunded.values.map(\.revision)).count == 1)
    try await books.merge("bob", into: "alice")
    #expect(try await books.holders() == ["alice", "carol"])
    try await books.erase("alice")
    #expect(try await books.holders() == [parked, "carol"])
  }

  @Test func `no more customers share a lineage than may`() async throws {
    let books = try TestLedger(transfer: .share)
    for number in 0..<(Lineage.mostSharers + 3) {
      try await books.tell(
        fact(signed: 10, proofOf: "c\(number)") { _ in
        } contents: {
          $0.proof?.id = "p\(number)"
        })
    }
    #expect(try await books.holders().count == Lineage.mostSharers + 1)
    #expect(try await books.outcomes().last?.outcome == .belongsToAnother)
  }

  @Test func `a request for consumption data is told once, though nothing changed`() async throws {
    let books = try TestLedger()
    let bought = fact(token: "t")
    try await books.token("t", of: "alice")
    try await books.tell(bought)
    var request = bought
    request.cause.notificationType = "CONSUMPTION_REQUEST"
    request.cause.consumptionRequestReason = "OTHER"
    request.notificationUUID = "u1"
    try await books.tell(request, request)
    #expect(try await books.states().map(\.revision) == [1, 2])
    #expect(try await books.states().last?.cause.consumptionRequestReason == "OTHER")
    request.notificationUUID = "u2"
    try await books.tell(request)
    #expect(try await books.states().map(\.revision) == [1, 2, 3])
  }

  @Test func `a fact waits for its token, those behind it wait too, and time ends it`()
    async throws
  {
    let books = try TestLedger(linkWait: 3000)
    try await books.tell(
      fact(token: "t"), fact("1001", purchased: 2, token: "t", reason: "RENEWAL"))
    #expect(try await books.states().isEmpty)
    try await books.stopWaiting()
    #expect(try await books.states().isEmpty)
    try await books.token("t", of: "alice")
    #expect(try await books.states().map(\.customer) == ["alice", "alice"])

    let other = try TestLedger(linkWait: 3000)
    try await other.tell(fact(token: "t"))
    other.clock.advance(by: 3000)
    try await other.stopWaiting()
    #expect(try await other.holders() == [parked])
    try await other.token("t", of: "alice")
    #expect(try await other.holders() == ["alice"])
  }

  @Test func `any token of a provisional lineage claims it when it becomes known`() async throws {
    let books = try TestLedger()
    try await books.tell(fact(token: "t1"), fact("1001", purchased: 2, token: "t2"))
    #expect(try await books.holders() == [parked])
    try await books.token("t1", of: "alice")
    #expect(try await books.holders() == ["alice"])
  }

  @Test func `a second part of a receipt has an outcome of its own`() async throws {
    let books = try TestLedger()
    func part(_ index: Int64) -> FactContents {
      fact("\(index)", proofOf: "alice") { _ in
      } contents: {
        $0.lineage = LineageID(
          bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: "\(index)")
        $0.cause.kind = "receipt"
        $0.proof?.kind = .receipt
        $0.proof?.part = ProofPart(index: index, count: 2)
      }
    }
    try await books.tell(part(1), part(2), part(1))
    let outcomes = try await books.outcomes()
    #expect(outcomes.map(\.part?.index) == [1, 2])
    #expect(outcomes.allSatisfy { $0.outcome == .accepted })
  }
}
