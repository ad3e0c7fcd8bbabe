import Events
import TestSupport
import Testing

@testable import verify_service

@Suite("A lineage takes in facts") struct LineageTests {
  @Test func `the same fact twice changes it once`() {
    var lineage = Lineage(sampleLineage)
    #expect(lineage.merge(fact()) == .init(isNewTransaction: true, hasChanged: true))
    #expect(lineage.merge(fact()) == .init(isNewTransaction: false, hasChanged: false))
  }

  @Test func `the newest signed copy of a transaction wins whatever the order of arrival`() {
    let old = fact(signed: 10, hash: "a") { $0.transaction?.revocationDate = 5 }
    let new = fact(signed: 20, hash: "b")
    #expect(lineage(ownedBy: nil, old, new) == lineage(ownedBy: nil, new, old))
    #expect(lineage(ownedBy: nil, new, old).transactions.first?.revocationDate == nil)
  }

  @Test func `of two copies signed at one time the hash decides, so that all readers agree`() {
    let a = fact(hash: "a") { $0.transaction?.price = 1 }
    let b = fact(hash: "b") { $0.transaction?.price = 2 }
    #expect(lineage(ownedBy: nil, a, b).transactions.first?.price == 2)
    #expect(lineage(ownedBy: nil, b, a).transactions.first?.price == 2)
  }

  @Test func `an older transaction that arrives late is recorded in its place`() {
    let first = fact("1000", signed: 10, purchased: 1)
    let second = fact("1001", signed: 20, purchased: 2)
    let late = lineage(ownedBy: nil, second, first)
    #expect(late.transactions.map(\.transactionId) == ["1000", "1001"])
  }

  @Test func `renewal info and status are ordered apart from transactions`() {
    func info(_ signed: Int64, _ status: Int64) -> FactContents {
      fact(signed: 1, hash: "same") {
        $0.renewal = LineageRenewal(signedDate: signed, hash: "r\(signed)")
        $0.renewal?.autoRenewStatus = signed == 30 ? 0 : 1
        $0.status = status
        $0.statusDate = signed
      }
    }
    let inOrder = lineage(ownedBy: nil, info(20, 1), info(30, 2))
    #expect(lineage(ownedBy: nil, info(30, 2), info(20, 1)) == inOrder)
    #expect(inOrder.renewal?.autoRenewStatus == 0)
    #expect(inOrder.status == 2)
  }

  @Test func `any order and any repetition of the same facts gives the same lineage`() {
    let facts = (0..<6).map { number in
      fact(
        "\(1000 + number % 3)", signed: Int64(number), purchased: Int64(number % 3),
        hash: "\(number)")
    }
    var generator = SeededGenerator(seed: 7)
    let expected = facts.reduce(into: Lineage(sampleLineage)) { lineage, fact in
      _ = lineage.merge(fact)
    }
    for _ in 0..<200 {
      let mixed = (facts + facts).shuffled(using: &generator)
      var lineage = Lineage(sampleLineage)
      for fact in mixed { _ = lineage.merge(fact) }
      #expect(lineage == expected)
    }
  }
}
