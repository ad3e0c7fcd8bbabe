import Catalog
import Events
import TestSupport
import Testing

@testable import verify_service

@Suite("Whose a lineage is") struct LinkCustomerTests {
  private func decide(
    owner: String?, _ fact: FactContents, tokenOf tokenCustomer: String? = nil,
    isCut: Bool = false, mayWait: Bool = false, policy: Policies.Transfer = .transfer,
    isNew: Bool = false,
    moved: Int64? = nil, now: Int64 = 100
  ) -> LinkCustomer.Decision {
    var lineage = lineage(ownedBy: owner, fact)
    lineage.movedSignedDate = moved
    let token: LinkCustomer.TokenOwner =
      tokenCustomer.map { .customer($0) } ?? (fact.token == nil || isCut ? .none : .unknown)
    return LinkCustomer(
      owner: owner, lineage: lineage, fact: fact, isNewPurchase: isNew, token: token,
      prover: fact.proof?.customer, mayWait: mayWait, policy: policy, now: now
    ).decide()
  }

  @Test func `a known token names the owner before the proof's customer does`() {
    let proof = fact(token: "t", proofOf: "bob")
    #expect(decide(owner: nil, proof, tokenOf: "alice", policy: .keep) == .owner("alice"))
  }

  @Test func `a proof that comes first meets the policy as one that comes second does`() {
    let proof = fact(token: "t", proofOf: "bob")
    for owner in [nil, "alice", Customer.provisional(for: sampleLineage)] {
      #expect(decide(owner: owner, proof, tokenOf: "alice") == .move(to: "bob"))
      #expect(
        decide(owner: owner, proof, tokenOf: "alice", policy: .share)
          == .share(owner: "alice", with: "bob"))
      #expect(decide(owner: owner, proof, tokenOf: "alice", policy: .keep) == .owner("alice"))
    }
  }

  @Test(arguments: [ProofKind.transactionId, .transactionReceipt])
  func `an id binds only where the transaction bears a token of the customer`(kind: ProofKind) {
    func proof(_ token: String? = nil) -> FactContents {
      fact(token: token, proofOf: "bob") { _ in
      } contents: {
        $0.proof?.kind = kind
      }
    }
    let parked = Customer.provisional(for: sampleLineage)
    #expect(decide(owner: nil, proof()) == .owner(parked))
    #expect(decide(owner: parked, proof()) == .owner(parked))
    #expect(decide(owner: nil, proof("t"), tokenOf: "alice") == .owner("alice"))
    #expect(decide(owner: "alice", proof()) == .owner("alice"))
    #expect(decide(owner: nil, proof("t"), tokenOf: "bob") == .owner("bob"))
    #expect(decide(owner: parked, proof("t"), mayWait: true) == .wait)
  }

  @Test func `a receipt claims a provisional lineage, never an owned one`() {
    let receipt = fact(proofOf: "bob") { _ in
    } contents: {
      $0.cause.kind = "receipt"
    }
    #expect(decide(owner: nil, receipt) == .owner("bob"))
    #expect(decide(owner: Customer.provisional(for: sampleLineage), receipt) == .owner("bob"))
    for policy in Policies.Transfer.allCases {
      #expect(decide(owner: "alice", receipt, policy: policy) == .owner("alice"))
    }
  }

  @Test func `a token that was cut off its customer binds nobody and is not waited for`() {
    let bought = fact(token: "t")
    #expect(
      decide(owner: nil, bought, isCut: true, mayWait: true)
        == .owner(Customer.provisional(for: sampleLineage)))
    #expect(decide(owner: nil, fact(token: "t", proofOf: "bob"), isCut: true) == .owner("bob"))
  }

  @Test func `a new purchase of an owned lineage waits for its token, a renewal does not`() {
    #expect(decide(owner: "alice", fact(token: "t"), mayWait: true, isNew: true) == .wait)
    #expect(
      decide(owner: "alice", fact(token: "t", reason: "RENEWAL"), mayWait: true)
        == .owner("alice"))
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
      decide(owner: parked, fact(token: "t"), tokenOf: "alice", policy: .keep) == .owner("alice"))
    #expect(decide(owner: parked, fact(proofOf: "bob"), policy: .keep) == .owner("bob"))
    #expect(decide(owner: parked, fact()) == .owner(parked))
  }

  @Test func `an owned lineage keeps its owner through notifications and renewals`() {
    let renewal = fact("1001", token: "t", reason: "RENEWAL")
    #expect(decide(owner: "alice", renewal, tokenOf: "bob") == .owner("alice"))
    #expect(decide(owner: "alice", fact()) == .owner("alice"))
  }

  @Test func `a proof from another customer meets the transfer policy`() {
    let proof = fact(proofOf: "bob")
    #expect(decide(owner: "alice", proof, policy: .transfer) == .move(to: "bob"))
    #expect(decide(owner: "alice", proof, policy: .keep) == .owner("alice"))
    #expect(
      decide(owner: "alice", proof, policy: .share) == .share(owner: "alice", with: "bob"))
    #expect(decide(owner: "alice", proof, policy: .transferIfInactive) == .owner("alice"))
    let refunded = fact(proofOf: "bob") { $0.revocationDate = 5 }
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
