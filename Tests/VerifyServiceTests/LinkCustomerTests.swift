import Catalog
import Events
import TestSupport
import Testing

@testable import verify_service

@Suite("Whose a lineage is") struct LinkCustomerTests {
  private func decide(
    owner: String?, _ fact: FactContents, tokenOf tokenCustomer: String? = nil,
    mayWait: Bool = false, policy: Policies.Transfer = .transfer, isNew: Bool = false,
    moved: Int64? = nil, now: Int64 = 100
  ) -> LinkCustomer.Decision {
    var lineage = lineage(ownedBy: owner, fact)
    lineage.movedSignedDate = moved
    return LinkCustomer(
      lineage: lineage, fact: fact, isNewTransaction: isNew, tokenCustomer: tokenCustomer,
      mayWait: mayWait, policy: policy, now: now
    ).decide()
  }

  @Test func `a known token names the owner before the proof's customer does`() {
    let proof = fact(token: "t", proofOf: "bob")
    #expect(decide(owner: nil, proof, tokenOf: "alice") == .owner("alice"))
  }

  @Test func `an unknown token is waited for, and then the proof's customer is taken`() {
    let proof = fact(token: "t", proofOf: "bob")
    #expect(decide(owner: nil, proof, mayWait: true) == .wait)
    #expect(decide(owner: nil, proof, mayWait: false) == .owner("bob"))
  }

  @Test func `without token and proof the lineage is parked with a provisional customer`() {
    #expect(
      decide(owner: nil, fact(), mayWait: true)
        == .owner("$appstore:com.example.app/Sandbox/1000"))
  }

  @Test func `a provisional owner may always be claimed, by token or by proof, under any policy`() {
    let parked = Customer.provisional(for: sampleLineage)
    #expect(
      decide(owner: parked, fact(token: "t"), tokenOf: "alice", policy: .keep) == .move(to: "alice")
    )
    #expect(decide(owner: parked, fact(proofOf: "bob"), policy: .keep) == .move(to: "bob"))
    #expect(decide(owner: parked, fact()) == .owner(parked))
  }

  @Test func `an owned lineage keeps its owner through notifications and renewals`() {
    let renewal = fact("1001", token: "t", reason: "RENEWAL")
    #expect(decide(owner: "alice", renewal, tokenOf: "bob", isNew: true) == .owner("alice"))
    #expect(decide(owner: "alice", fact()) == .owner("alice"))
  }

  @Test func `a proof from another customer meets the transfer policy`() {
    let proof = fact(proofOf: "bob")
    #expect(decide(owner: "alice", proof, policy: .transfer) == .move(to: "bob"))
    #expect(decide(owner: "alice", proof, policy: .keep) == .owner("alice"))
    #expect(decide(owner: "alice", proof, policy: .transferIfInactive) == .owner("alice"))
    let refunded = fact(proofOf: "bob") { $0.transaction?.revocationDate = 5 }
    #expect(decide(owner: "alice", refunded, policy: .transferIfInactive) == .move(to: "bob"))
  }

  @Test func `a customer of other bytes is another customer, however alike they look`() {
    let proof = fact(proofOf: "cafe\u{301}")
    #expect(decide(owner: "caf\u{e9}", proof, policy: .transfer) == .move(to: "cafe\u{301}"))
    #expect(decide(owner: "caf\u{e9}", fact(proofOf: "caf\u{e9}")) == .owner("caf\u{e9}"))
  }

  @Test func `a new purchase with another customer's token meets the policy too`() {
    let bought = fact("1001", token: "t")
    #expect(decide(owner: "alice", bought, tokenOf: "bob", isNew: true) == .move(to: "bob"))
    #expect(decide(owner: "alice", bought, tokenOf: "bob", isNew: false) == .owner("alice"))
  }

  @Test func `a former owner's old copy moves nothing back`() {
    let old = fact(signed: 50, proofOf: "alice")
    #expect(decide(owner: "bob", old, moved: 50) == .owner("bob"))
    #expect(
      decide(owner: "bob", fact(signed: 51, proofOf: "alice"), moved: 50) == .move(to: "alice"))
  }

  @Test(arguments: ["Consumable", "Non-Renewing Subscription"])
  func `what was credited does not move by a proof`(type: String) {
    #expect(decide(owner: "alice", fact(proofOf: "bob", type: type)) == .owner("alice"))
  }
}
