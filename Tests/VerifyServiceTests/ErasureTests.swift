import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import verify_service

@Suite("What an erasure leaves in the ledger") struct ErasureTests {
  private static let names = ["guest-4711", "anna-4712"]
  private let late = TestLedger.start + 10

  /// Which of the names stand in the store's files, once all was published and the service has ended.
  private func left(_ books: TestLedger) async throws -> [String] {
    try await books.change { try $0.transaction.run("DELETE FROM outbox") }
    await books.store.readers.close(by: .after(.seconds(5)))
    await StoreService(books.store).stop(by: .after(.seconds(5)))
    return try StoreBytes.naming(Self.names, at: books.path)
  }

  private func pending(_ books: TestLedger, _ customer: String, id: String) async throws {
    let proof = Proof(
      id: id, orderId: nil, customer: customer, bundleId: "com.example.app", kind: .transactionId,
      content: "1", submittedAt: TestLedger.start)
    try await books.change { try PendingProofs.insert($0, proof) }
  }

  /// A customer with an alias: tokens, lineages, a purchase that support moved, proofs that wait.
  private func lived() async throws -> TestLedger {
    let books = try TestLedger()
    try await books.token("t", of: "guest-4711")
    try await books.tell(fact(token: "t"))
    try await books.merge("guest-4711", into: "anna-4712")
    try await books.transfer(to: "guest-4711")
    try await pending(books, "guest-4711", id: "p1")
    try await pending(books, "anna-4712", id: "p2")
    let name = Array("anna-4712".utf8)
    let waiting = ReceivedRecord(
      topic: "iap.proofs", partition: 0, offset: 0, timestamp: 0, key: name, value: name,
      headers: [])
    try await books.change { change in
      try change.putBack(waiting, reason: "handler-failed")
      let report = ConsumptionReported(
        customer: "anna-4712", version: 1, lineage: sampleLineage.description, transactionId: "1",
        environment: "Sandbox", bundleId: "com.example.app", request: "r", customerConsented: true,
        deliveryStatus: "DELIVERED", sampleContentProvided: false, requestedAt: TestLedger.start)
      try ConsumptionAnswers.note(report, change)
    }
    return books
  }

  @Test(arguments: [["anna-4712", "guest-4711"], ["guest-4711", "anna-4712"]])
  func `nothing in the store names an erased customer or who became it`(order: [String])
    async throws
  {
    let books = try await lived()
    #expect(try StoreBytes.naming(Self.names, at: books.path).count == 2)
    for customer in order { try await books.erase(customer, at: late) }
    // Proofs that waited for Apple have their outcome.
    let outcomes = try await books.outcomes()
    #expect(Set(outcomes.map(\.proofId)) == ["p1", "p2"])
    #expect(outcomes.allSatisfy { $0.reason == "customer-erased" })
    #expect(try await left(books) == [])
  }

  @Test func `a merge, a transfer or a token that is read after the erasure names nobody`()
    async throws
  {
    let books = try TestLedger()
    try await books.erase("anna-4712", at: late)
    try await books.merge("guest-4711", into: "anna-4712")
    try await books.transfer(to: "guest-4711")
    try await books.token("t", of: "guest-4711")
    try await books.erase("guest-4711", at: late)
    try await books.tell(fact(token: "t"))
    #expect(try await books.holders().allSatisfy { Customer.isProvisional($0) })
    #expect(try await left(books) == [])
  }

  @Test func `what was moved by support stays overruled when its customer is erased`() async throws
  {
    let books = try TestLedger()
    try await books.transfer(to: "anna-4712", id: "t2", at: late)
    try await books.erase("anna-4712", at: late + 1)
    // An older decision, of another partition, is read last.
    try await books.transfer(to: "bob", id: "t1", at: TestLedger.start)
    try await books.tell(fact(proofOf: "carol"))
    #expect(try await books.holders() == ["carol"])
  }
}
