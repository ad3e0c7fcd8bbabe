import AppStore
import Testing

@testable import app_store_simulator

@Suite("Purchases")
struct PurchaseTests {
  @Test func `a consumable is charged for all its units`() throws {
    var ledger = try TestStore.ledger()
    let token = "7B2FC3F6-7C0E-4C41-9F0D-2F1A0B6F8D11"
    let happening = try ledger.buy("coins", account: nil, token: token, quantity: 3)
    let transaction = try #require(happening.transaction)
    #expect(happening.word == "ONE_TIME_CHARGE")
    #expect(happening.renewalInfo == nil)
    #expect(happening.status == nil)
    #expect(transaction.quantity == 3)
    #expect(transaction.price == 2_970)
    #expect(transaction.currency == "USD")
    #expect(transaction.storefront == "USA")
    #expect(transaction.storefrontId == "143441")
    #expect(transaction.type == .consumable)
    #expect(transaction.transactionId == transaction.originalTransactionId)
    #expect(transaction.appAccountToken == token.lowercased())
    #expect(transaction.purchaseDate == january31)
    #expect(transaction.originalPurchaseDate == january31)
    #expect(transaction.inAppOwnershipType == .purchased)
    #expect(transaction.transactionReason == .purchase)
    #expect(transaction.environment == .sandbox)
    #expect(transaction.bundleId == "com.example.app")
    #expect(transaction.expiresDate == nil)
    #expect(transaction.webOrderLineItemId == nil)
    #expect(transaction.subscriptionGroupIdentifier == nil)
  }

  @Test(arguments: ["themes", "season", "coins"])
  func `one-time products never end by themselves`(product: String) throws {
    var ledger = try TestStore.ledger()
    let happening = try ledger.buy(product)
    #expect(happening.word == "ONE_TIME_CHARGE")
    #expect(happening.transaction?.expiresDate == nil)
    #expect(ledger.nextDue == nil)
  }

  @Test(arguments: [("coins", 0), ("coins", 11), ("coins", -1), ("themes", 2), ("pro.yearly", 2)])
  func `a quantity that StoreKit does not sell is refused`(product: String, quantity: Int) throws {
    var ledger = try TestStore.ledger()
    let refusal = #expect(throws: Refusal.self) { try ledger.buy(product, quantity: quantity) }
    #expect(refusal?.code == .invalidQuantity)
    #expect(ledger.charges.isEmpty)
  }

  @Test func `what the store does not know is refused by name`() throws {
    var ledger = try TestStore.ledger()
    let product = #expect(throws: Refusal.self) { try ledger.buy("gems") }
    #expect(product?.code == .unknownProduct)
    #expect(product?.detail.contains("'gems'") == true)
    let token = #expect(throws: Refusal.self) { try ledger.buy("coins", token: "mary") }
    #expect(token?.code == .invalidToken)
    let storefront = #expect(throws: Refusal.self) { try ledger.buy("coins", storefront: "XXX") }
    #expect(storefront?.code == .unknownStorefront)
    let offer = #expect(throws: Refusal.self) { try ledger.buy("news", offer: "third") }
    #expect(offer?.code == .unknownOffer)
    let misplaced = #expect(throws: Refusal.self) { try ledger.buy("coins", offer: "half") }
    #expect(misplaced?.code == .unknownOffer)
    #expect(ledger.charges.isEmpty)
  }

  @Test func `a storefront brings its currency`() throws {
    var ledger = try TestStore.ledger()
    let transaction = try #require(try ledger.buy("coins", storefront: "JPN").transaction)
    #expect(transaction.currency == "JPY")
    #expect(transaction.storefrontId == "143462")
  }

  @Test func `a non-consumable is bought once, and anew after its refund`() throws {
    var ledger = try TestStore.ledger()
    let first = try ledger.buy("themes")
    let refusal = #expect(throws: Refusal.self) { try ledger.buy("themes") }
    #expect(refusal?.code == .alreadyOwned)
    #expect(refusal?.detail.contains(first.id) == true)
    #expect(throws: Never.self) { try ledger.buy("themes", account: "john") }
    _ = try ledger.refund(first.id, at: january31 + 1)
    let second = try ledger.buy("themes", at: january31 + 2)
    #expect(second.original != first.original)
  }

  @Test func `purchases without account and token are of different customers`() throws {
    var ledger = try TestStore.ledger()
    let one = try ledger.buy("pro.weekly", account: nil)
    let other = try ledger.buy("pro.weekly", account: nil)
    #expect(one.original != other.original)
    #expect(one.transaction?.appTransactionId != other.transaction?.appTransactionId)
  }

  @Test func `an account keeps its app transaction id, also in another run`() throws {
    var ledger = try TestStore.ledger()
    var later = try TestStore.ledger(firstId: 50_000)
    let one = try ledger.buy("coins").transaction?.appTransactionId
    #expect(try ledger.buy("themes").transaction?.appTransactionId == one)
    #expect(try later.buy("coins").transaction?.appTransactionId == one)
    #expect(try ledger.buy("coins", account: "john").transaction?.appTransactionId != one)
  }

  @Test func `full books refuse purchases and renewals, and change nothing`() throws {
    var ledger = try TestStore.ledger(limit: 2)
    _ = try ledger.buy("coins")
    _ = try ledger.buy("pro.yearly")
    let refusal = #expect(throws: Refusal.self) { try ledger.buy("coins") }
    #expect(refusal?.code == .ledgerFull)
    let due = ledger.nextDue
    let renewal = #expect(throws: Refusal.self) { try ledger.fireNext() }
    #expect(renewal?.code == .ledgerFull)
    #expect(ledger.nextDue == due)
    #expect(ledger.charges.count == 2)
  }
}
