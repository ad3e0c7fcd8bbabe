import Events

@testable import verify_service

let sampleLineage = LineageID(
  bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: "1000")

/// A fact about one transaction.
func fact(
  _ id: String = "1000", signed: Int64 = 10, purchased: Int64 = 1, hash: String = "h",
  token: String? = nil, proofOf customer: String? = nil, type: String = "Non-Consumable",
  reason: String = "PURCHASE", fill: (inout LineageTransaction) -> Void = { _ in },
  contents change: (inout FactContents) -> Void = { _ in }
) -> FactContents {
  var transaction = LineageTransaction(
    transactionId: id, productId: "product", type: type, quantity: 1, purchaseDate: purchased,
    signedDate: signed, hash: hash)
  transaction.appAccountToken = token
  transaction.transactionReason = reason
  fill(&transaction)
  var contents = FactContents(
    lineage: sampleLineage, transactions: [transaction],
    cause: LineageCause(kind: customer == nil ? "notification" : "proof"))
  contents.proof = customer.map { .init(id: "proof", orderId: "order", customer: $0) }
  change(&contents)
  return contents
}

func lineage(ownedBy owner: String?, _ facts: FactContents...) -> Lineage {
  var lineage = Lineage(sampleLineage)
  for fact in facts { _ = lineage.merge(fact) }
  lineage.owner = owner
  return lineage
}
