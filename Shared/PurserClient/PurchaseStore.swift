/// A transaction as the store hands it over: signed, and finished only when Purser has it.
public struct StoreTransaction: Sendable, Hashable {
  /// Apple's id of it.
  public let id: String
  /// What was bought.
  public let productId: String
  /// The signed text (`jwsRepresentation`): the proof.
  public let signed: String
  /// The `appAccountToken` that it bears, in lower case: the id of the order, or the account's token.
  public let appAccountToken: String?

  /// Makes a transaction.
  public init(id: String, productId: String, signed: String, appAccountToken: String?) {
    self.id = id
    self.productId = productId
    self.signed = signed
    self.appAccountToken = appAccountToken?.lowercased()
  }
}

/// What came of asking the store for a purchase.
public enum StorePurchase: Sendable, Equatable {
  /// Paid; the transaction is not finished yet.
  case purchased(StoreTransaction)
  /// Waits for somebody (Ask to Buy, the bank); the transaction may come in `updates()`.
  case pending
  /// The customer gave up.
  case cancelled
}

/// The store that takes the money: StoreKit 2 on Apple's systems, the simulator in tests.
public protocol PurchaseStore: Sendable {
  /// Asks the customer to pay.
  ///
  /// - Parameter token: A UUID that the transaction will bear as its `appAccountToken`.
  func purchase(_ productId: String, quantity: Int, token: String) async throws -> StorePurchase
  /// Transactions that were never finished (`Transaction.unfinished`).
  func unfinished() async -> [StoreTransaction]
  /// Transactions that come while the app runs (`Transaction.updates`); for one listener.
  func updates() async -> AsyncStream<StoreTransaction>
  /// What the Apple account owns now (`Transaction.currentEntitlements`).
  func owned() async -> [StoreTransaction]
  /// Asks Apple for what other devices bought (`AppStore.sync()`); may ask for the password.
  func sync() async throws
  /// Tells the store that the purchase was delivered.
  func finish(_ transaction: StoreTransaction) async
}
