#if canImport(StoreKit)
  public import Foundation
  public import StoreKit

  /// StoreKit 2 as the store.
  public actor StoreKitStore: PurchaseStore {
    /// What a purchase needs beside the product, such as the scene that confirms it.
    public typealias Confirm =
      @Sendable (Product, Set<Product.PurchaseOption>) async throws -> Product.PurchaseResult

    private let confirm: Confirm
    private var products: [String: Product] = [:]
    /// Transactions that were handed out and are to be finished.
    private var open: [String: Transaction] = [:]

    /// Makes the store.
    ///
    /// - Parameter confirm: How the purchase is started; `product.purchase(options:)` unless told
    ///   otherwise. In SwiftUI pass the action `purchase` of the environment.
    public init(
      confirm: @escaping Confirm = { product, options in
        try await product.purchase(options: options)
      }
    ) {
      self.confirm = confirm
    }

    /// Asks the customer to pay.
    public func purchase(_ productId: String, quantity: Int, token: String) async throws
      -> StorePurchase
    {
      guard let account = UUID(uuidString: token), let product = try await product(productId) else {
        throw PurserError.unavailableProduct(productId)
      }
      var options: Set<Product.PurchaseOption> = [.appAccountToken(account)]
      if quantity > 1 { options.insert(.quantity(quantity)) }
      switch try await confirm(product, options) {
      case .success(let result): return .purchased(take(result))
      case .pending: return .pending
      case .userCancelled: return .cancelled
      @unknown default: return .pending
      }
    }

    /// Transactions that were never finished.
    public func unfinished() async -> [StoreTransaction] {
      var found: [StoreTransaction] = []
      for await result in Transaction.unfinished { found.append(take(result)) }
      return found
    }

    /// Transactions that come while the app runs.
    public func updates() -> AsyncStream<StoreTransaction> {
      AsyncStream { continuation in
        let task = Task {
          for await result in Transaction.updates { continuation.yield(self.take(result)) }
          continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
      }
    }

    /// What the Apple account owns now.
    public func owned() async -> [StoreTransaction] {
      var found: [StoreTransaction] = []
      for await result in Transaction.currentEntitlements { found.append(take(result)) }
      return found
    }

    /// Asks Apple for what other devices bought.
    public func sync() async throws { try await AppStore.sync() }

    /// Tells the store that the purchase was delivered.
    public func finish(_ transaction: StoreTransaction) async {
      await open.removeValue(forKey: transaction.id)?.finish()
    }

    private func product(_ id: String) async throws -> Product? {
      if let known = products[id] { return known }
      let found = try await Product.products(for: [id]).first
      products[id] = found
      return found
    }

    /// Whether the signature stands is the server's to judge, so unverified ones are posted too.
    private func take(_ result: VerificationResult<Transaction>) -> StoreTransaction {
      let transaction = result.unsafePayloadValue
      open[String(transaction.id)] = transaction
      return StoreTransaction(
        id: String(transaction.id), productId: transaction.productID,
        signed: result.jwsRepresentation,
        appAccountToken: transaction.appAccountToken?.uuidString)
    }
  }
#endif
