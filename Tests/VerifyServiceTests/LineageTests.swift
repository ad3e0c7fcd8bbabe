import Events
import TestSupport
import Testing

@testable import verify_service

@Suite("A lineage takes in facts") struct LineageTests {
  @Test func `the same fact twice changes it once`() {
    var lineage = Lineage(sampleLineage)
    #expect(
      lineage.merge(fact()) == .init(isNewTransaction: true, isNewPurchase: true, hasChanged: true))
    #expect(lineage.merge(fact()) == .init())
  }

  @Test func `the newest signed copy of a transaction wins whatever the order of arrival`() {
    let old = fact(signed: 10, hash: "a") { $0.revocationDate = 5 }
    let new = fact(signed: 20, hash: "b")
    #expect(lineage(ownedBy: nil, old, new) == lineage(ownedBy: nil, new, old))
    #expect(lineage(ownedBy: nil, new, old).transactions.first?.revocationDate == nil)
  }

  @Test func `of two copies signed at one time the hash decides, so that all readers agree`() {
    let a = fact(hash: "a") { $0.price = 1 }
    let b = fact(hash: "b") { $0.price = 2 }
    #expect(lineage(ownedBy: nil, a, b).transactions.first?.price == 2)
    #expect(lineage(ownedBy: nil, b, a).transactions.first?.price == 2)
  }

  @Test func `an older transaction that arrives late is recorded in its place`() {
    let first = fact("1000", signed: 10, purchased: 1)
    let second = fact("1001", signed: 20, purchased: 2)
    let late = lineage(ownedBy: nil, second, first)
    #expect(late.transactions.map(\.transactionId) == ["1000", "1001"])
  }

  @Test func `only the newest purchase is a new one; a renewal and late old news are not`() {
    var known = lineage(ownedBy: nil, fact("1001", purchased: 5))
    #expect(known.merge(fact("1000", purchased: 4)).isNewPurchase == false)
    #expect(known.merge(fact("1002", purchased: 6, reason: "RENEWAL")).isNewPurchase == false)
    #expect(known.merge(fact("1003", purchased: 7)).isNewPurchase)
  }

  @Test func `a status that is said again stands against what was said between`() {
    func said(_ status: Int64, at date: Int64) -> FactContents {
      fact { _ in
      } contents: {
        $0.status = status
        $0.statusDate = date
      }
    }
    var known = lineage(ownedBy: nil, said(1, at: 10))
    #expect(known.merge(said(1, at: 30)).hasChanged)
    #expect(known.merge(said(2, at: 20)) == .init())
    #expect(known.status == 1)
  }

  @Test func `renewal info and status are ordered apart from transactions`() {
    func info(_ signed: Int64, _ status: Int64) -> FactContents {
      fact(signed: 1, hash: "same") { _ in
      } contents: {
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
