import AppStore
import TestSupport
import Testing

@Suite("What a receipt says about lineages")
struct ReceiptLineageTests {
  @Test func `Apple's sample is one lineage, its transactions by date, with the receipt's date`()
    throws
  {
    let verified = try ReceiptSamples.appleVerifier().verify(ReceiptSamples.sandboxText())
    let lineage = try #require(verified.lineages.first)
    #expect(verified.lineages.count == 1)
    #expect(lineage.originalTransactionId == "1000000692878476")
    #expect(lineage.bundleId == ReceiptSamples.sandboxBundle && lineage.environment == .sandbox)
    #expect(lineage.receiptHash == verified.hash)
    #expect(lineage.signedDate == ReceiptSamples.sandboxCreation)
    #expect(lineage.transactions.count == 9)
    #expect(lineage.transactions.allSatisfy { $0.signedDate == ReceiptSamples.sandboxCreation })
    #expect(lineage.transactions.allSatisfy { $0.type == .autoRenewable })
    let dates = lineage.transactions.compactMap(\.purchaseDate)
    #expect(dates == dates.sorted() && dates.count == 9)
    let first = try #require(lineage.transactions.first)
    #expect(first.transactionId == "1000000692878476")
    #expect(first.purchaseDate == 1_594_755_206_000)
    #expect(first.offerType == .introductory && first.offerDiscountType == .freeTrial)
    let last = try #require(lineage.transactions.last)
    #expect(last.transactionId == "1000000696553650")
    #expect(last.productId == "com.revenuecat.annual_39.99.2_week_intro")
    #expect(last.purchaseDate == 1_595_439_546_000 && last.expiresDate == 1_595_443_146_000)
    #expect(last.offerType == nil && last.price == nil && last.appAccountToken == nil)
  }

  @Test func `a purchase without an original id is its own lineage`() throws {
    let date = AppStoreChains.now - 1000
    var refunded = InAppReceipt(productId: "coins", transactionId: "30", purchaseDate: date)
    refunded.cancellationDate = AppStoreChains.now - 10_000
    refunded.quantity = 3
    refunded.productType = .consumable
    var offered = InAppReceipt(
      productId: "month", transactionId: "21", originalTransactionId: "20", purchaseDate: date)
    offered.promotionalOfferId = "spring"
    offered.expiresDate = AppStoreChains.now
    let first = InAppReceipt(productId: "month", transactionId: "20", purchaseDate: date - 10_000)
    var again = refunded
    again.cancellationDate = nil
    var receipt = ReceiptSamples.receipt()
    receipt.inApps = [offered, refunded, first, again]
    let bytes = try AppStoreChains.chain().receiptSigner.sign(receipt)
    let verified = try ReceiptSamples.ownVerifier().verify(bytes: bytes)
    let lineages = verified.lineages
    #expect(lineages.map(\.originalTransactionId) == ["20", "30"])
    #expect(lineages[0].transactions.map(\.transactionId) == ["20", "21"])
    #expect(lineages[0].transactions.map(\.originalTransactionId) == ["20", "20"])
    #expect(lineages[0].transactions[1].offerType == .promotional)
    #expect(lineages[0].transactions[1].offerIdentifier == "spring")
    #expect(lineages[0].transactions[1].type == .autoRenewable)
    #expect(lineages[1].transactions.count == 1)
    #expect(lineages[1].transactions[0].revocationDate == AppStoreChains.now - 10_000)
    #expect(lineages[1].transactions[0].quantity == 3)
    #expect(lineages[1].transactions[0].type == .consumable)
    receipt.inApps.reverse()
    let other = try AppStoreChains.chain().receiptSigner.sign(receipt)
    let reversed = try ReceiptSamples.ownVerifier().verify(bytes: other).lineages
    #expect(reversed.map(\.transactions) == lineages.map(\.transactions))
  }
}
