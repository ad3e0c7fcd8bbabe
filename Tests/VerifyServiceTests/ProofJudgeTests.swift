import AppStore
import Events
import TestSupport
import Testing

@testable import verify_service

@Suite("Proofs judged without asking anyone") struct ProofJudgeTests {
  @Test func `a signed transaction proves its lineage`() throws {
    let samples = try IntakeSamples()
    let judged = samples.judge.judge(samples.proof(.signedTransaction, try samples.transaction()))
    #expect(judged.lineages == ["com.example.app/Sandbox/1000"])
  }

  @Test func `a receipt proves all lineages that it lists, each as a part`() async throws {
    let samples = try IntakeSamples()
    let books = try TestLedger()
    let proof = samples.proof(.receipt, try samples.receipt(["7", "5", "6"]))
    let judged = samples.judge.judge(proof)
    #expect(
      judged.lineages == ["5", "6", "7"].map { "com.example.app/Sandbox/\($0)" })
    guard case .proved(let facts) = judged else { return }
    try await books.change { try facts.publish(for: proof, $0) }
    let published = try await books.facts()
    // The whole receipt first, as Apple made it, then what it says of each lineage.
    #expect(published.map { $0.lineage == nil } == [true, false, false, false])
    #expect(published.first?.signed == proof.content)
    #expect(published.dropFirst().map(\.proof?.part?.index) == [1, 2, 3])
    #expect(published.dropFirst().allSatisfy { $0.proof?.part?.count == 3 })
    #expect(Set(published.map(\.hash)).count == 1)
    for fact in published {
      if let read = try FactContents.read(fact) { try await books.tell(read) }
    }
    let outcomes = try await books.outcomes()
    #expect(outcomes.map(\.outcome) == [.accepted, .accepted, .accepted])
    let states = try await books.states()
    #expect(states.allSatisfy { $0.customer == "alice" })
    #expect(states.allSatisfy { $0.transactions.first?.evidence == "receipt" })
    // The receipt's date stands for the date of signing.
    #expect(states.allSatisfy { $0.transactions.first?.signedDate == AppStoreChains.now })
  }

  @Test func `a receipt of one lineage has one part, and one without purchases is refused`()
    async throws
  {
    let samples = try IntakeSamples()
    let books = try TestLedger()
    for (number, ids) in [["5"], []].enumerated() {
      let proof = samples.proof(.receipt, try samples.receipt(ids), id: "p\(number)")
      guard case .proved(let facts) = samples.judge.judge(proof) else {
        Issue.record("a genuine receipt was not proved")
        return
      }
      try await books.change { try facts.publish(for: proof, $0) }
    }
    #expect(
      try await books.facts().compactMap(\.proof).map(\.part) == [ProofPart(index: 1, count: 1)])
    #expect(try await books.outcomes().map(\.reason) == ["no-purchases"])
  }

  @Test func `what is forged or for another app has its reason`() throws {
    let samples = try IntakeSamples()
    var broken = try samples.transaction()
    broken.removeLast(4)
    broken += "AAAA"
    #expect(
      samples.judge.judge(samples.proof(.signedTransaction, broken)).reason == "bad-signature")
    let other = try samples.transaction { $0.bundleId = "com.other" }
    #expect(samples.judge.judge(samples.proof(.signedTransaction, other)).reason == "wrong-app")
    let foreign = try samples.receipt(["1"], bundleId: "com.other")
    #expect(samples.judge.judge(samples.proof(.receipt, foreign)).reason == "wrong-app")
    let xcode = try samples.receipt(["1"], environment: "Xcode")
    #expect(samples.judge.judge(samples.proof(.receipt, xcode)).reason == "wrong-environment")
    #expect(
      samples.judge.judge(samples.proof(.receipt, try samples.transaction())).reason == "wrong-kind"
    )
  }

  @Test
  func `what was bought in another configured app is as genuine, whatever app was ordered in`()
    async throws
  {
    let samples = try IntakeSamples(receipts: "local", others: ["com.other"])
    let signed = try samples.transaction { $0.bundleId = "com.other" }
    #expect(
      samples.judge.judge(samples.proof(.signedTransaction, signed)).lineages
        == ["com.other/Sandbox/1000"])
    let receipt = try samples.receipt(["7"], bundleId: "com.other")
    let judged = samples.judge.judge(samples.proof(.receipt, receipt))
    #expect(judged.lineages == ["com.other/Sandbox/7"])
    guard case .proved(let facts) = judged else { return }
    #expect(facts.receipt?.bundleId == "com.other")
  }

  @Test func `what only Apple can tell is asked, where that is configured`() throws {
    let asking = try IntakeSamples()
    guard case .askApple = asking.judge.judge(asking.proof(.transactionId, "2000")) else {
      Issue.record("the id was not asked about")
      return
    }
    let without = try IntakeSamples(hasKey: false)
    #expect(without.judge.judge(without.proof(.transactionId, "2000")).reason == "no-api-key")
    #expect(
      without.judge.judge(without.proof(.transactionReceipt, "x")).reason == "not-provable")
    for policy in ["verifyReceipt", "both"] {
      let samples = try IntakeSamples(receipts: policy)
      let receipt = samples.proof(.receipt, try samples.receipt(["1"]))
      guard case .askApple = samples.judge.judge(receipt) else {
        Issue.record("\(policy) did not ask")
        return
      }
    }
  }
}
