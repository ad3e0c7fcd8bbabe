import Events
import HTTPServer
import ServiceRuntime
import Testing

@testable import order_service

@Suite("Restoring purchases") struct RestoreTests {
  private struct Restored: Decodable {
    struct Item: Decodable {
      struct Part: Decodable { let outcome: String, transactionId: String? }
      let place: String, proofId: String?, outcome: String?, finish: Bool
      let transactionId: String?, reason: String?, detail: String?, parts: [Part]?
    }
    let id: String, customer: String, decided: Bool, items: [Item]
  }

  private let world: OrderWorld

  init() throws { world = try OrderWorld() }

  private func restore(_ texts: [String], wait: Int = 0) async throws -> OrderWorld.Answer {
    let list = texts.map { "\"\($0)\"" }.joined(separator: ",")
    return try await world.send(
      .post, "/v1/restores", #"{"customer":"alice","signedTransactions":[\#(list)]}"#,
      headers: wait > 0 ? [("Prefer", "wait=\(wait)")] : [])
  }

  @Test func `each of many proofs is answered with what came of it`() async throws {
    let texts = [Proofs.signed("1"), "garbage", Proofs.signed("2"), Proofs.signed("1")]
    let first = try await restore(texts)
    let restore: Restored = try first.read()
    #expect(first.status == 202 && !restore.decided)
    #expect(restore.items.map(\.outcome) == [nil, "rejected", nil, nil])
    let proofs: [Proof] = try await world.published(.proofSubmitted)
    #expect(proofs.count == 2 && proofs.allSatisfy { $0.orderId == nil && $0.customer == "alice" })
    try await world.decide(
      .alreadyRecorded, proof: restore.items[0].proofId, transaction: "1", product: "pro.monthly")
    try await world.decide(.belongsToAnother, proof: restore.items[2].proofId, transaction: "2")
    let read = try await world.send(.get, "/v1/restores/\(restore.id)")
    let decided: Restored = try read.read()
    #expect(read.status == 200 && decided.decided && decided.id == restore.id)
    #expect(
      decided.items.map(\.outcome)
        == ["already-recorded", "rejected", "belongs-to-another", "already-recorded"])
    #expect(decided.items.map(\.finish) == [true, false, true, true])
    #expect(decided.items[1].reason == "malformed-proof")
    #expect(decided.items[2].detail?.contains("policy 'transfer'") == true)
    #expect(decided.items.map(\.place)[1] == "signedTransactions[1]")
  }

  @Test
  func `as many proofs as a restore may have fit into a body, and one more is told to go apart`()
    async throws
  {
    // Apple's signed transactions have up to some 6 KB.
    let texts = (1...RestorePurchases.largest).map { Proofs.signed("\($0)", bytes: 6000) }
    let list = texts.map { "\"\($0)\"" }.joined(separator: ",")
    #expect(list.utf8.count < ServerLimits().bodyBytes - 1000)
    let whole: Restored = try await restore(texts).read()
    #expect(whole.items.count == RestorePurchases.largest)
    let more = try await restore(texts + [Proofs.signed("0")])
    #expect(more.status == 422 && more.problem == "restore-too-large")
    #expect(more.text.contains("post them \(RestorePurchases.largest) at a time"))
  }

  @Test func `a restore at every launch costs no write and says the same`() async throws {
    let texts = [Proofs.signed("1"), Proofs.signed("2")]
    let restored: Restored = try await restore(texts).read()
    for item in restored.items { try await world.decide(.alreadyRecorded, proof: item.proofId) }
    let answer = try await restore(texts)
    let before = world.commits
    for _ in 1...10 { #expect(try await restore(texts, wait: 5).body == answer.body) }
    #expect(world.commits == before && answer.status == 200)
  }

  @Test func `a receipt is restored with all that it lists`() async throws {
    let body = #"{"customer":"alice","receipt":"\#(try Proofs.receipt())"}"#
    #expect(try await world.send(.post, "/v1/restores", body).status == 202)
    for index in Int64(1)...2 {
      try await world.decide(part: ProofPart(index: index, count: 2), transaction: "\(index)")
    }
    let answer = try await world.send(.post, "/v1/restores", body)
    let restored: Restored = try answer.read()
    #expect(answer.status == 200 && restored.items.count == 1)
    #expect(restored.items[0].parts?.map(\.transactionId) == ["1", "2"])
  }

  @Test func `a waiting restore hears when the last of its proofs is decided`() async throws {
    async let answer = restore([Proofs.signed("1"), Proofs.signed("2")], wait: 30)
    while world.notices.requests.count == 0 { await Task.yield() }
    let proofs: [Proof] = try await world.published(.proofSubmitted)
    for proof in proofs { try await world.decide(proof: proof.id, transaction: proof.content) }
    #expect(try await answer.status == 200)
  }

  @Test func `nothing, or too much, is no restore`() async throws {
    let none = try await restore([])
    #expect(none.status == 422 && none.problem == "nothing-to-restore")
    let many = try await restore((0...RestorePurchases.largest).map { Proofs.signed("\($0)") })
    #expect(many.status == 422 && many.problem == "restore-too-large")
    #expect(many.text.contains("81 proofs; post them 80 at a time"))
    let unknown = try await world.send(.get, "/v1/restores/1")
    #expect(unknown.status == 404 && unknown.problem == "unknown-restore")
  }
}
